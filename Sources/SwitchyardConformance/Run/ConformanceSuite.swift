public import Foundation
import SwitchyardBytes
import Synchronization

/// All checks of one service, with the harness to run them on.
public struct ConformanceSuite: Sendable {
    public let service: ConformanceService
    let checks: [Item]

    struct Item: Sendable {
        let area: String
        let name: String
        /// What the provider lacks for it; empty if the check applies.
        let missing: [String]
        /// What would enable it, one for each that is missing.
        let remedies: [String]
        let isRefusal: Bool
        let run: @Sendable () async throws -> Void
    }

    init<Harness, Features>(
        _ service: ConformanceService, _ checks: [ConformanceCheck<Harness, Features>], on harness: Harness,
        features: Features
    ) {
        self.service = service
        self.checks = checks.map { check in
            let unmet = check.unmet(in: features)
            return Item(
                area: check.area, name: check.name, missing: unmet.map(\.name), remedies: unmet.map(\.remedy),
                isRefusal: check.requirements.contains(where: \.isAbsence), run: { try await check.run(on: harness) })
        }
    }

    public static func storage(_ harness: any StorageHarness) -> ConformanceSuite {
        ConformanceSuite(.storage, StorageConformance.all, on: harness, features: harness.features)
    }
    public static func auth(_ harness: any AuthHarness) -> ConformanceSuite {
        ConformanceSuite(.auth, AuthConformance.all, on: harness, features: harness.features)
    }
    public static func files(_ harness: any FileHarness) -> ConformanceSuite {
        ConformanceSuite(.files, FileConformance.all, on: harness, features: harness.features)
    }
    public static func messaging(_ harness: any MessagingHarness) -> ConformanceSuite {
        ConformanceSuite(.messaging, MessagingConformance.all, on: harness, features: harness.features)
    }
    public static func domain(_ harness: any DomainHarness) -> ConformanceSuite {
        ConformanceSuite(.domain, DomainConformance.all, on: harness, features: harness.features)
    }
    public static func admin(_ harness: any AdminHarness) -> ConformanceSuite {
        ConformanceSuite(.admin, AdminConformance.all, on: harness, features: harness.features)
    }
    public static func switching(_ harness: any SwitchingHarness) -> ConformanceSuite {
        ConformanceSuite(.switching, SwitchingConformance.all, on: harness, features: harness.features)
    }
}

/// Runs every check of `suites` and returns a report. Needs no test framework.
///
/// ```swift
/// let report = await runConformance([.storage(AcmeHarness())]) { print($0.outcome, $0.name) }
/// print(report.table)
/// ```
///
/// - Parameters:
///   - suites: What to run, in the order of the report.
///   - filter: Runs only checks whose name, area or service contains one of these strings; all if empty.
///   - width: How many checks run at the same time.
///   - progress: Called after each check, in the order in which they end.
public func runConformance(
    _ suites: [ConformanceSuite], filter: [String] = [], width: Int = 4,
    progress: @escaping @Sendable (ConformanceReport.Entry) -> Void = { _ in }
) async -> ConformanceReport {
    let chosen = suites.flatMap { suite in
        suite.checks.filter { item in
            filter.isEmpty
                || filter.contains { item.name.includes($0) || item.area.includes($0) || suite.service.rawValue == $0 }
        }.map { (suite.service, $0) }
    }
    // If a capability is declared, there is no refusal to check; that does not count as skipped.
    .filter { $0.1.missing.isEmpty || !$0.1.isRefusal }
    return await withTaskGroup(of: (Int, ConformanceReport.Entry).self) { group in
        var waiting = chosen.enumerated().makeIterator()
        var entries: [Int: ConformanceReport.Entry] = [:]
        func startNext() {
            guard let (index, (service, item)) = waiting.next() else { return }
            group.addTask { (index, await outcome(of: item, service)) }
        }
        for _ in 0..<max(1, width) { startNext() }
        while let (index, entry) = await group.next() {
            entries[index] = entry
            progress(entry)
            startNext()
        }
        return ConformanceReport(chosen.indices.compactMap { entries[$0] })
    }
}

private func outcome(of item: ConformanceSuite.Item, _ service: ConformanceService) async -> ConformanceReport.Entry {
    func entry(
        _ outcome: ConformanceReport.Outcome, _ detail: String?, _ time: Duration, remedy: String? = nil
    ) -> ConformanceReport.Entry {
        let (seconds, fraction) = time.components
        return ConformanceReport.Entry(
            service: service, area: item.area, name: item.name, outcome: outcome, detail: detail, remedy: remedy,
            milliseconds: (Double(seconds) * 1000 + Double(fraction) / 1e15).rounded())
    }
    guard item.missing.isEmpty else {
        var remedies: [String] = []
        for remedy in item.remedies where !remedies.contains(remedy) { remedies.append(remedy) }
        return entry(
            .skipped, "without " + item.missing.joined(separator: ", "), .zero,
            remedy: remedies.joined(separator: ", and "))
    }
    let clock = ContinuousClock()
    let start = clock.now
    do {
        try await item.run()
        return entry(.passed, nil, clock.now - start)
    } catch {
        return entry(.failed, "\(error)", clock.now - start)
    }
}

