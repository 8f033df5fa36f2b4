// Declarations of xctest-dynamic-overlay 1.10.1, November 2026. Only type-checked.

public enum IssueSeverity: Sendable {
    case error, warning
}

public func reportIssue(
    _ message: @autoclosure () -> String? = nil, severity: IssueSeverity = .error, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) {}
