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
