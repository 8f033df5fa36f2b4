import Foundation
import SwitchyardServerKit
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

@testable import SwitchyardCLI

/// What `supabase install` says of rights that are missing, and what it prints for `psql`.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SupabaseInstallTests {
    @Test func `A missing right is reported with the statement that grants it, until all is there`() async throws {
        let server = try await PostgresServer()
        defer { server.stop() }
        let role = "maker_\(UInt32.random(in: 0 ... .max))"
        // The project's roles belong to the whole server, which other tests share.
        try await PostgresServer().query(DocumentSchema.sql)
        try await server.query("create role \(role) login")
        let database = try DatabaseAddress("postgresql://\(role)@127.0.0.1:\(server.port)/\(server.name)")
        var explained: [String] = []
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
                explained.append(statement)
                try await server.query(statement)
            }
        }
        #expect(
            explained == [
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
            #expect(try await ToolRun(["supabase", "install", "--print"] + words, output: output).status() == 0)
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
        let newer = try await TestProgram.finished([
            psql, "-h", "127.0.0.1", "-p", "\(server.port)", "-U", "postgres", "-d", server.name, "-X", "-q", "-f",
            forPsql.path,
        ])
        #expect(newer.status != 0 && newer.errors.contains("newer than version"))
        #expect(try await server.query("select count(*) from switchyard.rules") == "0")
    }

    @Test func `Parts are what is named, and otherwise documents and messages, with the rule on top`() throws {
        let cases: [([String], Set<SchemaPart>)] = [
            ([], .usual), (["--domain"], Set<SchemaPart>.usual.union([.domain])),
            (["--documents"], [.documents]), (["--messages", "--domain"], [.messages, .domain]),
            (["--rows", "--documents"], [.documents, .rows]),
        ]
        for (words, parts) in cases {
            #expect(try SupabaseInstallation(words + ["--print"]).parts == parts, "\(words)")
        }
        #expect(Set<SchemaPart>([.messages, .domain]).withBases == [.messages, .domain, .documents])
    }

    @Test func `A removal says what would go, and goes on only with a yes`() async throws {
        let server = try await PostgresServer()
        defer { server.stop() }
        try await server.query(DocumentSchema.installation(domain: true))
        let address = ["--database", "postgresql://postgres@127.0.0.1:\(server.port)/\(server.name)"]
        let present = "select count(*) from pg_proc where proname = 'switchyard_get'"
        for answer in ["", "no\n", "y\n"] {
            let program = try ToolRun(["supabase", "uninstall"] + address, input: answer)
            #expect(try await program.status() == 1)
            try await program.prints("- function public.switchyard_get(text[])")
            try await program.prints("- table switchyard.documents")
            #expect(try await server.query(present) == "1")
        }
        let part = try ToolRun(["supabase", "uninstall", "--domain", "--yes"] + address)
        #expect(try await part.status() == 0)
        try await part.prints("- function switchyard.domain_reads")
        #expect(try await server.query(present) == "1")

        let kept = try ToolRun(["supabase", "uninstall", "--keep-data"] + address, input: "yes\n")
        #expect(try await kept.status() == 0)
        try await kept.prints("Tables stay, with their contents.")
        #expect(try await server.query(present + " union all select count(*) from switchyard.documents") == "0\n0")

        let rest = try ToolRun(["supabase", "uninstall", "--yes"] + address)
        #expect(try await rest.status() == 0)
        try await rest.prints("- schema switchyard")
        let again = try ToolRun(["supabase", "uninstall"] + address)
        #expect(try await again.status() == 0)
        try await again.prints("has nothing of this")
    }

    @Test func `The SQL of a removal begins with a list of what goes, and psql runs it`() async throws {
        let server = try await PostgresServer()
        defer { server.stop() }
        try await server.query(DocumentSchema.installation(of: [.documents, .messages]))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "uninstall-\(UInt64.random(in: 0 ... .max)).sql")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let words = ["supabase", "uninstall", "--print", "--editor"]
        #expect(try await ToolRun(words, output: FileHandle(forWritingTo: file)).status() == 0)
        let sql = try String(contentsOf: file, encoding: .utf8)
        #expect(sql.hasPrefix("-- Removes, as far as it is there:\n"))
        #expect(sql.contains("--   function public.switchyard_get\n"))
        try await server.query(sql)
        #expect(try await server.query("select count(*) from pg_namespace where nspname = 'switchyard'") == "0")
    }

    @Test func `An explanation needs no database`() async throws {
        let program = try ToolRun(["supabase", "install", "--explain", "--messages"])
        #expect(try await program.status() == 0)
        try await program.prints("table switchyard.installations: ")
        try await program.prints("function public.switchyard_messages: messages that a listener has missed.")
        #expect(throws: UsageError.self) { try SupabaseInstallation(["--explain", "--print"]) }
        #expect(throws: UsageError.self) { try SupabaseRemoval(["--print", "--yes"]) }
    }
}
