/// An answer whose body is read as it arrives.
package struct HTTPStream: Sendable {
    package let head: HTTPResponseHead
    package let body: HTTPBody

    package init(head: HTTPResponseHead, body: HTTPBody) {
        self.head = head
        self.body = body
    }

    package var status: Int { head.status }
    package var headers: HTTPHeaders { head.headers }
}

/// The source of a streamed body.
package protocol HTTPBodySource: AnyObject, Sendable {
    /// The next bytes (never empty), or `nil` at the end. There can be only one caller at a time.
    func next() async throws(TransportError) -> [UInt8]?
    /// Releases the connection; `next` will not be called again.
    func cancel()
}

/// The bytes of an answer, in pieces as they arrive. It can be read only once.
///
/// Back-pressure is real: unread bytes stay in the kernel and at the server, apart from a bounded buffer. Releasing a half-read
/// body, or cancelling its reader, ends the transfer.
package struct HTTPBody: AsyncSequence, Sendable {
    package typealias Element = [UInt8]
    package typealias Failure = TransportError

    /// Ends the transfer when the last body value and iterator are released.
    fileprivate final class Handle: Sendable {
        let source: any HTTPBodySource

        init(_ source: any HTTPBodySource) {
            self.source = source
        }

        deinit {
            source.cancel()
        }
    }

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let handle: Handle

        package mutating func next() async throws(TransportError) -> [UInt8]? {
            try await handle.source.next()
        }

        package mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(TransportError) -> [UInt8]? {
            try await handle.source.next()
        }
    }

    private let handle: Handle

    package init(_ source: any HTTPBodySource) {
        handle = Handle(source)
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(handle: handle)
    }

    /// Ends the transfer now, without waiting for the body to be released.
    package func cancel() {
        handle.source.cancel()
    }

    /// The rest of the body in one piece.
    ///
    /// - Throws: `.bodyTooLarge` as soon as it exceeds `limit`, which also ends the transfer.
    package func collect(upTo limit: Int) async throws(TransportError) -> [UInt8] {
        var all: [UInt8] = []
        while let bytes = try await handle.source.next() {
            guard bytes.count <= limit - all.count else {
                handle.source.cancel()
                throw TransportError(.bodyTooLarge, "the body exceeds \(limit) bytes", mayHaveBeenSent: true)
            }
            if all.isEmpty { all = bytes } else { all += bytes }
        }
        return all
    }
}
