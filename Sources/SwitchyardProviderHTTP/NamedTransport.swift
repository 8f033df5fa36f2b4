package import SwitchyardWire

/// Names the app, if known, and this package in every request, unless the request has its own header field; and carries on the
/// trace of the server request that the current task works for.
package struct NamedTransport: ChangingTransport {
    package let base: any Transport
    private let userAgent: String

    /// - Parameter program: Such as `MyApp/2.1`. Characters not allowed in header fields are removed.
    package init(_ base: any Transport, program: String?) {
        self.base = base
        let visible = (program ?? "").unicodeScalars.filter { (0x20..<0x7F).contains($0.value) }
        let name = String(String.UnicodeScalarView(visible))
        userAgent = name.isEmpty ? HTTPHeaders.clientName : "\(name) \(HTTPHeaders.clientName)"
    }

    package func changed(_ headers: HTTPHeaders) -> HTTPHeaders {
        var headers = headers
        if headers["User-Agent"] == nil { headers["User-Agent"] = userAgent }
        return headers
    }

    package func changed(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.headers = changed(request.headers)
        request.carryTrace()
        return request
    }
}

extension HTTPHeaders {
    /// The program name sent with requests, which appears in a server's logs.
    static let clientName = "switchyard-swift/1.0"

    /// Names this package in a service's own header field; see ``NamedTransport`` for the common one.
    package mutating func nameClient() {
        if self["X-Client-Info"] == nil { self["X-Client-Info"] = HTTPHeaders.clientName }
    }
}
