public import Foundation
import SwitchyardBytes
import SwitchyardServerKit

/// A Firebase project whose users a local Supabase accepts like its own, as a hosted project does with third-party auth.
///
/// ```swift
/// let firebase = try LocalFirebase()
/// var options = LocalSupabaseOptions()
/// options.firebase = try FirebaseProject(firebase.project, keys: firebase.publishedKeys)
/// ```
///
/// Their tokens need the claim `role` with the value `authenticated`, as in production: without it, a request has the rights
/// of someone who is not signed in, and with any other role it is refused.
public struct FirebaseProject: Hashable, Sendable {
    /// The only role that its tokens may name.
    static let role = "authenticated"

    public let name: String
    /// The keys that sign tokens; empty if tokens are not signed.
    private let keys: [RSAPublicKey]

    /// - Parameters:
    ///   - name: The project's ID, as in its tokens.
    ///   - keys: The keys that sign its tokens, as a JSON list. Without keys, unsigned tokens are accepted, as issued by local
    ///     Firebase servers: anyone on this machine can write one.
    /// - Throws: If the keys cannot be read.
    public init(_ name: String, keys: String = "[]") throws(LocalSupabaseError) {
        guard let list = (try? JSON(parsing: keys))?.array else {
            throw LocalSupabaseError("The keys of the Firebase project “\(name)” are not a JSON array.")
        }
        guard list.isEmpty || RSAPrivateKey.isAvailable else {
            throw LocalSupabaseError(
                "Checking the signatures of the Firebase project “\(name)” requires OpenSSL's libcrypto. Install the package "
                    + "libssl3 or libssl1.1.")
        }
        let read = list.compactMap { RSAPublicKey($0) }
        guard read.count == list.count else {
            throw LocalSupabaseError("A key of the Firebase project “\(name)” is not an RSA key of at least 2048 bits.")
        }
        self.name = name
        self.keys = read
    }

    /// The project of a local Firebase that runs on this machine.
    ///
    /// - Throws: If no server answers there, or a different one does.
    public init(at url: URL) async throws(LocalSupabaseError) {
        guard let fetch = LoopbackFetch(url.absoluteString) else {
            throw LocalSupabaseError(
                "“\(url.absoluteString)” is not the address of a server on this machine. "
                    + "Use the address that “switchyard emulator firebase” prints, such as http://127.0.0.1:9099.")
        }
        guard let bytes = await fetch.get("/_firebase"), let answer = try? JSON(parsing: bytes),
            let name = answer["project"]?.string, let keys = answer["keys"]
        else {
            throw LocalSupabaseError(
                "No local Firebase answers at \(url.absoluteString). Start it first, with “switchyard emulator firebase”; "
                    + "for another vendor's emulator give the project's ID instead of an address.")
        }
        try self.init(name, keys: keys.text())
    }

    /// The claims of a token of the project; `nil` if it is not one of its tokens.
    ///
    /// - Parameters:
    ///   - parts: The token's three parts.
    ///   - header: The first part, parsed.
    func claims(_ parts: [Substring], _ header: JSONObject, _ claims: JSONObject) -> JSONObject? {
        guard claims["iss"]?.string == "https://securetoken.google.com/\(name)", claims["aud"]?.string == name,
            claims["sub"]?.string?.isEmpty == false
        else { return nil }
        switch header["alg"]?.string {
        case "none": return keys.isEmpty && parts[2].isEmpty ? claims : nil
        case "RS256":
            guard let key = keys.first(where: { $0.id == header["kid"]?.string }),
                let signature = Base64.decode(parts[2], alphabet: .url),
                key.verifies(signature, of: "\(parts[0]).\(parts[1])")
            else { return nil }
            return claims
        default: return nil
        }
    }
}

/// Recognizes the database of a real Supabase project. Its own services have set it up and use it, and a local server would
/// replace their functions, triggers and indexes.
enum ForeignProject {
    /// Where the real services record which of their migrations have run. A local server has no such tables.
    private static let ledgers = [
        ("auth", "schema_migrations"), ("storage", "migrations"), ("realtime", "schema_migrations"),
        ("_realtime", "schema_migrations"),
    ]

    /// - Throws: A `LocalSupabaseError` for such a database, of which nothing has been changed then.
    static func refuse(_ name: String, port: UInt16, on connection: PostgresConnection) async throws {
        // Needs no rights in those schemas.
        let list = ledgers.map { "('\($0.0)', '\($0.1)')" }.joined(separator: ", ")
        let found = try await connection.run([
            PostgresStatement(
                """
                select string_agg(n.nspname || '.' || c.relname, ', ' order by n.nspname) from pg_catalog.pg_class c
                join pg_catalog.pg_namespace n on n.oid = c.relnamespace
                where (n.nspname, c.relname) in (\(list))
                """)
        ])[0].text
        guard let found else { return }
        throw LocalSupabaseError(
            "The database “\(name)” on port \(port) belongs to a real Supabase project: its services keep their migrations in "
                + "\(found). A local Supabase would change their functions, so nothing was done. Use another database, such "
                + "as a new one, or leave out --database to start one.")
    }
}
