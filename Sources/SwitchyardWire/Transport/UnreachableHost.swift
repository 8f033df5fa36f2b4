/// Messages about an unreachable server, the same for every transport.
package enum UnreachableHost {
    /// The host as named in messages: with its port if the URL has one.
    private static func name(_ url: String?) -> (text: String, isLoopback: Bool)? {
        guard let url, let parts = try? URLParts(validating: url) else { return nil }
        return (parts.host + (parts.port.map { ":\($0)" } ?? ""), parts.isLoopback)
    }

    package static func notFound(_ url: String?) -> String {
        "the host name \(name(url).map { "“\($0.text)” " } ?? "")could not be resolved; check the address"
    }

    package static func notConnected(_ url: String?) -> String {
        guard let (host, isLoopback) = name(url) else { return "could not connect" }
        // A transport does not know which server it is; the command lists the existing ones.
        return "could not connect to \(host)"
            + (isLoopback ? " (is the local server running? Start it with “switchyard emulator”)" : "")
    }
}
