import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire

/// The addresses of a project's services, without a trailing slash.
struct SupabaseProject: Sendable, Hashable {
    let address: String
    /// A host in a private network to which secrets may be sent in plain HTTP.
    let plainHost: String?

    init(_ configuration: SupabaseConfiguration) throws(InfrastructureError) {
        try PlainHTTP.check(configuration.allowsPlainHTTPTo, of: "Supabase")
        try self.init(configuration.url, plainHost: configuration.allowsPlainHTTPTo)
    }

    /// - Throws: `.invalidConfiguration` for an invalid address, and for one to which secrets must not be sent.
    init(_ given: String, plainHost: String? = nil) throws(InfrastructureError) {
        // Browsers append a slash.
        let address = given.hasSuffix("/") ? String(given.dropLast()) : given
        let parts: URLParts
        do throws(TransportError) {
            parts = try URLParts(validating: address)
        } catch {
            throw SupabaseProject.problem(given, error.message)
        }
        guard parts.scheme == "https" || parts.scheme == "http" else {
            throw SupabaseProject.problem(given, "it is neither http nor https")
        }
        guard parts.query == nil, !address.hasSuffix("/") else {
            throw SupabaseProject.problem(given, "it ends with slashes or a query; leave that out")
        }
        if let service = SupabaseProject.services.first(where: { parts.path.includes("/\($0)/v1") }) {
            throw SupabaseProject.problem(
                given, "“/\(service)/v1” is one of its services; leave the path out, as in https://demo.supabase.co")
        }
        guard !parts.host.hasSuffix("supabase.com") else {
            throw SupabaseProject.problem(
                given, "it is the dashboard; the project's own address is under Project Settings, Data API")
        }
        guard parts.mayCarrySecrets(plainTo: plainHost) else {
            throw SupabaseProject.problem(
                given, "it is plain HTTP to another machine, and neither keys nor tokens are sent there",
                PlainHTTP.remedy(for: given))
        }
        self.address = address
        self.plainHost = plainHost
    }

    private static let services = ["rest", "auth", "storage", "realtime", "functions", "graphql"]

    /// An ID for the names of files and stored sessions.
    var id: String { Hex.encode(SHA256.digest(of: Array(address.utf8)).prefix(8)) }

    var auth: String { address + "/auth/v1" }
    var rest: String { address + "/rest/v1" }
    var realtime: String { address + "/realtime/v1" }
    var functions: String { address + "/functions/v1" }

    /// Hosted projects have a second host for files, where no gateway buffers whole bodies.
    var storage: String {
        let path = "/storage/v1"
        guard let hosted, let parts = try? URLParts(validating: address) else { return address + path }
        return "\(parts.scheme)://\(hosted.reference).storage.supabase.\(hosted.domain)\(path)"
    }

    /// The name of a hosted project, which keys of the older form also contain.
    var reference: String? { hosted?.reference }

    private var hosted: (reference: String, domain: String)? {
        guard let parts = try? URLParts(validating: address), parts.port == nil, parts.path.isEmpty else { return nil }
        let labels = parts.host.split(separator: ".")
        guard labels.count == 3, labels[1] == "supabase", ["co", "in", "red"].contains(labels[2]) else { return nil }
        return (String(labels[0]), String(labels[2]))
    }

    private static func problem(_ address: String, _ what: String, _ remedy: String? = nil) -> InfrastructureError {
        let more = remedy.map { " \($0)" } ?? ""
        return InfrastructureError(
            .invalidConfiguration, "The Supabase url, \(Secret.shown(address)), cannot be used: \(what).\(more)")
    }
}
