/// The parts of an absolute address, split as RFC 3986 does, without decoding anything.
package struct URLParts: Sendable, Hashable {
    /// Lower case.
    package let scheme: String
    /// Lower case; an IPv6 address keeps its brackets.
    package let host: String
    /// `nil` where the address names none.
    package let port: Int?
    /// Begins with "/" or is empty.
    package let path: String
    /// Without "?"; `nil` where there is none.
    package let query: String?

    /// Splits `address`, a fragment left out.
    ///
    /// - Throws: `.invalidRequest` for anything but visible ASCII, a missing host, a bad port, or user information,
    ///   which would put a password where logs can see it.
    package init(validating address: String) throws(TransportError) {
        guard address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw TransportError(.invalidRequest, "the address holds a character that is not visible ASCII")
        }
        var rest = Substring(address)
        if let hash = rest.firstIndex(of: "#") { rest = rest[..<hash] }
        guard let colon = rest.firstIndex(of: ":"), rest[colon...].hasPrefix("://"), colon != rest.startIndex,
            rest[..<colon].utf8.allSatisfy(\.isSchemeCharacter)
        else { throw TransportError(.invalidRequest, "the address is not absolute") }
        scheme = rest[..<colon].lowercased()
        rest = rest[rest.index(colon, offsetBy: 3)...]

        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.contains("@") else {
            throw TransportError(.invalidRequest, "the address holds user information")
        }
        let portStart =
            authority.hasPrefix("[") ? authority.firstIndex(of: "]") ?? authority.endIndex : authority.startIndex
        if let separator = authority[portStart...].lastIndex(of: ":") {
            host = authority[..<separator].lowercased()
            let digits = authority[authority.index(after: separator)...]
            if digits.isEmpty {
                port = nil
            } else {
                guard digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int(digits),
                    (1...65_535).contains(number)
                else { throw TransportError(.invalidRequest, "the address has a bad port") }
                port = number
            }
        } else {
            host = authority.lowercased()
            port = nil
        }
        guard Self.isHost(host) else { throw TransportError(.invalidRequest, "the address has no valid host") }

        rest = rest[end...]
        if let mark = rest.firstIndex(of: "?") {
            path = String(rest[..<mark])
            query = String(rest[rest.index(after: mark)...])
        } else {
            path = String(rest)
            query = nil
        }
    }

    /// The port in use, the scheme's own where none is named.
    package var effectivePort: Int {
        port ?? (scheme == "https" || scheme == "wss" ? 443 : 80)
    }

    /// Scheme, host and port: what credentials belong to.
    package var origin: String { "\(scheme)://\(host):\(effectivePort)" }

    /// `address` for people: the values of its query hidden, anything unparsable hidden entirely.
    package static func redacted(_ address: String) -> String {
        guard let parts = try? URLParts(validating: address) else { return "<invalid address>" }
        let port = parts.port.map { ":\($0)" } ?? ""
        var text = "\(parts.scheme)://\(parts.host)\(port)\(parts.path)"
        if let query = parts.query {
            let items = query.split(separator: "&", omittingEmptySubsequences: false).map { item in
                item.firstIndex(of: "=").map { item[..<$0] + "=…" } ?? "…"
            }
            text += "?" + items.joined(separator: "&")
        }
        return text
    }

    private static func isHost(_ host: String) -> Bool {
        if host.hasPrefix("[") {
            return host.hasSuffix("]")
                && host.utf8.dropFirst().dropLast().allSatisfy { byte in
                    byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "%")
                        || byte.isASCIIDigitOrLetter
                }
        }
        return !host.isEmpty
            && host.utf8.allSatisfy { byte in
                byte.isASCIIDigitOrLetter || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
                    || byte == UInt8(ascii: "_")
            }
    }
}

extension UInt8 {
    fileprivate var isASCIIDigitOrLetter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    fileprivate var isSchemeCharacter: Bool {
        isASCIIDigitOrLetter || self == UInt8(ascii: "+") || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
    }
}
