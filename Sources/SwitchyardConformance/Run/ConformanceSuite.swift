/// All checks of one service, with the harness to run them on.
public struct ConformanceSuite: Sendable {
    public let service: ConformanceService
    let checks: [Item]

    struct Item: Sendable {
        let area: String
        let name: String
        /// What the provider lacks for it; empty if the check applies.
        let missing: [String]
        let isRefusal: Bool
        let run: @Sendable () async throws -> Void
    }

    init<Harness, Features>(
        _ service: ConformanceService, _ checks: [ConformanceCheck<Harness, Features>], on harness: Harness,
        features: Features
    ) {
        self.service = service
        self.checks = checks.map { check in
            Item(
                area: check.area, name: check.name, missing: check.missing(in: features),
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
                || filter.contains { item.name.contains($0) || item.area.contains($0) || suite.service.rawValue == $0 }
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
    func entry(_ outcome: ConformanceReport.Outcome, _ detail: String?, _ time: Duration) -> ConformanceReport.Entry {
        let (seconds, fraction) = time.components
        return ConformanceReport.Entry(
            service: service, area: item.area, name: item.name, outcome: outcome, detail: detail,
            milliseconds: (Double(seconds) * 1000 + Double(fraction) / 1e15).rounded())
    }
    guard item.missing.isEmpty else {
        return entry(.skipped, "without " + item.missing.joined(separator: ", "), .zero)
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
