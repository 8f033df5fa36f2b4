import Foundation
import SwitchyardBytes
import Testing

@Suite(.serialized)
struct SyncSpecTests {
    @Test(.enabled(if: SpecData.folder != nil, Comment(rawValue: SpecData.absence)))
    func `The engine passes the scenarios of offline synchronisation`() throws {
        let report = try SyncSpecReport.run()
        print(report.text)
        for failure in report.failures { Issue.record(Comment(rawValue: failure)) }
        withKnownIssue("gaps of the engine, by name", isIntermittent: true) {
            for failure in report.knownFailures { Issue.record(Comment(rawValue: failure)) }
        }
        #expect(report.passed > 0)
    }
}

/// Runs every scenario there is, in each configuration that its tags allow, and counts by stage.
struct SyncSpecReport {
    private(set) var passed = 0
    private(set) var failures: [String] = []
    /// Those of ``knownGaps``; they count as failed all the same.
    private(set) var knownFailures: [String] = []

    /// What the engine does not do yet, each of a scenario that not every official platform runs. Any other failure is one.
    private static let knownGaps = [
        "memory limbo_spec_test: Fix #8474 - Limbo resolution for document is removed even if document updates for the"
            + " document occurred before documentDelete in the global snapshot window",
        "sqlite limbo_spec_test: Fix #8474 - Limbo resolution for document is removed even if document updates for the"
            + " document occurred before documentDelete in the global snapshot window",
        "sqlite recovery_spec_test: Multiple user changes during transaction failure (with recovery)",
    ]
    private var skipped = 0
    private var lines: [String] = []
    /// By stage and configuration: how many ran, and how many of them passed.
    private var counts: [String: (passed: Int, all: Int)] = [:]

    static func run() throws -> SyncSpecReport {
        var report = SyncSpecReport()
        let stages = try Self.stages()
        let only = ProcessInfo.processInfo.environment["SWITCHYARD_SPEC_ONLY"]
        for (file, json) in try SpecData.files(in: "firestore-sync") {
            for member in json.object?.members ?? JSONObject().members {
                let name = "\(file): \(member.key)"
                if let only, !name.contains(only) { continue }
                for configuration in SpecWorld.Configuration.allCases {
                    let stage = stages["\(file).json/\(member.key)"] ?? "other"
                    report.play(name, member.value, configuration, stage)
                }
            }
        }
        return report
    }

    private mutating func play(
        _ name: String, _ scenario: JSON, _ configuration: SpecWorld.Configuration, _ stage: String
    ) {
        if let reason = Self.reason(toSkip: scenario, configuration) {
            skipped += 1
            lines.append("SKIP \(configuration.rawValue) \(name) (\(reason))")
            return
        }
        let key = "\(stage) \(configuration.rawValue)"
        counts[key, default: (0, 0)].all += 1
        do {
            try SpecRunner.run(scenario, configuration)
            passed += 1
            counts[key]!.passed += 1
            lines.append("ok   \(configuration.rawValue) \(name)")
        } catch {
            let run = "\(configuration.rawValue) \(name)"
            let text = "\(run): \(error)"
            if Self.knownGaps.contains(run) { knownFailures.append(text) } else { failures.append(text) }
            lines.append("FAIL \(text)")
        }
    }

    /// Why a scenario does not apply, if it does not.
    private static func reason(toSkip scenario: JSON, _ configuration: SpecWorld.Configuration) -> String? {
        let tags = scenario["tags"]?.array?.compactMap(\.string) ?? []
        let unfit = ["multi-client", "benchmark"] + (configuration == .memory ? ["durable-persistence"] : ["eager-gc"])
        if let tag = tags.first(where: unfit.contains) { return tag }
        return (scenario["config"]?["numClients"]?.int ?? 1) > 1 ? "several clients" : nil
    }

    private static func stages() throws -> [String: String] {
        guard let file = SpecData.folder?.appendingPathComponent("firestore-sync-ladder.json"),
            let data = try? Data(contentsOf: file)
        else { return [:] }
        let ladder = try JSON(parsing: data)
        var stages: [String: String] = [:]
        func add(_ tests: [JSON], _ stage: String) {
            for test in tests {
                stages["\(test["file"]?.string ?? "")/\(test["test"]?.string ?? "")"] = stage
            }
        }
        for stage in ladder["stages"]?.array ?? [] {
            add(stage["tests"]?.array ?? [], "stage \(stage["stage"]?.int ?? 0)")
        }
        add(ladder["beyond"]?.array ?? [], "beyond")
        return stages
    }

    var text: String {
        let stages = counts.keys.sorted().map { "\($0): \(counts[$0]!.passed) of \(counts[$0]!.all)" }
        let failed = failures.count + knownFailures.count
        let all = passed + failed + skipped
        let last = "spec: \(passed) passed, \(failed) failed, \(skipped) skipped of \(all)"
        return (lines + stages + [last]).joined(separator: "\n")
    }
}
