import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Registrations in the real database: whose they are, and who may know of them.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct InstallationTests {
    private func call(_ function: String, _ arguments: JSONObject, as user: String?) async throws {
        let site = try await SupabaseSite.shared.value
        let key = user.map { site.supabase.accessToken(for: $0) } ?? site.supabase.anonKey
        let service = try site.service(key: key)
        defer { Task { await service.transport.shutDown() } }
        _ = try await service.send(function, arguments, isIdempotent: true)
    }

    private func row(_ id: String) async throws -> String {
        try await SupabaseSite.shared.value.postgres.query(
            "select owner, service, token from switchyard.installations where id = :'id';", ["id": id])
    }

    private func mayReceive(_ topic: String, _ user: String?) async throws -> Bool {
        let claims = user.map { #"{"sub":"\#($0)","role":"authenticated"}"# } ?? ""
        return try await SupabaseSite.shared.value.postgres.query(
            """
            begin;
            select set_config('request.jwt.claims', :'claims', true) is null;
            select switchyard.may_hear(:'topic');
            commit;
            """, ["topic": topic, "claims": claims]
        ) == "f\nt"
    }

    @Test func `An installation is its registrar's, and with another sign-in the other's`() async throws {
        let id = RandomID.make(length: 32)
        try await call("switchyard_register", ["installation": .string(id)], as: "ann")
        #expect(try await row(id) == "ann||")
        try await call(
            "switchyard_register", ["installation": .string(id), "service": "fcm", "token": .string("t-\(id)")],
            as: "bob")
        #expect(try await row(id) == "bob|fcm|t-\(id)")
        #expect(try await mayReceive("switchyard:installation:\(id)", "bob"))
        #expect(try await !mayReceive("switchyard:installation:\(id)", "ann"))
        #expect(try await !mayReceive("switchyard:installation:\(id)", nil))
        try await call("switchyard_unregister", ["installation": .string(id)], as: nil)
        #expect(try await row(id) == "")
        #expect(try await !mayReceive("switchyard:installation:\(id)", "bob"))
    }

    @Test func `A platform's token is that of one installation`() async throws {
        let (first, second) = (RandomID.make(length: 32), RandomID.make(length: 32))
        for id in [first, second] {
            try await call(
                "switchyard_register",
                ["installation": .string(id), "service": "apns", "token": .string("one-\(first)")], as: "ann")
        }
        #expect(try await row(first) == "")
        #expect(try await row(second) == "ann|apns|one-\(first)")
    }

    @Test func `No one registers without a session, or under a name that could be guessed`() async throws {
        let anonymous = await #expect(throws: StorageError.self) {
            try await call("switchyard_register", ["installation": .string(RandomID.make(length: 32))], as: nil)
        }
        #expect(anonymous?.code == .unauthenticated)
        let short = await #expect(throws: StorageError.self) {
            try await call("switchyard_register", ["installation": "phone"], as: "ann")
        }
        #expect(short?.code == .invalidArgument)
    }

    @Test func `Topics are for whoever is signed in, and other channels for no one by this policy`() async throws {
        #expect(try await mayReceive("switchyard:topic:news", "ann"))
        #expect(try await !mayReceive("switchyard:topic:news", nil))
        #expect(try await !mayReceive("switchyard:other", "ann"))
        #expect(try await !mayReceive("documents:posts", "ann"))
    }

    @Test func `People see their own installations and no others`() async throws {
        let id = RandomID.make(length: 32)
        try await call("switchyard_register", ["installation": .string(id)], as: "ann")
        func seen(by user: String) async throws -> String {
            try await SupabaseSite.shared.value.postgres.query(
                """
                begin;
                set local role authenticated;
                set local "request.jwt.claims" to '{"sub":"\(user)"}';
                select count(*) from switchyard.installations where id = :'id';
                commit;
                """, ["id": id])
        }
        #expect(try await seen(by: "ann") == "1")
        #expect(try await seen(by: "bob") == "0")
    }
}
