import Foundation
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

@testable import SwitchyardLocalSupabase
@testable import SwitchyardSupabase

/// Databases that were brought back from copies, whose transactions start over or repeat.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RestoredDatabaseTests {
    /// What a listener on one collection receives, as the functions' owner.
    private struct Reading {
        let token: String
        let isWhole: Bool
        let paths: [String]

        init(_ port: Int, since token: String?) async throws {
            let text = try await PostgresServer.query(
                """
                select public.switchyard_changes(jsonb_build_array(jsonb_build_object('id', 1, 'since', :'since',
                  'query', '{"in": "posts", "orders": [[null, "asc"]]}'::jsonb)));
                """, ["since": token ?? ""], port: port)
            let answer = try JSON(parsing: text)
            self.token = try #require(answer["token"]?.string)
            let target = try #require(answer["targets"]?[0])
            isWhole = target["reset"] == true
            paths = (target["documents"]?.array ?? []).compactMap { $0["path"]?.string }.sorted()
        }
    }

    private static func commit(_ path: String, _ op: String = "set", port: Int) async throws {
        try await PostgresServer.query(
            "select public.switchyard_commit(:'batch', jsonb_build_array(jsonb_build_object('op', :'op', 'path', :'path')));",
            ["batch": RandomID.make(), "path": path, "op": op], port: port)
    }

    private static func useUpTransactions(_ count: Int, port: Int) async throws {
        try await PostgresServer.query(
            "do $$ begin for n in 1 .. \(count) loop perform pg_current_xact_id(); commit; end loop; end $$;",
            port: port)
    }

    private static func run(_ program: String, _ arguments: [String]) async throws {
        let log = ScratchSpace.url.appendingPathComponent("log-\(RandomID.make())").path
        defer { try? FileManager.default.removeItem(atPath: log) }
        let status = try await ProcessRun.status(of: [program] + arguments, logFile: log)
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        try #require(status == 0, "\(program): \(text)")
    }

    @Test(.beside(movedRun))
    func `After a restore into another cluster only what is new is delivered, and old tokens are invalid`() async throws
    {
        try await Self.movedRun.value
    }

    private static let movedRun: SideRun<Int, Void> = SideRun { try await RestoredDatabaseTests().moved() }

    private func moved() async throws {
        let programs = try #require(PostgresPrograms.installed)
        let (old, new) = (try await PostgresServer(aloneWith: nil), try await PostgresServer(aloneWith: nil))
        defer {
            old.stop()
            new.stop()
        }
        try await old.query(DocumentSchema.sql)
        try await Self.useUpTransactions(5000, port: old.port)
        for name in ["a", "b", "c"] { try await Self.commit("posts/\(name)", port: old.port) }
        // Something is forgotten, too, and what has been forgotten is not to be reported forever as unknown.
        try await Self.commit("posts/c", "delete", port: old.port)
        try await old.query(
            "update switchyard.deletions set deleted_at = now() - interval '1 year'; select switchyard.forget();")
        let before = try await Reading(old.port, since: nil)

        let copy = ScratchSpace.url.appendingPathComponent("copy-\(RandomID.make())").path
        defer { try? FileManager.default.removeItem(atPath: copy) }
        let place = ["-h", "127.0.0.1", "-U", LocalPostgres.user]
        try await Self.run(programs.path("pg_dump"), place + ["-p", "\(old.port)", "-Fc", "-f", copy, "postgres"])
        try await new.query(
            "create role anon nologin; create role authenticated nologin; create role service_role nologin bypassrls;")
        try await Self.run(programs.path("pg_restore"), place + ["-p", "\(new.port)", "-d", "postgres", copy])

        // Before anybody has written, everything is delivered each time.
        let unsettled = try await Reading(new.port, since: before.token)
        #expect(unsettled.isWhole && unsettled.paths == ["posts/a", "posts/b"])
        #expect(try await Reading(new.port, since: unsettled.token).isWhole)

        try await Self.commit("posts/d", port: new.port)
        let settled = try await Reading(new.port, since: before.token)
        #expect(settled.isWhole && settled.paths == ["posts/a", "posts/b", "posts/d"])
        let quiet = try await Reading(new.port, since: settled.token)
        #expect(!quiet.isWhole && quiet.paths == [])
        try await Self.commit("posts/a", port: new.port)
        #expect(try await Reading(new.port, since: quiet.token).paths == ["posts/a"])

        // Also when as many transactions have been counted here as there.
        try await Self.useUpTransactions(6000, port: new.port)
        #expect(try await Reading(new.port, since: before.token).isWhole)
        // Bringing the functions up to date once more is no move.
        let place2 = try await Reading(new.port, since: nil)
        try await new.query(DocumentSchema.sql)
        #expect(try await !Reading(new.port, since: place2.token).isWhole)
    }

    @Test(.beside(broughtBackRun)) func `After a restore of the files places from the lost time are none`() async throws
    {
        try await Self.broughtBackRun.value
    }

    private static let broughtBackRun: SideRun<Int, Void> = SideRun { try await RestoredDatabaseTests().broughtBack() }

    private func broughtBack() async throws {
        let folder = ScratchSpace.url.appendingPathComponent("kept-\(RandomID.make())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = folder.appendingPathComponent("data").path
        let copy = folder.appendingPathComponent("copy").path
        let first = try await LocalPostgres(folder: folder)
        try await PostgresServer.query(DocumentSchema.sql, port: Int(first.port))
        try await Self.commit("posts/a", port: Int(first.port))
        await first.stop()
        try await Self.run("cp", ["-a", data, copy])

        let second = try await LocalPostgres(folder: folder)
        let kept = try await Reading(Int(second.port), since: nil).token
        try await Self.useUpTransactions(50, port: Int(second.port))
        try await Self.commit("posts/lost", port: Int(second.port))
        let lost = try await Reading(Int(second.port), since: nil)
        #expect(lost.paths == ["posts/a", "posts/lost"])
        await second.stop()

        try await Self.run("rm", ["-r", data])
        try await Self.run("mv", [copy, data])
        // As a copy that takes over does it: it follows at first, and then begins a history of its own.
        try await Self.run("touch", [data + "/standby.signal"])
        let third = try await LocalPostgres(folder: folder)
        let port = Int(third.port)
        defer { third.kill() }
        #expect(try await PostgresServer.query("select pg_is_in_recovery()", port: port) == "t")
        #expect(try await !Reading(port, since: kept).isWhole, "a copy that follows is at home")
        #expect(try await PostgresServer.query("select pg_promote(true, 60)", port: port) == "t")
        try await Self.useUpTransactions(100, port: port)
        for since in [lost.token, kept] {
            let reading = try await Reading(port, since: since)
            #expect(reading.isWhole && reading.paths == ["posts/a"])
        }
        try await Self.commit("posts/b", port: port)
        for since in [lost.token, kept] { #expect(try await Reading(port, since: since).isWhole) }
        let settled = try await Reading(port, since: nil)
        try await Self.commit("posts/c", port: port)
        let next = try await Reading(port, since: settled.token)
        #expect(!next.isWhole && next.paths == ["posts/c"])
        await third.stop()
    }

    @Test(.beside(begunRun)) func `An administrator can begin a new epoch, and no one else`() async throws {
        try await Self.begunRun.value
    }

    private static let begunRun: SideRun<Int, Void> = SideRun { try await RestoredDatabaseTests().begun() }

    private func begun() async throws {
        let server = try await PostgresServer(aloneWith: nil)
        defer { server.stop() }
        try await server.query(DocumentSchema.sql)
        try await Self.commit("posts/a", port: server.port)
        let token = try await Reading(server.port, since: nil).token
        #expect(try await !Reading(server.port, since: token).isWhole)
        await #expect(throws: PostgresServer.Failure.self) {
            try await server.query("set role authenticated; select switchyard.begin_epoch();")
        }
        try await server.query("select switchyard.begin_epoch()")
        #expect(try await Reading(server.port, since: token).isWhole)
    }

    @Test(.beside(crowdRun))
    func `Many who write first after a restore begin one epoch, and wait for each other without harm`() async throws {
        try await Self.crowdRun.value
    }

    private static let crowdRun: SideRun<Int, Void> = SideRun { try await RestoredDatabaseTests().crowd() }

    private func crowd() async throws {
        let server = try await PostgresServer(aloneWith: nil)
        defer { server.stop() }
        try await server.query(DocumentSchema.sql)
        try await server.query("update switchyard.settings set home = 'elsewhere'")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for n in 0..<20 { group.addTask { try await Self.commit("posts/p\(n % 5)", port: server.port) } }
            try await group.waitForAll()
        }
        let reading = try await Reading(server.port, since: nil)
        #expect(reading.paths.count == 5)
        #expect(try await server.query("select s.home = switchyard.home() from switchyard.settings s") == "t")
        #expect(try await !Reading(server.port, since: reading.token).isWhole)
    }
}
