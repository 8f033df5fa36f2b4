/// Status line and header fields of an answer.
package struct HTTPResponseHead: Sendable, Hashable {
    package var status: Int
    package var headers: HTTPHeaders
    /// The URL that answered: the requested one unless redirects were followed.
    package var url: String
    /// "1.1", "2" and so on; empty if the transport does not know.
    package var httpVersion: String

    package init(status: Int, headers: HTTPHeaders = [:], url: String = "", httpVersion: String = "") {
        self.status = status
        self.headers = headers
        self.url = url
        self.httpVersion = httpVersion
    }

    package var isSuccess: Bool { (200..<300).contains(status) }

    package static func == (left: Self, right: Self) -> Bool {
        left.status == right.status && left.headers == right.headers && left.url == right.url
            && left.httpVersion == right.httpVersion
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        hasher.combine(url)
    }
}

extension HTTPResponseHead: CustomStringConvertible, CustomReflectable {
    package var description: String { "\(status) \(headers)" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// An answer held in memory.
package struct HTTPResponse: Sendable, Hashable {
    package var head: HTTPResponseHead
    package var body: [UInt8]

    package init(head: HTTPResponseHead, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }

    package init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        self.init(head: HTTPResponseHead(status: status, headers: headers), body: body)
    }

    package var status: Int { head.status }
    package var headers: HTTPHeaders { head.headers }
    package var isSuccess: Bool { head.isSuccess }
}

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    package var description: String { "\(head) \(body.count) bytes" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

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
