#if os(Linux)
    import CSwitchyardCurl

    /// Undoes the compression of a body as it arrives, through zlib or Brotli's own decoder.
    ///
    /// Output is produced in pieces of 64 KB and only as fast as it is taken, so a small body that grows without end costs
    /// no more than its reader's limit. For one thread at a time.
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

            /// By its name in `Content-Encoding`.
            init?(name: some StringProtocol) {
                let name = name.lowercased()
                self.init(rawValue: name == "x-gzip" ? "gzip" : name)
            }

            /// Those whose library is there, as a request offers them; `nil` without any.
            static let offer: String? = {
                let usable = allCases.filter { ccoding_is_available($0.kind) }.map(\.rawValue)
                return usable.isEmpty ? nil : usable.joined(separator: ", ")
            }()
        }

        enum Outcome {
            /// Everything offered has been used.
            case all
            /// The sink has no room: the same bytes have to be offered again, in whatever pieces.
            case none
            /// The sink wants no more.
            case abort
            case damaged
            case outOfMemory
        }

        private static let pieceSize = 64 * 1024

        private let coding: Coding
        private let decoder: ccoding_decoder
        private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
        /// Output that the sink has refused.
        private var refused = 0
        /// How many bytes of those that will be offered again have been used already.
        private var used = 0
        /// The decoder has more output than there was room for.
        private var hasMore = false
        private var hasBegun = false
        private var hasEnded = false
        private var isDamaged = false

        /// `nil` without the library, or without memory.
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

        /// Whether a body that ends here is whole. No body at all is, as after HEAD.
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
                    // Members may follow one another in gzip; behind Brotli's end there is nothing.
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

        /// `nil` when the sink took it.
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
