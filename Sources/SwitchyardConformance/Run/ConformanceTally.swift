import Synchronization

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
