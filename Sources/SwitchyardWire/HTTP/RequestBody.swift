/// The body of an upload, produced as the connection can take it.
package struct RequestBody: Sendable {
    package enum Content: Sendable {
        case bytes([UInt8])
        /// A file, or the part of it within `range`; read in place, never held in memory as a whole.
        case file(path: String, range: Range<Int64>?)
        case produced(@Sendable (RequestBodyWriter) async throws -> Void)
    }

    package let content: Content
    /// The exact number of bytes, where it is known. Without it HTTP/1.1 has to send chunks, which some storage
    /// servers refuse.
    package let length: Int64?
    /// Whether the content can be produced a second time, after a redirect.
    package let isReplayable: Bool

    package static func bytes(_ bytes: [UInt8]) -> RequestBody {
        RequestBody(content: .bytes(bytes), length: Int64(bytes.count), isReplayable: true)
    }

    package static func file(_ path: String, range: Range<Int64>? = nil) -> RequestBody {
        RequestBody(content: .file(path: path, range: range), length: nil, isReplayable: true)
    }

    /// Bytes written by `produce`, which is suspended in `write` whenever the connection is behind.
    ///
    /// `produce` runs in a task of its own, once per attempt; that task is cancelled when the exchange ends first. An
    /// error thrown by it ends the exchange with `.requestBodyFailed`.
    package static func produced(
        length: Int64? = nil, isReplayable: Bool = false,
        by produce: @escaping @Sendable (RequestBodyWriter) async throws -> Void
    ) -> RequestBody {
        RequestBody(content: .produced(produce), length: length, isReplayable: isReplayable)
    }

    /// The elements of `chunks`, in order.
    package static func sequence<S: AsyncSequence & Sendable>(
        _ chunks: S, length: Int64? = nil
    ) -> RequestBody where S.Element == [UInt8] {
        produced(length: length) { writer in
            for try await chunk in chunks { try await writer.write(chunk) }
        }
    }
}

/// Takes the bytes of a produced body.
package struct RequestBodyWriter: Sendable {
    private let take: @Sendable ([UInt8]) async throws(TransportError) -> Void

    package init(_ take: @escaping @Sendable ([UInt8]) async throws(TransportError) -> Void) {
        self.take = take
    }

    /// Hands `bytes` over, waiting while more than the transport's buffer is outstanding.
    ///
    /// - Throws: why the exchange ended, when it did; there is no use in going on then.
    package func write(_ bytes: [UInt8]) async throws(TransportError) {
        try await take(bytes)
    }
}
