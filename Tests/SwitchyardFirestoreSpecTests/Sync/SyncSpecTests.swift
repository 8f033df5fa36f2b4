import Foundation
import SwitchyardBytes
import SwitchyardTestSupport
import Testing

@Suite(.serialized)
struct SyncSpecTests {
    @Test(.enabled(if: SpecData.folder != nil, Comment(rawValue: SpecData.absence)))
    func `The engine passes the scenarios of offline synchronisation`() async throws {
        let report = try await onOwnThread { try SyncSpecReport.run() }
        print(report.text)
        for failure in report.failures { Issue.record(Comment(rawValue: failure)) }
        #expect(report.passed > 0)
    }
}

/// Runs every scenario there is, in each configuration that its tags allow, and counts by stage.
struct SyncSpecReport {
    private(set) var passed = 0
    private(set) var failures: [String] = []
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
        let run = "\(configuration.rawValue) \(name)"
        let key = "\(stage) \(configuration.rawValue)"
        counts[key, default: (0, 0)].all += 1
        do {
            try Self.checkTags(of: scenario)
            try SpecRunner.run(scenario, configuration)
            passed += 1
            counts[key]!.passed += 1
            lines.append("ok   \(configuration.rawValue) \(name)")
        } catch {
            failures.append("\(run): \(error)")
            lines.append("FAIL \(run): \(error)")
        }
    }

    /// Why a scenario of some tag does not apply to a configuration.
    private static func exclusions(_ configuration: SpecWorld.Configuration) -> [String: String] {
        var reasons = [
            "multi-client": "several clients over one store, as browser tabs are; here a store belongs to one client",
            "benchmark": "about speed only, which `switchyard-bench` measures",
        ]
        switch configuration {
        case .memory: reasons["durable-persistence"] = "needs a store that outlives its client"
        case .sqlite: reasons["eager-gc"] = "says what eager collection does, and a file is collected by age"
        }
        return reasons
    }

    /// Tags that exclude nothing here: what single platforms leave out, and hints for other runners.
    private static let harmless = ["no-ios", "no-android", "no-web", "no-pipeline-conversion", "exclusive"]

    /// Why a scenario does not apply, if it does not.
    private static func reason(toSkip scenario: JSON, _ configuration: SpecWorld.Configuration) -> String? {
        let exclusions = exclusions(configuration)
        let tags = scenario["tags"]?.array?.compactMap(\.string) ?? []
        if let tag = tags.first(where: { exclusions[$0] != nil }) { return "\(tag): \(exclusions[tag]!)" }
        if scenario["config"]?["numClients"]?.int ?? 1 > 1 { return "multi-client: \(exclusions["multi-client"]!)" }
        let asksForIndexes = scenario["steps"]?.array?.contains { $0["expectedState"]?["indexes"] != nil } ?? false
        return asksForIndexes ? "indexes: asks for indexes that an app declares, which this engine does not have" : nil
    }

    /// A tag that the format does not know: no one can say what it asks for.
    private static func checkTags(of scenario: JSON) throws {
        let known = harmless + SpecWorld.Configuration.allCases.flatMap { exclusions($0).keys }
        for tag in scenario["tags"]?.array?.compactMap(\.string) ?? [] where !known.contains(tag) {
            throw SpecFailure("unknown tag \(tag)")
        }
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
        let all = passed + failures.count + skipped
        let last = "spec: \(passed) passed, \(failures.count) failed, \(skipped) skipped of \(all)"
        return (lines + stages + [last]).joined(separator: "\n")
    }
}
