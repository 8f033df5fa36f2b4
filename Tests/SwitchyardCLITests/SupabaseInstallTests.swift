import Foundation
import SwitchyardServerKit
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

@testable import SwitchyardCLI

/// What `supabase install` says of rights that are missing, and what it prints for `psql`.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseInstallTests {
    @Test func `A missing right is told with the statement that grants it, until all is there`() async throws {
        let server = try await PostgresServer()
        defer { server.stop() }
        let role = "maker_\(UInt32.random(in: 0 ... .max))"
        // The project's roles belong to the whole server, which other tests share.
        try await PostgresServer().query(DocumentSchema.sql)
        try await server.query("create role \(role) login")
        let database = try DatabaseAddress("postgresql://\(role)@127.0.0.1:\(server.port)/\(server.name)")
        var told: [String] = []
        for _ in 1...4 {
            let connection = try await PostgresConnection(port: database.port, user: role, database: database.name)
            defer { connection.close() }
            do throws(PostgresFailure) {
                _ = try await connection.run(script: DocumentSchema.installation(domain: true))
                break
            } catch {
                let text = error.cured(role: role, database: database.name)
                let statement = text.components(separatedBy: "\n\n").dropFirst().joined().trimmingCharacters(
                    in: .whitespacesAndNewlines)
                told.append(statement)
                try await server.query(statement)
            }
        }
        #expect(
            told == [
                #"grant create on database "\#(server.name)" to "\#(role)";"#,
                #"grant usage, create on schema "public" to "\#(role)";"#,
            ])
        #expect(try await server.query("select count(*) from switchyard.rules") == "5")
    }

    @Test func `What is printed for psql ends with the first error and changes nothing, and an editor takes it too`()
        async throws
    {
        let server = try await PostgresServer()
        defer { server.stop() }
        let files = FileManager.default.temporaryDirectory
        func printed(_ words: [String]) async throws -> URL {
            let file = files.appendingPathComponent("install-\(UInt64.random(in: 0 ... .max)).sql")
            try Data().write(to: file)
            let output = try FileHandle(forWritingTo: file)
            #expect(try await RunningProgram(["supabase", "install", "--print"] + words, output: output).status() == 0)
            return file
        }
        let (forPsql, forEditor) = (try await printed(["--domain"]), try await printed(["--domain", "--editor"]))
        defer { for file in [forPsql, forEditor] { try? FileManager.default.removeItem(at: file) } }
        let sql = try String(contentsOf: forPsql, encoding: .utf8)
        #expect(sql.hasPrefix("\\set ON_ERROR_STOP on\n"))
        let editor = try String(contentsOf: forEditor, encoding: .utf8)
        #expect(editor == sql.dropFirst("\\set ON_ERROR_STOP on\n".count))
        let connection = try await server.connect()
        defer { connection.close() }
        let results = try await connection.run(script: editor)
        #expect(results.last?.rows.count == 0)
        // A newer version is there: psql says so by its status as well.
        try await server.query("update switchyard.settings set schema = 1000; delete from switchyard.rules")
        let psql = PostgresPrograms.installed?.path("psql") ?? "psql"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: psql)
        process.arguments = [
            "-h", "127.0.0.1", "-p", "\(server.port)", "-U", "postgres", "-d", server.name, "-X", "-q", "-f",
            forPsql.path,
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = Task.detached { output.fileHandleForReading.readDataToEndOfFile() }
        process.waitUntilExit()
        #expect(process.terminationStatus != 0)
        #expect(String(decoding: await said.value, as: UTF8.self).contains("newer than version"))
        #expect(try await server.query("select count(*) from switchyard.rules") == "0")
    }
}
