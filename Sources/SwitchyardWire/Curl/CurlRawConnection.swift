#if os(Linux)
    import CSwitchyardLibraries
    import Synchronization

    /// A connection that libcurl has established and left to this code (`CURLOPT_CONNECT_ONLY`).
    ///
    /// Sendable by confinement: except for `wakesPending` and the queue behind `loop`, everything belongs to the loop thread;
    /// `init` only sets constants.
    final class CurlRawConnection: RawConnection, @unchecked Sendable {
        enum Stage { case new, connecting, open, finished }

        let address: String
        let connectDeadline: Duration
        private let loop: CurlLoop
        private let isTLS: Bool
        /// Merges wake-ups: true from the first `wake` until the loop has handled it.
        private let wakesPending = Atomic(false)

        var stage = Stage.new
        var easy: ccurl_easy?
        var descriptor: Int32 = -1
        var wantsReceiving = true
        var wantsWritable = false
        /// Whether libcurl may hold decrypted bytes, which the socket does not announce.
        var mayHaveUnread = true
        /// Set by `close` or a failed send; carried out when the handler has returned.
        var pendingEnd: Result<Void, TransportError>?
        private var handler: (any RawConnectionHandler)?
        /// Bytes that TLS has begun to write: OpenSSL must get the same bytes at the same address again.
        private var stuck: UnsafeMutableRawBufferPointer?
        private var stuckRange = 0..<0

        init(_ address: String, connectDeadline: Duration, loop: CurlLoop, handler: any RawConnectionHandler) {
            let scheme = address.prefix { $0 != ":" }.lowercased()
            if scheme.hasPrefix("ws") {
                self.address = "http" + address.dropFirst(2)
            } else {
                self.address = address
            }
            self.connectDeadline = connectDeadline
            self.loop = loop
            self.handler = handler
            isTLS = scheme == "wss" || scheme == "https"
            loop.live.value.add(1, ordering: .relaxed)
        }

        deinit {
            stuck?.deallocate()
            loop.live.value.subtract(1, ordering: .relaxed)
        }

        // MARK: Any thread

        func wake() {
            guard !wakesPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
            _ = loop.submit(.wake(self))
        }

        func cancel() {
            _ = loop.submit(.cancelConnection(self))
        }

        // MARK: Called by the handler, on the loop thread

        func send(_ bytes: UnsafeRawBufferPointer) -> Int {
            guard stage == .open, pendingEnd == nil, stuckRange.isEmpty else { return 0 }
            return isTLS ? sendStaged(bytes) : sendDirectly(bytes)
        }

        func setReceiving(_ receiving: Bool) {
            if receiving, !wantsReceiving { mayHaveUnread = true }
            wantsReceiving = receiving
        }

        func close() {
            if pendingEnd == nil { pendingEnd = .success(()) }
        }

        func drop() {
            stuckRange = 0..<0
            close()
        }

        // MARK: The loop

        func handleWake() {
            // Before the handler checks, so that anything queued from here on wakes the loop again.
            wakesPending.store(false, ordering: .sequentiallyConsistent)
            // A connection waiting to end still has deadlines.
            guard stage == .open, !isReadyToEnd else { return }
            handler?.woken(self)
        }

        func handleConnected() {
            stage = .open
            handler?.connected(self)
        }

        /// The socket accepts bytes again.
        func handleWritable() {
            wantsWritable = false
            flushStuck()
            if stuckRange.isEmpty, pendingEnd == nil { handler?.writable(self) }
        }

        /// Reads until nothing is left or the turn is over. With TLS, libcurl may hold decrypted bytes, so only its "again"
        /// result means that nothing is left, not a short read. Without TLS, the kernel reports more data.
        func handleReadable(_ buffer: UnsafeMutableRawBufferPointer) {
            mayHaveUnread = false
            for _ in 0..<16 {
                guard stage == .open, wantsReceiving, pendingEnd == nil else { return }
                var count = 0
                let result = ccurl_receive(easy, buffer.baseAddress, buffer.count, &count)
                switch result {
                case CCURL_OK where count > 0:
                    handler?.received(UnsafeRawBufferPointer(rebasing: buffer[..<count]), on: self)
                    if !isTLS, count < buffer.count { return }
                case CCURL_OK:
                    pendingEnd = .success(())
                    stuckRange = 0..<0
                    return
                case CCURL_AGAIN: return
                default: return fail(result)
                }
            }
            mayHaveUnread = true
        }

        /// Whether a requested end can be carried out: bytes that TLS has begun to write are sent first.
        var isReadyToEnd: Bool {
            switch pendingEnd {
            case nil: false
            case .success: stuckRange.isEmpty
            case .failure: true
            }
        }

        func deliverClosed(_ error: TransportError?) {
            stage = .finished
            let handler = self.handler
            self.handler = nil
            handler?.closed(self, error: error)
        }

        // MARK: Sending

        private func sendDirectly(_ bytes: UnsafeRawBufferPointer) -> Int {
            var taken = 0
            while taken < bytes.count {
                let count = sendOnce(UnsafeRawBufferPointer(rebasing: bytes[taken...]))
                guard count > 0 else { break }
                taken += count
            }
            return taken
        }

        private func sendStaged(_ bytes: UnsafeRawBufferPointer) -> Int {
            let stage = stuck ?? .allocate(byteCount: 64 * 1024, alignment: 16)
            stuck = stage
            var taken = 0
            while taken < bytes.count, stuckRange.isEmpty, pendingEnd == nil {
                let piece = UnsafeRawBufferPointer(rebasing: bytes[taken..<min(taken + stage.count, bytes.count)])
                stage.copyMemory(from: piece)
                stuckRange = 0..<piece.count
                taken += piece.count
                flushStuck()
            }
            return taken
        }

        private func flushStuck() {
            guard let stuck else { return }
            while !stuckRange.isEmpty {
                let count = sendOnce(UnsafeRawBufferPointer(rebasing: stuck[stuckRange]))
                guard count > 0 else { return }
                stuckRange = (stuckRange.lowerBound + count)..<stuckRange.upperBound
            }
        }

        private func sendOnce(_ bytes: UnsafeRawBufferPointer) -> Int {
            guard !bytes.isEmpty else { return 0 }
            var count = 0
            let result = ccurl_send(easy, bytes.baseAddress, bytes.count, &count)
            switch result {
            case CCURL_OK: return count
            case CCURL_AGAIN: wantsWritable = true
            default: fail(result)
            }
            return 0
        }

        private func fail(_ result: Int) {
            stuckRange = 0..<0
            pendingEnd = .failure(CurlErrors.error(result, mayHaveBeenSent: true, isIdempotent: false))
        }
    }
#endif
