package import SwitchyardConformance
import SwitchyardTestSupport
package import Testing

/// The checks of one service on one backend, done beside other tests and counted.
///
/// ```swift
/// static let run = ConformanceRun("acme storage", StorageConformance.all, for: features) { AcmeHarness() }
///
/// @Test(.beside(run), arguments: run.checks)
/// func storage(_ check: StorageCheck) async throws { try await Self.run.outcome(of: check) }
/// ```
package struct ConformanceRun<Harness: Sendable, Features: Sendable>: Sendable {
    /// Those that make sense for the backend.
    package let checks: [ConformanceCheck<Harness, Features>]
    fileprivate let run: SideRun<String, Void>

    /// - Parameters:
    ///   - name: What the closing line calls it.
    ///   - part: Only every `part`th check is done in a run that is not full: where others check the same code whole.
    ///   - width: How many checks may run at once: one where they disturb each other.
    ///   - run: Makes a harness, runs the check, and cleans up.
    package init(
        _ name: String, _ all: [ConformanceCheck<Harness, Features>], for features: Features, part: Int = 1,
        width: Int = .max,
        run: @escaping @Sendable (_ check: @escaping @Sendable (Harness) async throws -> Void) async throws -> Void
    ) {
        let checks = RunSize.part(of: all.filter { $0.missing(in: features).isEmpty }, every: part, for: name)
        let tally = ConformanceTally(name, checks + all.filter { !$0.missing(in: features).isEmpty }, for: features)
        let named = Dictionary(checks.map { ($0.name, $0) }) { first, _ in first }
        self.checks = checks
        self.run = SideRun(checks.map(\.name), width: width) { name in
            guard let check = named[name] else { throw UnknownPiece(name: name) }
            try await run { harness in try await tally.run(check, on: harness) }
        }
    }

    package init(
        _ name: String, _ all: [ConformanceCheck<Harness, Features>], for features: Features, part: Int = 1,
        width: Int = .max,
        on harness: @escaping @Sendable () async throws -> Harness
    ) {
        self.init(name, all, for: features, part: part, width: width) { check in try await check(try await harness()) }
    }

    package func outcome(of check: ConformanceCheck<Harness, Features>) async throws {
        try await run.value(of: check.name)
    }
}

extension Trait where Self == SideRunTrait {
    package static func beside<Harness, Features>(_ run: ConformanceRun<Harness, Features>) -> SideRunTrait {
        .beside(run.run)
    }
}
