package import Switchyard
import SwitchyardWire

/// Plain HTTP to a machine in a private network, which a configuration can allow for development.
package enum PlainHTTP {
    /// - Parameter host: The configured host: a name or an address, without scheme and port.
    /// - Throws: `.invalidConfiguration` if it is not a host, or is a public one.
    package static func check(_ host: String?, of provider: String) throws(InfrastructureError) {
        guard let host else { return }
        guard let parts = try? URLParts(validating: "http://\(host)"), parts.port == nil, parts.path.isEmpty,
            parts.query == nil
        else {
            throw problem(provider, "must be a host alone, such as 192.168.1.20, not \(Secret.shown(host))")
        }
        guard parts.isPrivate else {
            throw problem(
                provider,
                "allows machines of a private network only, and \(Secret.shown(host)) is not one. Use https there")
        }
    }

    /// How to fix a plain HTTP address to which no secrets are sent.
    package static func remedy(for address: String) -> String {
        guard let parts = try? URLParts(validating: address), parts.isPrivate else { return "Use https." }
        return "Use https, or set allowsPlainHTTPTo to “\(parts.host)” while you develop on this network."
    }

    /// Why nothing is sent to a plain HTTP address that is no longer known.
    ///
    /// - Parameter what: What would have been sent, such as “secret”.
    package static func refusal(of what: String) -> String {
        "The address uses plain HTTP to another machine, so no \(what) is sent there. Use https, or allowsPlainHTTPTo while "
            + "you develop on a private network."
    }

    private static func problem(_ provider: String, _ what: String) -> InfrastructureError {
        InfrastructureError(.invalidConfiguration, "\(provider)'s allowsPlainHTTPTo \(what).")
    }
}
