/// The body of an upload, produced as fast as the connection takes it.
package struct RequestBody: Sendable {
    package enum Content: Sendable {
        case bytes([UInt8])
        /// A file, or the `range` of it, read from disk and never completely in memory.
        case file(path: String, range: Range<Int64>?)
        case produced(@Sendable (RequestBodyWriter) async throws -> Void)
    }

    package let content: Content
    /// The exact number of bytes, if known. Otherwise HTTP/1.1 has to send chunks, which some storage servers refuse.
    package let length: Int64?
    /// Whether the content can be produced a second time, after a redirect.
    package let isReplayable: Bool

    package static func bytes(_ bytes: [UInt8]) -> RequestBody {
        RequestBody(content: .bytes(bytes), length: Int64(bytes.count), isReplayable: true)
    }

    package static func file(_ path: String, range: Range<Int64>? = nil) -> RequestBody {
        RequestBody(content: .file(path: path, range: range), length: nil, isReplayable: true)
    }

    /// Bytes written by `produce`, which is suspended in `write` while the connection is busy.
    ///
    /// `produce` runs in a separate task, once per attempt, which is cancelled if the exchange ends first. If it throws, the
    /// exchange ends with `.requestBodyFailed`.
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

/// Receives the bytes of a produced body.
package struct RequestBodyWriter: Sendable {
    private let take: @Sendable ([UInt8]) async throws(TransportError) -> Void

    package init(_ take: @escaping @Sendable ([UInt8]) async throws(TransportError) -> Void) {
        self.take = take
    }

    /// Passes `bytes` on, waiting while more than the transport's buffer is outstanding.
    ///
    /// - Throws: Why the exchange ended, if it did; stop writing then.
    package func write(_ bytes: [UInt8]) async throws(TransportError) {
        try await take(bytes)
    }
}
