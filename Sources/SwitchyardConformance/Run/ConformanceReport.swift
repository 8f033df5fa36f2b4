public import Foundation

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
        public let milliseconds: Double

        public init(
            service: ConformanceService, area: String, name: String, outcome: Outcome, detail: String? = nil,
            milliseconds: Double = 0
        ) {
            self.service = service
            self.area = area
            self.name = name
            self.outcome = outcome
            self.detail = detail
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
                lines.append("  skipped \(reason): \(skipped.count)")
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
