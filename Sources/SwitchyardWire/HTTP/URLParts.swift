/// The parts of an absolute URL, split as in RFC 3986, without decoding.
package struct URLParts: Sendable, Hashable {
    /// Lower case.
    package let scheme: String
    /// Lower case; an IPv6 address keeps its brackets.
    package let host: String
    /// `nil` if the URL names none.
    package let port: Int?
    /// Begins with "/" or is empty.
    package let path: String
    /// Without "?"; `nil` if there is none.
    package let query: String?

    /// Splits `address`, dropping a fragment.
    ///
    /// - Throws: `.invalidRequest` for anything but visible ASCII, a missing host, an invalid port, or user information, which
    ///   would put a password into logs.
    package init(validating address: String) throws(TransportError) {
        // Uses bytes, not characters, since this runs once per request.
        let bytes = Array(address.utf8)
        guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw TransportError(.invalidRequest, "the address contains a character that is not visible ASCII")
        }
        var rest = bytes[..<(bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex)]
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")), rest[colon...].starts(with: "://".utf8), colon > 0,
            rest[..<colon].allSatisfy(\.isSchemeCharacter)
        else { throw TransportError(.invalidRequest, "the address does not begin with https://") }
        scheme = Self.lowercased(rest[..<colon])
        rest = rest[(colon + 3)...]

        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.contains(UInt8(ascii: "@")) else {
            throw TransportError(.invalidRequest, "the address contains a user name or password")
        }
        let isBracketed = authority.first == UInt8(ascii: "[")
        let hostEnd =
            isBracketed ? authority.firstIndex(of: UInt8(ascii: "]")) ?? authority.startIndex : authority.startIndex
        let separator = authority[hostEnd...].firstIndex(of: UInt8(ascii: ":"))
        port = try separator.map { index throws(TransportError) in try Self.port(authority[(index + 1)...]) } ?? nil
        let name = authority[..<(separator ?? authority.endIndex)]
        guard Self.isHost(name) else { throw TransportError(.invalidRequest, "the address has no valid host") }
        host = Self.lowercased(name)

        let mark = rest[end...].firstIndex(of: UInt8(ascii: "?"))
        path = String(decoding: rest[end..<(mark ?? rest.endIndex)], as: UTF8.self)
        query = mark.map { String(decoding: rest[($0 + 1)...], as: UTF8.self) }
    }

    /// `nil` for an empty port, which RFC 3986 allows.
    private static func port(_ digits: ArraySlice<UInt8>) throws(TransportError) -> Int? {
        if digits.isEmpty { return nil }
        guard digits.count <= 5, digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            throw TransportError(.invalidRequest, "the port of the address is not a number from 1 to 65535")
        }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard (1...65_535).contains(number) else {
            throw TransportError(.invalidRequest, "the port of the address is not a number from 1 to 65535")
        }
        return number
    }

    private static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.contains(where: { $0 >= 0x41 && $0 <= 0x5A }) else { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: bytes.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// The port in use: the scheme's default unless one is named.
    package var effectivePort: Int {
        port ?? (scheme == "https" || scheme == "wss" ? 443 : 80)
    }

    /// Scheme, host and port, to which credentials belong.
    package var origin: String { "\(scheme)://\(host):\(effectivePort)" }

    /// Whether the host is this machine.
    package var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Whether passwords and tokens may be sent to it: with TLS, or within this machine.
    package var mayCarrySecrets: Bool { mayCarrySecrets(plainTo: nil) }

    /// - Parameter host: A host in a private network to which they may also be sent without TLS.
    package func mayCarrySecrets(plainTo host: String?) -> Bool {
        scheme == "https" || scheme == "wss" || isLoopback || (self.host == host?.lowercased() && isPrivate)
    }

    /// Whether the host is in a private network, judging by its IP address or a name that no public server has.
    package var isPrivate: Bool {
        if isLoopback { return true }
        if host.hasPrefix("[") {
            return ["[fc", "[fd", "[fe8", "[fe9", "[fea", "[feb"].contains { host.hasPrefix($0) }
        }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = labels.compactMap { UInt8($0) }
        if labels.count == 4, bytes.count == 4 {
            switch (bytes[0], bytes[1]) {
            case (10, _), (192, 168), (169, 254): return true
            case (172, let second): return (16...31).contains(second)
            default: return false
            }
        }
        // A number in another notation is not a name.
        guard let last = labels.last, !last.isEmpty, UInt64(last) == nil, !last.hasPrefix("0x") else { return false }
        return labels.count == 1 || ["local", "internal", "lan"].contains(last) || host.hasSuffix(".home.arpa")
    }

    /// `address` for logs: hides the values of its query, and an invalid address entirely.
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

    private static func isHost(_ host: ArraySlice<UInt8>) -> Bool {
        if host.first == UInt8(ascii: "[") {
            return host.count > 2 && host.last == UInt8(ascii: "]")
                && host.dropFirst().dropLast().allSatisfy { byte in
                    byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "%")
                        || byte.isASCIIDigitOrLetter
                }
        }
        return !host.isEmpty
            && host.allSatisfy { byte in
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

extension URLParts {
    /// Resolves `reference` relative to this URL (RFC 3986, 5.2); `nil` if it is invalid.
    package func resolving(_ reference: String) -> String? {
        let reference = reference[..<(reference.firstIndex(of: "#") ?? reference.endIndex)]
        guard reference.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        if Self.hasScheme(reference) { return String(reference) }
        if reference.hasPrefix("//") { return "\(scheme):\(reference)" }

        let base = port.map { "\(scheme)://\(host):\($0)" } ?? "\(scheme)://\(host)"
        let ownQuery = query.map { "?\($0)" } ?? ""
        if reference.isEmpty { return base + path + ownQuery }
        if reference.hasPrefix("?") { return base + path + reference }
        let mark = reference.firstIndex(of: "?") ?? reference.endIndex
        let target = reference[..<mark]
        let merged: String
        if target.hasPrefix("/") {
            merged = String(target)
        } else {
            let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
            merged = String(folder + target)
        }
        return base + Self.removingDotSegments(merged) + reference[mark...]
    }

    private static func hasScheme(_ reference: Substring) -> Bool {
        guard let colon = reference.firstIndex(of: ":"), colon != reference.startIndex else { return false }
        return !reference[..<colon].contains { $0 == "/" || $0 == "?" }
    }

    /// RFC 3986, 5.2.4, for paths that begin with "/".
    static func removingDotSegments(_ path: String) -> String {
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".":
                if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }
}
