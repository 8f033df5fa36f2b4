import SwitchyardWire
import Synchronization

// A protocol on the connection after an upgrade; everything here runs on the loop thread.
extension ServerConnection {
    /// Passes the connection to a protocol that runs on this thread.
    func takeOver(_ handler: any RawConnectionHandler) {
        let raw = ServerRawConnection(self)
        guard !isClosed else { return handler.closed(raw, error: Self.clientHasGone) }
        self.raw = raw
        exchange?.isAnswered = true
        phase = .session(handler)
        isBodyFull = false
        flush()
        guard case .session = phase else { return }
        handler.connected(raw)
        let bytes = held
        held = []
        bytes.withUnsafeBytes { if !$0.isEmpty { handler.received($0, on: raw) } }
        endSessionIfAsked()
        if hasInputEnded { endSession(reset: false) }
        updateInterest()
    }

    func wakeSession() {
        guard case .session(let handler) = phase, let raw else { return }
        raw.startServing()
        handler.woken(raw)
        endSessionIfAsked()
        updateInterest()
    }

    func setSessionReceiving(_ receiving: Bool) { isBodyFull = !receiving }

    /// Sends bytes of the session; takes nothing while earlier bytes are queued.
    func sendForSession(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard case .session = phase else { return 0 }
        let taken = output.sendDirectly(bytes, to: descriptor, at: .now)
        if let reset = output.dueReset { raw?.endsWithReset = reset }
        sessionWaits = taken < bytes.count
        return taken
    }

    /// Notifies the session that it may send again.
    func sessionMayWrite() {
        guard case .session(let handler) = phase, let raw else { return }
        sessionWaits = false
        handler.writable(raw)
        endSessionIfAsked()
    }

    func endSessionIfAsked() {
        if let reset = raw?.endsWithReset { endSession(reset: reset) }
    }

    func endSession(reset isReset: Bool) {
        guard case .session(let handler) = phase, let raw else { return }
        phase = .serving  // neither reset nor order may call the handler again
        isReset ? reset() : endInOrder()
        handler.closed(raw, error: nil)
        self.raw = nil
    }
}

/// The server's side of a connection, as used by a protocol on it.
final class ServerRawConnection: RawConnection, @unchecked Sendable {
    // `@unchecked Sendable`: `wakesPending` is atomic, `connection` and `loop` are immutable; `endsWithReset` is used only by
    // the loop thread, and so is everything called on `connection`.

    /// A reference cycle, which the connection breaks when it closes.
    private let connection: ServerConnection
    private let loop: ServerLoop
    private let wakesPending = Atomic(false)
    /// Set by `close`; carried out when the handler has returned.
    var endsWithReset: Bool?

    init(_ connection: ServerConnection) {
        self.connection = connection
        loop = connection.loop
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Int { connection.sendForSession(bytes) }

    func setReceiving(_ receiving: Bool) { connection.setSessionReceiving(receiving) }

    func close() { if endsWithReset == nil { endsWithReset = false } }

    func wake() {
        guard !wakesPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
        loop.submit(.wakeSession(connection))
    }

    func cancel() { loop.submit(.end(connection, reset: true)) }

    /// Anything queued from here on wakes the loop again.
    func startServing() { wakesPending.store(false, ordering: .sequentiallyConsistent) }
}
