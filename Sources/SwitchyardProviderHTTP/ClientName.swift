package import SwitchyardWire

extension HTTPHeaders {
    /// The program name sent with requests, which appears in a server's logs.
    static let clientName = "switchyard-swift/1.0"

    /// Names this package in a service's own header field; see ``NamedTransport`` for the common one.
    package mutating func nameClient() {
        if self["X-Client-Info"] == nil { self["X-Client-Info"] = HTTPHeaders.clientName }
    }
}