/// Counts checks that a test framework runs one by one, and prints `NAME: N passed, N failed, N skipped` after the last.
///
/// Frameworks count a test with a hundred arguments once, and skipped ones not at all.
///
/// ```swift
/// static let tally = ConformanceTally("acme storage", StorageConformance.all, for: harness.features)
///
/// @Test(arguments: StorageConformance.checks(for: harness.features))
/// func storage(_ check: StorageCheck) async throws { try await Self.tally.run(check, on: Self.harness) }
/// ```
public final class ConformanceTally: Sendable {
    private struct Counts {
        var passed = 0
        var failed = 0
    }

    public let name: String
    private let expected: Int
    private let skipped: Int
    private let counts = Mutex(Counts())

    public init<Harness, Features>(
        _ name: String, _ checks: [ConformanceCheck<Harness, Features>], for features: Features
    ) {
        self.name = name
        expected = checks.applicable(to: features).count
        skipped = checks.leftOut(for: features).count
    }

    public func run<Harness, Features>(
        _ check: ConformanceCheck<Harness, Features>, on harness: Harness
    ) async throws {
        do {
            try await check.run(on: harness)
            note(passed: true)
        } catch {
            note(passed: false)
            throw error
        }
    }

    private func note(passed: Bool) {
        let line = counts.withLock { counts -> String? in
            if passed { counts.passed += 1 } else { counts.failed += 1 }
            guard counts.passed + counts.failed == expected else { return nil }
            return "\(name): \(counts.passed) passed, \(counts.failed) failed, \(skipped) skipped"
        }
        if let line { print(line) }
    }
}

/// The result of a run: every check by name, and the number that passed.
public struct ConformanceReport: Sendable, Hashable, Codable {
    public enum Outcome: String, Sendable, Hashable, Codable {
        case passed, failed
        /// Left out, because the provider does not declare what the check needs.
        case skipped
    }

    public struct Entry: Sendable, Hashable, Codable {
        public let service: ConformanceService
        public let area: String
        public let name: String
        public let outcome: Outcome
        /// The expected and actual result, or what the provider lacks.
        public let detail: String?
        /// Of a skipped check, what would enable it.
        public let remedy: String?
        public let milliseconds: Double

        public init(
            service: ConformanceService, area: String, name: String, outcome: Outcome, detail: String? = nil,
            remedy: String? = nil, milliseconds: Double = 0
        ) {
            self.service = service
            self.area = area
            self.name = name
            self.outcome = outcome
            self.detail = detail
            self.remedy = remedy
            self.milliseconds = milliseconds
        }
    }

    /// In the order of the suites.
    public let entries: [Entry]

    public init(_ entries: [Entry]) { self.entries = entries }

    public var passed: Int { entries.count { $0.outcome == .passed } }
    public var failed: Int { entries.count { $0.outcome == .failed } }
    public var skipped: Int { entries.count { $0.outcome == .skipped } }

    /// `"N passed, N failed, N skipped"`.
    public var summary: String { "\(passed) passed, \(failed) failed, \(skipped) skipped" }
}

extension ConformanceReport {
    /// A readable report: one line for each area and each reason to skip, then every failure, then ``summary``.
    public var table: String {
        var lines: [String] = []
        for service in ConformanceService.allCases {
            let own = entries.filter { $0.service == service }
            guard !own.isEmpty else { continue }
            lines.append(service.rawValue)
            var areas: [String] = []
            for entry in own where !areas.contains(entry.area) { areas.append(entry.area) }
            for area in areas {
                let part = ConformanceReport(own.filter { $0.area == area })
                lines.append("  " + area.padded(to: 24) + part.summary)
            }
            let reasons = Dictionary(grouping: own.filter { $0.outcome == .skipped }, by: { $0.detail ?? "" })
            for (reason, skipped) in reasons.sorted(by: { $0.key < $1.key }) {
                let remedy = skipped.first?.remedy.map { ", needs \($0)" } ?? ""
                lines.append("  skipped \(reason): \(skipped.count)\(remedy)")
            }
        }
        for entry in entries where entry.outcome == .failed {
            lines.append("FAILED \(entry.service): \(entry.name)")
            lines.append("       \(entry.detail ?? "")")
        }
        return (lines + [summary]).joined(separator: "\n")
    }

    /// A machine-readable report: the counts, and every check with its outcome.
    public var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let contents = Contents(passed: passed, failed: failed, skipped: skipped, checks: entries)
        // Only text and numbers, so encoding cannot fail.
        return (try? encoder.encode(contents)) ?? Data()
    }

    private struct Contents: Encodable {
        let passed: Int
        let failed: Int
        let skipped: Int
        let checks: [Entry]
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
