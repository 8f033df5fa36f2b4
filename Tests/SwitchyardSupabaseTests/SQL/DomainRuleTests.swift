import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// The rule `domain` as the functions keep to it; the conformance suite has what clients see of it.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct DomainRuleTests {
    private func withDatabase(_ body: (PostgresServer) async throws -> Void) async throws {
        let server = try await PostgresServer()
        do {
            try await server.query(DocumentSchema.installation(domain: true))
            try await body(server)
        } catch {
            server.stop()
            throw error
        }
        server.stop()
    }

    /// - Returns: The value of `expression`, as a signed-in person has it.
    private func ask(_ server: PostgresServer, _ person: String, _ expression: String) async throws -> JSON {
        // The settings hold for the statement that asks.
        let text = try await server.query(
            """
            begin; set local role authenticated;
            do $$ begin perform set_config('request.jwt.claims', '{"sub": "\(person)"}', true); end $$;
            select \(expression); commit;
            """)
        let line = text.split(separator: "\n").first { $0.hasPrefix("{") } ?? ""
        return try JSON(parsing: Array(line.utf8))
    }

    private func commit(_ server: PostgresServer, _ person: String, _ writes: String) async throws {
        _ = try await ask(server, person, "public.switchyard_commit(gen_random_uuid()::text, '[\(writes)]')")
    }

    @Test func `A listener starts over when they have become a responder, and when they are one no more`() async throws
    {
        try await withDatabase { server in
            try await commit(
                server, "ann",
                """
                {"op": "set", "path": "users/ann/contacts/ben", "data": {"name": "Ben"}},
                {"op": "set", "path": "checkIns/1", "data": {"userID": "ann"}}
                """)
            let query = #"{"in": "checkIns", "filter": ["==", ["userID"], "ann"], "orders": [[null, "asc"]]}"#
            func read(_ since: String?) async throws -> (token: String, isReset: Bool, count: Int) {
                let token = since.map { #", "since": "\#($0)""# } ?? ""
                let answer = try await ask(
                    server, "ben", #"public.switchyard_changes('[{"id": 1, "query": \#(query)\#(token)}]')"#)
                let target = answer["targets"]?.array?.first
                return (
                    answer["token"]?.string ?? "", target?["reset"] == true, target?["documents"]?.array?.count ?? -1
                )
            }
            let first = try await read(nil)
            #expect(first.isReset && first.count == 0)
            // While a transaction from before Ann's is under way anywhere in the cluster, her write may be new to Ben.
            var token = first.token
            try await eventually("nothing has changed for Ben") {
                let next = try await read(token)
                token = next.token
                return !next.isReset
            }
            for (isResponder, count) in [("true", 1), ("false", 0)] {
                let before = try await read(nil)
                try await commit(
                    server, "ann",
                    """
                    {"op": "patch", "path": "users/ann/contacts/ben", "data": {"isResponder": \(isResponder)}, "mask": [["isResponder"]]}
                    """)
                let after = try await read(before.token)
                #expect(after.isReset && after.count == count)
            }
        }
    }

    @Test func `Collections of these names elsewhere belong to whoever made them, and tables show the same`()
        async throws
    {
        try await withDatabase { server in
            for path in ["teams/a/contacts/1", "notes/1/checkIns/1", "users/ann/contacts/ben", "checkIns/1"] {
                try await commit(
                    server, "ann", #"{"op": "set", "path": "\#(path)", "data": {"userID": "ann", "name": "x"}}"#)
            }
            func seen(_ person: String) async throws -> Int64? {
                try await ask(
                    server, person, "jsonb_build_object('count', (select count(*) from switchyard.documents))")[
                        "count"]?
                    .int64
            }
            #expect(try await seen("ann") == 4)
            #expect(try await seen("ben") == 0, "being on a list is not owning it")
            await #expect(throws: (any Error).self) {
                try await commit(
                    server, "ben", #"{"op": "set", "path": "teams/a/contacts/1", "data": {"name": "Ben's"}}"#)
            }
        }
    }
}
