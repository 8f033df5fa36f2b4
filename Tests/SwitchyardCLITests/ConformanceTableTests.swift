import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSupabase
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

@testable import SwitchyardCLI

/// The checks of a Supabase project with tables alone.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct ConformanceTableTests {
    private static func json(_ supabase: LocalSupabase, tables: String = "[]") -> String {
        """
        {"default": "supabase", "clients": {"files": "none", "messaging": "none"}, "providers": {"supabase": {
          "url": "\(supabase.server.url)", "key": "\(supabase.anonKey)", "usesDocumentTable": false, "checkSeconds": 0.025,
          "realtime": {"mode": "off"}, "tables": \(tables)}}}
        """
    }

    private static func configuration(
        _ supabase: LocalSupabase, tables: String = "[]"
    ) throws -> InfrastructureConfiguration {
        try InfrastructureConfiguration(json: Data(json(supabase, tables: tables).utf8), environment: [:])
    }

    private static func run(_ sql: String, on supabase: LocalSupabase) async throws -> String? {
        let connection = try await supabase.database.connect()
        defer { connection.close() }
        return try await connection.run(script: sql).last?.text
    }

    private static let made: SideRun<Int, Void> = SideRun { try await withMadeTable() }

    @Test(.beside(made), .timeLimit(.minutes(5)))
    func `A missing table is reported with its statements, and with it the program checks and leaves nothing`()
        async throws
    {
        try await Self.made.value
    }

    private static func withMadeTable() async throws {
        let supabase = try await LocalSupabase.onSharedPostgres()
        let configuration = try Self.configuration(supabase)
        let error = await #expect(throws: InfrastructureError.self) { _ = try await ConfiguredHarness(configuration) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("“public.switchyard_conformance”") == true)
        #expect(error?.message.hasSuffix(ConformanceTable.sql) == true)

        _ = try await Self.run(ConformanceTable.sql, on: supabase)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tables-\(UInt64.random(in: 0 ... .max)).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(Self.json(supabase).utf8).write(to: file)
        let program = try ToolRun([
            "conformance", "--config", file.path, "--client", "storage", "--filter", "batches",
        ])
        #expect(try await program.status() == 0)
        try await program.prints("skipped without mixed batches: ")
        try await program.prints(" passed, 0 failed, ")
        #expect(try await Self.run("select count(*) from public.switchyard_conformance", on: supabase) == "0")

        let harness = try await ConfiguredHarness(configuration)
        #expect(harness.suites.map(\.service).contains(.storage))
        #expect(!harness.suites.map(\.service).contains(.domain))
        #expect(harness.remarks.count == 1)
        let report = await runConformance(harness.suites, filter: ["fields", "cursors", "aggregates"])
        #expect(report.failed == 0, "\(report.table)")
        #expect(report.passed > 25)
        await supabase.stop()
    }

    private static let mapped: SideRun<Int, Void> = SideRun { try await withMappedTable() }

    @Test(.beside(mapped), .timeLimit(.minutes(2)))
    func `A table that the file maps for the checks is used, with the fields that it has`() async throws {
        try await Self.mapped.value
    }

    private static func withMappedTable() async throws {
        let supabase = try await LocalSupabase.onSharedPostgres()
        _ = try await Self.run(
            """
            create table public.mine (
              owner text not null, id text not null, words text, n int8, primary key (owner, id));
            grant all on public.mine to authenticated;
            """, on: supabase)
        func tables(_ fields: String) -> String {
            #"[{"collection": "conformance/{owner}/items", "table": "mine", "fields": \#(fields)}]"#
        }
        let harness = try await ConfiguredHarness(
            Self.configuration(supabase, tables: tables(#"{"text": "words", "number": "n"}"#)))
        let report = await runConformance(harness.suites, filter: ["fields", "documents"])
        #expect(report.failed == 0, "\(report.table)")
        #expect(report.entries.contains { $0.detail == "without the field “flag”" })
        #expect(try await Self.run("select count(*) from public.mine", on: supabase) == "0")

        let wrong = try Self.configuration(supabase, tables: tables(#"{"text": "words"}"#))
        let error = await #expect(throws: InfrastructureError.self) { _ = try await ConfiguredHarness(wrong) }
        #expect(error?.message.contains("has no field “number”") == true)
        await supabase.stop()
    }

    @Test func `The statements are printed alone`() async throws {
        let program = try ToolRun(["conformance", "--sql"])
        #expect(try await program.status() == 0)
        try await program.prints("create table public.switchyard_conformance (")
        #expect(throws: UsageError.self) { try ConformanceCommand(["--sql", "--json"]) }
    }
}
