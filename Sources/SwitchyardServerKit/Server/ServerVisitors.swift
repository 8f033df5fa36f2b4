import SwitchyardWire

/// Whose requests a local server answers.
///
/// It listens on loopback addresses only, but every web page that is open in a browser on this machine can send requests there:
/// from its own origin, or as the server's own page after having made its name lead to this machine. So each request has to
/// name this machine as its `Host`, and an `Origin` has to be a page on this machine or one of those that were named.
package struct ServerVisitors: Sendable {
    private let origins: Set<String>
    private let controlPaths: [String]
    private let remedy: String

    /// - Parameters:
    ///   - origins: Further origins of pages, as browsers send them, such as "https://app.example.com"; see `isOrigin(_:)`.
    ///   - controlPaths: Beginnings of paths that change or show the server itself. A browser may not follow links of other sites
    ///     there, or load them as images.
    ///   - remedy: How to name an origin, for the refusal of one.
    package init(origins: Set<String>, controlPaths: [String], remedy: String) {
        self.origins = Set(origins.map { $0.lowercased() })
        self.controlPaths = controlPaths
        self.remedy = remedy
    }

    /// Why a request is not answered; `nil` for one that is.
    package func refusal(of request: ServerRequest) -> ServerResponse? {
        for host in request.headers.values(for: "Host") + Self.authority(of: request.target) where !Self.isLocal(host) {
            return Self.refuse(
                "This local server answers only requests whose Host is localhost, 127.0.0.1 or [::1], and this one is for "
                    + "\(Self.shown(host)). Use one of these in the address.")
        }
        for origin in request.headers.values(for: "Origin") where !allows(origin: origin) {
            return Self.refuse(
                "This local server answers only web pages on this machine, and this request is of a page at "
                    + "\(Self.shown(origin)). If it is yours, \(remedy)")
        }
        guard request.headers["Sec-Fetch-Site"] == "cross-site", request.headers["Origin"] == nil,
            controlPaths.contains(where: request.rawPath.hasPrefix)
        else { return nil }
        return Self.refuse("Web pages elsewhere cannot control this local server.")
    }

    /// Whether a text is an origin as browsers send it: scheme, host and perhaps a port, or "null" for pages without one.
    package static func isOrigin(_ text: String) -> Bool {
        guard text != "null" else { return true }
        guard let (scheme, authority) = parts(of: text), let host = host(of: authority) else { return false }
        return !host.isEmpty && scheme.utf8.allSatisfy { isLetterOrDigit($0) || "+-.".utf8.contains($0) }
            && host.utf8.allSatisfy { isLetterOrDigit($0) || "-._:[]".utf8.contains($0) }
    }

    private func allows(origin: String) -> Bool {
        if origins.contains(origin.lowercased()) { return true }
        return Self.isOrigin(origin) && Self.parts(of: origin).map { Self.isLocal($0.authority) } == true
    }

    // MARK: Hosts

    /// Whether a host, with or without a port, is this machine under one of its own names: a name that is looked up may be made
    /// to lead here.
    private static func isLocal(_ authority: some StringProtocol) -> Bool {
        guard let host = host(of: authority)?.lowercased() else { return false }
        if host == "localhost" { return true }
        let address = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        guard let found = try? LoopbackAddress(validating: address) else { return false }
        return found.isIPv6 == host.hasPrefix("[")
    }

    /// The part before the port; `nil` for an invalid port.
    private static func host(of authority: some StringProtocol) -> String? {
        let start = authority.lastIndex(of: "]") ?? authority.startIndex
        guard let colon = authority[start...].firstIndex(of: ":") else { return String(authority) }
        let port = authority[authority.index(after: colon)...]
        guard port.utf8.count <= 5, port.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return String(authority[..<colon])
    }

    private static func parts(of origin: some StringProtocol) -> (scheme: String, authority: String)? {
        guard let colon = origin.firstIndex(of: ":"), colon > origin.startIndex, origin[colon...].hasPrefix("://")
        else {
            return nil
        }
        return (String(origin[..<colon]), String(origin[colon...].dropFirst(3)))
    }

    /// The host in the target of a request that is meant for a proxy.
    private static func authority(of target: String) -> [String] {
        guard !target.hasPrefix("/"), let (_, rest) = parts(of: target) else { return [] }
        return [String(rest.prefix { $0 != "/" && $0 != "?" })]
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
    }

    // MARK: Answers

    private static func shown(_ text: String) -> String { "“\(text.prefix(100))”" }

    private static func refuse(_ text: String) -> ServerResponse {
        var response = ServerResponse.text(text + "\n", status: 403)
        response.headers["X-Content-Type-Options"] = "nosniff"
        // The page would keep what it receives here.
        response.headers["Cache-Control"] = "no-store"
        return response
    }
}
