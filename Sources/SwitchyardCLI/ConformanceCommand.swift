import Foundation
import Switchyard
import SwitchyardConformance

/// `switchyard conformance`
struct ConformanceCommand {
    static let clientNames = ConformanceService.allCases.map(\.rawValue).joined(separator: ", ")

    private let configuration: String?
    private let client: ConformanceService?
    private let filter: String?
    private let isJSON: Bool
    /// Whether only the statements for the table of the storage checks are printed.
    private let isSQL: Bool

    init(_ words: [String]) throws(UsageError) {
        let options = try Options(words, values: ["--config", "--client", "--filter"], switches: ["--json", "--sql"])
        configuration = options["--config"]
        filter = options["--filter"]
        isJSON = options.has("--json")
        isSQL = options.has("--sql")
        guard !isSQL || words.count == 1 else { throw UsageError("“--sql” goes with no other option") }
        if let name = options["--client"] {
            guard let client = ConformanceService(rawValue: name) else {
                throw UsageError.unknown("client", name, among: ConformanceService.allCases.map(\.rawValue))
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
        let report = await runConformance(chosen, filter: filter.map { [$0] } ?? [])
        guard !report.entries.isEmpty else {
            Terminal.error("switchyard conformance: the name of no check contains “\(filter ?? "")”")
            return .usage
        }
        Terminal.print(isJSON ? String(decoding: report.json, as: UTF8.self) : report.table)
        return report.failed == 0 ? .success : .failure
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
