import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

@testable import SwitchyardCLI

/// The checks of a configuration, run on the mock as on any provider.
@Suite struct ConfiguredHarnessTests {
    private static func report(_ json: String, filter: [String] = []) async throws -> ConformanceReport {
        let configuration = try InfrastructureConfiguration(json: Data(json.utf8), environment: [:])
        return await runConformance(try await ConfiguredHarness(configuration).suites, filter: filter)
    }

    /// What a run checks that is not full.
    private static let parts = [
        "documents", "passwords", "phone", "contents", "messaging", "check-ins", "making", "moving",
    ]
    private static let mockRun: SideRun<Int, ConformanceReport> = SideRun {
        try await report(
            #"{"default": "mock", "providers": {"mock": {"latencyMilliseconds": 0}}}"#,
            filter: RunSize.full([], part: parts))
    }

    @Test(.beside(mockRun))
    func `Every client of a configuration is checked, and what needs the world outside is skipped`() async throws {
        let report = try await Self.mockRun.value
        #expect(report.failed == 0, "\(report.entries.filter { $0.outcome == .failed })")
        for service in ConformanceService.allCases {
            let passed = report.entries.count { $0.service == service && $0.outcome == .passed }
            let least: [ConformanceService: Int] = [
                .storage: 150, .auth: 45, .files: 35, .messaging: 10, .domain: 30, .admin: 100,
                .switching: 10,
            ]
            #expect(passed >= (RunSize.isFull ? least[service] ?? 1 : 1), "\(service): \(passed)")
        }
        let skipped = report.entries.filter { $0.outcome == .skipped }
        #expect(skipped.contains { $0.service == .auth && $0.detail == "without phone codes" })
        #expect(skipped.contains { $0.service == .messaging && $0.detail == "without somebody who sends" })
    }

    @Test func `A mock's folder is the one that is used, and said to be wrong`() async throws {
        let wrong = try InfrastructureConfiguration(
            json: Data(#"{"default": "mock", "providers": {"mock": {"folder": "/proc/self/x"}}}"#.utf8),
            environment: [:])
        let error = await #expect(throws: InfrastructureError.self) { _ = try await ConfiguredHarness(wrong) }
        #expect(error?.code == .localStore)

        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "cli-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: folder) }
        let report = try await Self.report(
            #"{"default": "mock", "providers": {"mock": {"folder": "\#(folder.path)"}}}"#,
            filter: ["documents", "passwords"])
        #expect(report.failed == 0 && report.passed > 20, "\(report.table)")
        #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent("documents.json").path))
        #expect(report.table.hasSuffix(report.summary))
    }

    @Test func `A client that is left out is not checked`() async throws {
        let configuration = try InfrastructureConfiguration(
            json: Data(#"{"default": "mock", "clients": {"files": "none", "messaging": "none"}}"#.utf8),
            environment: [:])
        let suites = try await ConfiguredHarness(configuration).suites
        #expect(suites.map(\.service) == [.storage, .auth, .domain, .admin, .switching])
        let report = await runConformance(suites, filter: ["domain"])
        #expect(report.failed == 0 && report.passed > 20, "\(report.table)")
        #expect(report.entries.contains { $0.detail == "without files" })
    }

    @Test func `A project that asks for addresses to be confirmed is reported before any check runs`() async throws {
        let configuration = try InfrastructureConfiguration(
            json: Data(#"{"default": "mock", "providers": {"mock": {"asksForConfirmation": true}}}"#.utf8),
            environment: [:])
        let error = await #expect(throws: InfrastructureError.self) { _ = try await ConfiguredHarness(configuration) }
        #expect(error?.code == .unsupported && error?.message.contains("confirmed") == true)
    }

    @Test(.timeLimit(.minutes(3)))
    func `With a state folder sessions and uploads are checked across restarts, and nothing is left in it`()
        async throws
    {
        let firebase = try LocalFirebase(LocalFirebaseOptions())
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "cli-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: folder) }
        let configuration = try InfrastructureConfiguration(
            json: Data(
                """
                {"default": "firebase", "clients": {"messaging": "none"}, "stateFolder": "\(folder.path)",
                 "providers": {"firebase": {
                    "project": "\(firebase.project)", "apiKey": "key", "bucket": "demo.appspot.com",
                    "emulators": {"auth": "\(firebase.host)", "firestore": "\(firebase.host)", "storage": "\(firebase.host)"}
                }}}
                """.utf8), environment: [:])
        let harness = try await ConfiguredHarness(configuration)
        let report = await runConformance(harness.suites, filter: ["transfers", "states"])
        #expect(report.failed == 0, "\(report.entries.filter { $0.outcome == .failed })")
        for name in ["an upload that was cut off goes on after a restart", "a session outlasts its client"] {
            #expect(report.entries.contains { $0.name == name && $0.outcome == .passed }, "\(name)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
        harness.cleanUp()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        await firebase.stop()
    }

    private static let firebaseRun: SideRun<Int, ConformanceReport> = SideRun {
        var options = LocalFirebaseOptions()
        options.allowsEverything = true
        let firebase = try LocalFirebase(options)
        let report = try await ConfiguredHarnessTests.report(
            """
            {"default": "firebase", "clients": {"messaging": "none"}, "providers": {"firebase": {
                "project": "\(firebase.project)", "apiKey": "key", "bucket": "demo.appspot.com", "writeLedger": "ledger",
                "emulators": {"auth": "\(firebase.host)", "firestore": "\(firebase.host)", "storage": "\(firebase.host)"}
            }}}
            """, filter: ["documents", "passwords", "content", "check-ins", "sessions"])
        await firebase.stop()
        return report
    }

    @Test(.beside(firebaseRun), .timeLimit(.minutes(2)))
    func `A configuration of Firebase is checked on the servers that it names`() async throws {
        let report = try await Self.firebaseRun.value
        #expect(report.failed == 0, "\(report.entries.filter { $0.outcome == .failed })")
        for service in [ConformanceService.storage, .auth, .files, .domain] {
            #expect(report.entries.contains { $0.service == service && $0.outcome == .passed }, "\(service)")
        }
    }
}
