import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardMockHarness

/// `switchyard conformance`
struct ConformanceCommand {
    static let clientNames = ConformanceService.allCases.map(\.rawValue).joined(separator: ", ")

    private let configuration: String?
    private let client: ConformanceService?
    private let filter: String?
    private let isJSON: Bool

    init(_ words: [String]) throws(UsageError) {
        let options = try Options(words, values: ["--config", "--client", "--filter"], switches: ["--json"])
        configuration = options["--config"]
        filter = options["--filter"]
        isJSON = options.has("--json")
        if let name = options["--client"] {
            guard let client = ConformanceService(rawValue: name) else {
                throw UsageError("there is no client “\(name)”; there are \(Self.clientNames)")
            }
            self.client = client
        } else {
            client = nil
        }
    }

    func run() async -> ExitStatus {
        let suites: [ConformanceSuite]
        do throws(InfrastructureError) {
            if let configuration {
                suites = try await ConfiguredHarness(file: configuration).suites
            } else {
                suites = MockHarness.suites
            }
        } catch {
            Terminal.error("switchyard conformance: \(error.message)")
            return .usage
        }
        let chosen = suites.filter { client == nil || $0.service == client }
        guard !chosen.isEmpty else {
            Terminal.error("switchyard conformance: the configuration has no client to check")
            return .usage
        }
        let report = await runConformance(chosen, filter: filter.map { [$0] } ?? [])
        guard !report.entries.isEmpty else {
            Terminal.error("switchyard conformance: no check has “\(filter ?? "")” in its name")
            return .usage
        }
        Terminal.print(isJSON ? String(decoding: report.json, as: UTF8.self) : report.table)
        return report.failed == 0 ? .success : .failure
    }
}
