public import SwitchyardConformance
import Testing

/// Runs every check of `suites` as one test, with an issue for each check that fails.
///
/// ```swift
/// @Test func `Acme behaves as every provider`() async throws {
///     try await expectConformance(.storage(AcmeHarness()), .auth(AcmeHarness()))
/// }
/// ```
///
/// Checks that need what the provider does not declare are left out; they are in the report.
///
/// - Parameters:
///   - suites: What to run.
///   - filter: Runs only checks whose name, area or service contains one of these strings; all if empty.
///   - width: How many checks run at the same time.
///   - fileID: The file that failures are reported for; by default the caller's.
///   - filePath: The same file's path.
///   - line: The line that failures are reported for; by default the call's.
///   - column: The place in that line.
/// - Returns: All checks with their outcomes. It is printed, too.
/// - Throws: If no check was run, since that proves nothing.
@discardableResult
public func expectConformance(
    _ suites: ConformanceSuite..., filter: [String] = [], width: Int = 4, fileID: String = #fileID,
    filePath: String = #filePath, line: Int = #line, column: Int = #column
) async throws -> ConformanceReport {
    let location = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let report = await runConformance(suites, filter: filter, width: width)
    for entry in report.entries where entry.outcome == .failed {
        Issue.record(
            "\(entry.service.rawValue), \(entry.area): \(entry.name): \(entry.detail ?? "failed")",
            sourceLocation: location)
    }
    print(report.summary)
    guard report.passed + report.failed > 0 else { throw NothingChecked(filter: filter) }
    return report
}

struct NothingChecked: Error, CustomStringConvertible {
    let filter: [String]

    var description: String {
        filter.isEmpty
            ? "No check was run: the provider declares nothing that any of them needs."
            : "No check has one of these in its name, area or service: \(filter.joined(separator: ", "))."
    }
}
