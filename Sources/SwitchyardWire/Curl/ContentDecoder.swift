#if os(Linux)
    import CSwitchyardLibraries

    /// Decompresses a body as it arrives, with zlib or Brotli's own decoder.
    ///
    /// Output is produced in pieces of 64 KB and only as fast as it is taken, so a small body that expands without end costs no
    /// more than its reader's limit. Use it from one thread at a time.
    final class ContentDecoder {
        enum Coding: String, CaseIterable {
            case gzip
            case brotli = "br"

            fileprivate var kind: ccoding_kind {
                switch self {
                case .gzip: CCODING_GZIP
                case .brotli: CCODING_BROTLI
                }
            }

            /// From its name in `Content-Encoding`.
            init?(name: some StringProtocol) {
                let name = name.lowercased()
                self.init(rawValue: name == "x-gzip" ? "gzip" : name)
            }

            /// The codings whose library is installed, as offered in a request; `nil` if there are none.
            static let offer: String? = {
                let usable = allCases.filter { ccoding_is_available($0.kind) }.map(\.rawValue)
                return usable.isEmpty ? nil : usable.joined(separator: ", ")
            }()
        }

        enum Outcome {
            /// All offered bytes have been used.
            case all
            /// The sink has no room: offer the same bytes again, in pieces of any size.
            case none
            /// The sink accepts nothing more.
            case abort
            case damaged
            case outOfMemory
        }

        private static let pieceSize = 64 * 1024

        private let coding: Coding
        private let decoder: ccoding_decoder
        private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
        /// The size of the output that the sink has refused.
        private var refused = 0
        /// The number of bytes already used of those that will be offered again.
        private var used = 0
        /// Whether the decoder has more output than fitted.
        private var hasMore = false
        private var hasBegun = false
        private var hasEnded = false
        private var isDamaged = false

        /// `nil` if the library is missing or there is no memory.
        init?(_ coding: Coding) {
            guard let decoder = ccoding_new(coding.kind) else {
                output.deallocate()
                return nil
            }
            self.coding = coding
            self.decoder = decoder
        }

        deinit {
            ccoding_free(decoder)
            output.deallocate()
        }

        /// Whether a body that ends here is complete. An absent body is complete, as after HEAD.
        var isComplete: Bool { (hasEnded || !hasBegun) && refused == 0 && !isDamaged }

        func decode(
            _ offered: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) -> CurlExchange.Taken
        ) -> Outcome {
            guard !isDamaged else { return .damaged }
            if refused > 0, let stop = pass(refused, to: sink) { return stop }
            let skipped = min(used, offered.count)
            var input = offered.baseAddress.map { $0.assumingMemoryBound(to: UInt8.self) + skipped }
            var left = offered.count - skipped
            while left > 0 || hasMore {
                if hasEnded {
                    // Gzip members may follow one another; nothing may follow the end of Brotli.
                    guard coding == .gzip, ccoding_restart(decoder) else { return damaged() }
                    hasEnded = false
                }
                hasBegun = true
                var written = 0
                let before = left
                let status = ccoding_decode(
                    decoder, &input, &left, output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count,
                    &written)
                let stop = written > 0 ? pass(written, to: sink) : nil
                switch status {
                case CCODING_ENDED: hasEnded = true
                case CCODING_DAMAGED: return damaged()
                case CCODING_NO_MEMORY: return .outOfMemory
                default: if written == 0, left > 0, left == before { return damaged() }
                }
                hasMore = status == CCODING_NEEDS_OUTPUT
                if let stop {
                    used += offered.count - skipped - left
                    return stop
                }
            }
            used -= skipped
            return .all
        }

        /// `nil` if the sink took it.
        private func pass(_ count: Int, to sink: (UnsafeRawBufferPointer) -> CurlExchange.Taken) -> Outcome? {
            refused = count
            switch sink(UnsafeRawBufferPointer(rebasing: output[..<count])) {
            case .all:
                refused = 0
                return nil
            case .none: return Outcome.none
            case .abort: return .abort
            }
        }

        private func damaged() -> Outcome {
            isDamaged = true
            return .damaged
        }
    }
#endif
