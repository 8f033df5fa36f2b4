package import SwitchyardWire

extension HTTPHeaders {
    /// What requests say of the program that makes them; a server's logs show it.
    static let clientName = "switchyard-swift/1.0"

    /// Names this package where a service has a header field of its own for that; see ``NamedTransport`` for the common one.
    package mutating func nameClient() {
        if self["X-Client-Info"] == nil { self["X-Client-Info"] = HTTPHeaders.clientName }
    }
}
