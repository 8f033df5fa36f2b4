import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Ann and Ben with accounts of one project, each with the clients that an app of theirs would have.
final class IsolationSite: Sendable {
    struct Person: Sendable {
        let user: AuthUser
        let storage: any StorageClient
        let files: any FileStorageClient
    }

    /// One for all attempts, which have folders of their own there. Its processes end with this one.
    static let shared = Task { try await IsolationSite() }

    let supabase: LocalSupabase
    let ann: Person
    let ben: Person

    private init() async throws {
        supabase = try await LocalSupabase.onSharedPostgres()
        let connection = try await supabase.database.connect()
        try await connection.run(script: DocumentSchema.sql)
        connection.close()
        let transport = CurlTransport()
        for (name, isPublic) in [("files", false), ("photos", false), ("avatars", true)] {
            let bucket: JSON = ["name": .string(name), "public": .bool(isPublic)]
            let made = try await transport.send(
                HTTPRequest(
                    .post, supabase.server.url("/storage/v1/bucket"),
                    headers: [
                        "apikey": supabase.serviceKey, "Authorization": "Bearer \(supabase.serviceKey)",
                        "Content-Type": "application/json",
                    ], body: bucket.bytes()))
            try #require(made.isSuccess)
            try await supabase.addOwnersPolicies(to: name)
        }
        await transport.shutDown()
        ann = try await Self.person("ann", on: supabase)
        ben = try await Self.person("ben", on: supabase)
    }

    static func module(_ supabase: LocalSupabase) -> SupabaseModule {
        SupabaseModule(
            SupabaseConfiguration(
                url: supabase.server.url, key: Secret(supabase.anonKey), bucket: "files",
                buckets: [
                    SupabaseBucket("photos", folder: "users/photos"), SupabaseBucket("avatars", isPublic: true),
                ], checkInterval: .milliseconds(25)))
    }

    private static func person(_ name: String, on supabase: LocalSupabase) async throws -> Person {
        let module = module(supabase)
        let auth = try await module.makeAuthClient(ModuleContext())
        let user = try await auth.signUp(email: "\(name)@example.com", password: "secret").get()
        return try await person(user, auth, module)
    }

    private static func person(
        _ user: AuthUser, _ auth: any AuthClient, _ module: SupabaseModule
    ) async throws -> Person {
        let context = ModuleContext(auth: auth)
        return Person(
            user: user, storage: try await module.makeStorageClient(context),
            files: try await module.makeFileStorageClient(context))
    }

    /// Somebody who hands in a token that no one gave them.
    func impostor(_ token: String) async throws -> Person {
        let auth = FixedAuthClient(provider: .supabase, user: self.ann.user.id) { _ in token }
        return try await Self.person(ann.user, auth, Self.module(supabase))
    }
}
