extension HTTPRequest {
    /// Refuses a request that cannot be sent unchanged, or could smuggle another header or request.
    ///
    /// Every transport calls this first, so nothing has been sent if it throws. Returns the parts of the URL.
    @discardableResult
    package func validate() throws(TransportError) -> URLParts {
        guard !method.rawValue.isEmpty, method.rawValue.utf8.allSatisfy(\.isTokenCharacter) else {
            throw TransportError(.invalidRequest, "the method is not a token")
        }
        let parts = try URLParts(validating: url)
        guard parts.scheme == "http" || parts.scheme == "https" else {
            throw TransportError(.invalidRequest, "the address is neither http nor https")
        }
        for field in headers {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(\.isTokenCharacter) else {
                throw TransportError(.invalidRequest, "a header name is not a token")
            }
            guard field.value.utf8.allSatisfy(\.isFieldCharacter) else {
                throw TransportError(.invalidRequest, "the value of a header holds a control character")
            }
            guard !Self.ownedByTransport.contains(where: { field.name.isSameHeaderName(as: $0) }) else {
                throw TransportError(.invalidRequest, "the transport itself writes the header \(field.name)")
            }
        }
        return parts
    }

    /// The framing fields: letting callers set them would allow request smuggling.
    private static let ownedByTransport = ["Content-Length", "Transfer-Encoding", "Connection", "Host", "Expect", "TE"]
}

extension UInt8 {
    /// RFC 9110, `tchar`.
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case 0x21, 0x23, 0x24, 0x25, 0x26, 0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// Tab, space, visible ASCII and the bytes above; no control character.
    fileprivate var isFieldCharacter: Bool {
        self == 0x09 || (self >= 0x20 && self != 0x7F)
    }
}
