package import SwitchyardWire

extension HTTPHeaders {
    /// What requests say of the program that makes them; a server's logs show it.
    static let clientName = "switchyard-swift/1.0"

    /// Names this package, unless the request has said something itself.
    package mutating func nameClient() {
        if self["X-Client-Info"] == nil { self["X-Client-Info"] = HTTPHeaders.clientName }
        if self["User-Agent"] == nil { self["User-Agent"] = HTTPHeaders.clientName }
    }
}
