import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardConformance

/// `switchyard conformance`
struct ConformanceCommand: ToolCommand {
    static let clients = ConformanceService.allCases.map(\.rawValue)
    static let clientNames = clients.joined(separator: ", ")

    private let configuration: String?
    private let client: ConformanceService?
    private let filter: String?
    private let isJSON: Bool
    private let junit: String?
    private let html: String?
    /// Whether only the statements for the table of the storage checks are printed.
    private let isSQL: Bool

    init(_ words: [String]) throws(UsageError) {
        let options = try Options(words, of: Commands.named("conformance"))
        configuration = options["--config"]
        filter = options["--filter"]
        isJSON = options.has("--json")
        junit = options["--junit"]
        html = options["--html"]
        isSQL = options.has("--sql")
        guard !isSQL || words.count == 1 else { throw UsageError("“--sql” goes with no other option") }
        if let name = options["--client"] {
            guard let client = ConformanceService(rawValue: name) else {
                throw UsageError.unknown("client", name, among: Self.clients)
            }
            self.client = client
        } else {
            client = nil
        }
    }

    func run() async -> ExitStatus {
        if isSQL {
            Terminal.print(ConformanceTable.sql)
            return .success
        }
        // Before minutes of checks.
        for path in [junit, html].compactMap({ $0 }) {
            if let problem = ReportFile.problem(of: path) { return refused(problem) }
        }
        let suites: [ConformanceSuite]
        let cleanUp: () -> Void
        do throws(InfrastructureError) {
            (suites, cleanUp) = try await makeSuites()
        } catch {
            Terminal.error("switchyard conformance: \(error.message)")
            return .usage
        }
        defer { cleanUp() }
        let chosen = suites.filter { client == nil || $0.service == client }
        guard !chosen.isEmpty else {
            Terminal.error(
                "switchyard conformance: the configuration selects no provider for \(client?.rawValue ?? "any client")")
            return .usage
        }
        let bar = ProgressBar(.things("checks"))
        let report = await runConformance(chosen, filter: filter.map { [$0] } ?? []) { _ in bar.add() }
        bar.clear()
        guard !report.entries.isEmpty else {
            Terminal.error("switchyard conformance: the name of no check contains “\(filter ?? "")”")
            return .usage
        }
        Terminal.print(isJSON ? String(decoding: report.json, as: UTF8.self) : report.table)
        let name = configuration ?? "mock"
        for (path, text) in [(junit, JUnitReport.xml(report, name: name)), (html, HTMLReport.page(report, name: name))]
        {
            guard let path else { continue }
            if let problem = ReportFile.write(text, to: path) { return refused(problem) }
        }
        return report.failed == 0 ? .success : .failure
    }

    private func refused(_ problem: String) -> ExitStatus {
        Terminal.error("switchyard conformance: \(problem)")
        return .failure
    }

    /// The suites, and a closure that removes their data on this machine.
    private func makeSuites() async throws(InfrastructureError) -> ([ConformanceSuite], () -> Void) {
        guard let configuration else { return (MockHarness.suites, {}) }
        let file = URL(fileURLWithPath: configuration)
        let harness = try await ConfiguredHarness(InfrastructureConfiguration(contentsOf: file))
        for remark in harness.remarks { Terminal.error("switchyard conformance: \(remark)") }
        return (harness.suites, { harness.cleanUp() })
    }
}

/// A file that a command writes for others to read.
enum ReportFile {
    /// Why it could not be written, before there is something to write.
    static func problem(of path: String) -> String? {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard access(folder, W_OK) != 0 else { return nil }
        return Self.text(path, SystemFailure(errno))
    }

    /// - Returns: Why it failed.
    static func write(_ text: String, to path: String) -> String? {
        do throws(POSIXFile.Failure) {
            try POSIXFile.replace(path, with: Array(text.utf8), outlastsPowerCut: false)
        } catch {
            return Self.text(path, error)
        }
        // Unlike what clients keep, it is for everyone who may see the folder.
        chmod(path, 0o644)
        return nil
    }

    private static func text(_ path: String, _ reason: some CustomStringConvertible) -> String {
        "“\(path)” cannot be written: \(reason). Choose a folder that exists and may be written."
    }
}
