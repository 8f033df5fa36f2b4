import Foundation
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LocalPostgresTests {
    private func text(_ sql: String, on postgres: LocalPostgres) async throws -> String? {
        let connection = try await PostgresConnection(
            port: postgres.port, user: LocalPostgres.user, database: "postgres")
        defer { connection.close() }
        return try await connection.run([PostgresStatement(sql)])[0].text
    }

    @Test(arguments: ["", "/nowhere/bin"])
    func `A variable that names a folder without PostgreSQL is reported as such`(_ folder: String) {
        let error = #expect(throws: LocalPostgresError.self) {
            try PostgresPrograms.find(in: ["SWITCHYARD_POSTGRES_BIN": folder])
        }
        #expect(error == .wrongFolder(folder))
        #expect(
            error?.description.hasPrefix("SWITCHYARD_POSTGRES_BIN is “\(folder)”, where PostgreSQL's programs") == true)
    }

    @Test func `One in a folder finds again what it stored, one without leaves nothing`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try await LocalPostgres(folder: folder)
        _ = try await text("create table kept (x int)", on: first)
        #expect(try await text("show fsync", on: first) == "on")
        await first.stop()
        let second = try await LocalPostgres(folder: folder)
        #expect(try await text("select count(*) from kept", on: second) == "0")
        await second.stop()

        let passing = try await LocalPostgres()
        let place = try #require(try await text("show data_directory", on: passing))
        #expect(try await text("show fsync", on: passing) == "off")
        await passing.stop()
        #expect(!FileManager.default.fileExists(atPath: place))
    }

    @Test func `Started again it is at the same address, with what was in it`() async throws {
        let postgres = try await LocalPostgres()
        defer { postgres.kill() }
        _ = try await text("create table kept (x int)", on: postgres)
        let pool = PostgresPool(port: postgres.port, user: LocalPostgres.user)
        _ = try await pool.run([PostgresStatement("select 1")])
        try await postgres.restart()
        #expect(try await text("select count(*) from kept", on: postgres) == "0")
        // A connection from before is found broken, by one call at most.
        _ = try? await pool.run([PostgresStatement("select 1")])
        #expect(try await pool.run([PostgresStatement("select 1")])[0].text == "1")
        await pool.close()
    }

    #if os(Linux)
        @Test func `One that is ended at once gives back the shared memory of the system`() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("shared-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let postgres = try await LocalPostgres(folder: folder)
            let file = try String(contentsOf: folder.appendingPathComponent("data/postmaster.pid"), encoding: .utf8)
            // The last but one line has the key and the number of what it has taken.
            let line = try #require(file.split(separator: "\n").dropLast().last)
            let piece = try #require(line.split(separator: " ").last.map(String.init))
            func isThere() throws -> Bool {
                let list = try #require(try FileHandle(forReadingAtPath: "/proc/sysvipc/shm")?.readToEnd())
                return String(decoding: list, as: UTF8.self).split(separator: "\n")
                    .contains { $0.split(separator: " ").dropFirst().first.map(String.init) == piece }
            }
            #expect(try isThere())
            postgres.kill()
            #expect(try !isThere())
        }
    #endif

    @Test func `One that ends while it starts is reported with what it said, and not waited for`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("broken-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let postgres = try await LocalPostgres(folder: folder)
        await postgres.stop()
        let settings = folder.appendingPathComponent("data/postgresql.conf")
        try Data("no_such_setting = on\n".utf8).write(to: settings)
        #expect(chmod(settings.path, 0o644) == 0)
        let failure = await #expect(throws: LocalPostgresError.self) { _ = try await LocalPostgres(folder: folder) }
        let reason = failure?.description ?? ""
        #expect(reason.contains("it has ended\n"))
        #expect(reason.contains("no_such_setting"))
    }

    @Test func `Where it is missing, the error names the package`() {
        #expect(LocalPostgresError.notInstalled.description.contains("“postgresql”"))
    }
}
