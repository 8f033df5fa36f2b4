import Switchyard

/// What a check expected of a client, and what it found instead.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    public let expectation: String
    public let found: String
    /// Where in the suite.
    public let file: String
    public let line: Int

    public init(expectation: String, found: String, file: String = #fileID, line: Int = #line) {
        self.expectation = expectation
        self.found = found
        self.file = file
        self.line = line
    }

    public var description: String { "expected: \(expectation); found: \(found) (\(file):\(line))" }
}
