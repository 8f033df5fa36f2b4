/// Sentences about a server to which no connection can be made, the same for every transport.
package enum UnreachableHost {
    /// As texts name it: with its port where the address has one.
    private static func name(_ url: String?) -> (text: String, isLoopback: Bool)? {
        guard let url, let parts = try? URLParts(validating: url) else { return nil }
        return (parts.host + (parts.port.map { ":\($0)" } ?? ""), parts.isLoopback)
    }

    package static func notFound(_ url: String?) -> String {
        "the host name \(name(url).map { "“\($0.text)” " } ?? "")could not be resolved; check the address"
    }

    package static func notConnected(_ url: String?) -> String {
        guard let (host, isLoopback) = name(url) else { return "could not connect" }
        // A transport does not know which server it is; the command says which there are.
        return "could not connect to \(host)"
            + (isLoopback ? " (is the local server running? Start it with “switchyard emulator”)" : "")
    }
}
