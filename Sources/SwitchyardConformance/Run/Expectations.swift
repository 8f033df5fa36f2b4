import Foundation
import Switchyard
import SwitchyardBytes

func expect(
    _ condition: Bool, _ expectation: String, found: @autoclosure () -> String, file: String = #fileID,
    line: Int = #line
) throws(ConformanceFailure) {
    guard condition else {
        throw ConformanceFailure(expectation: expectation, found: found(), file: file, line: line)
    }
}

func expectEqual<Value: Equatable>(
    _ found: Value, _ expected: Value, _ what: String, file: String = #fileID, line: Int = #line
) throws(ConformanceFailure) {
    try expect(
        found == expected, "\(what) is \(Readable.text(expected))", found: Readable.text(found), file: file, line: line)
}

func expectValue<Value>(
    _ found: Value?, _ what: String, file: String = #fileID, line: Int = #line
) throws(ConformanceFailure) -> Value {
    guard let found else {
        throw ConformanceFailure(expectation: "there is \(what)", found: "nothing", file: file, line: line)
    }
    return found
}

/// Expects `body` to fail with one of `codes`, with a helpful message that reveals no contents.
@discardableResult
func expectFailure<Failure: ClientError, Value>(
    _ codes: [ErrorCode], as type: Failure.Type, _ what: String, file: String = #fileID, line: Int = #line,
    _ body: () async throws -> Value
) async throws -> Failure {
    let expectation = "\(what) fails with \(codes.map(\.rawValue).joined(separator: " or "))"
    do {
        _ = try await body()
    } catch let failure as Failure {
        try expect(codes.contains(failure.code), expectation, found: failure.description, file: file, line: line)
        try expect(
            !failure.message.isEmpty, "the error has a text for people", found: "an empty one", file: file, line: line)
        return failure
    } catch let failure as ConformanceFailure {
        throw failure
    } catch {
        throw ConformanceFailure(expectation: expectation, found: Readable.text(error), file: file, line: line)
    }
    throw ConformanceFailure(expectation: expectation, found: "success", file: file, line: line)
}

/// Expects the refusal of an operation that is not declared: it names the client, the provider, and what to do instead.
func expectRefusal<Failure: ClientError, Value>(
    _ code: ErrorCode, as type: Failure.Type, of client: String, by provider: InfrastructureProvider,
    _ what: String, file: String = #fileID, line: Int = #line, _ body: () async throws -> Value
) async throws {
    let failure = try await expectFailure([code], as: type, what, file: file, line: line, body)
    let sentences = failure.message.split(separator: ".").count { $0.contains { $0.isLetter } }
    try expect(
        failure.message.includes(client) && failure.message.includes(provider.rawValue) && sentences >= 2,
        "the refusal names “\(client)”, “\(provider)” and the alternative", found: failure.message, file: file,
        line: line)
    try expect(
        !failure.isRetryable, "a refusal is not worth a retry", found: "isRetryable", file: file, line: line)
}

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

/// Values as text. The library's own descriptions hide contents; a check's contents are made up, so they may be shown.
enum Readable {
    static func text(_ value: Any?) -> String {
        switch value {
        case nil: return "nothing"
        case let value as DocumentValue: return text(of: value)
        case let data as DocumentData: return text(of: data)
        case let snapshot as DocumentSnapshot:
            return "\(snapshot.id): \(snapshot.data.map { text(of: $0) } ?? "missing")"
        case let snapshot as QuerySnapshot:
            return "[" + snapshot.documents.map(\.id).joined(separator: ", ") + "]"
                + (snapshot.metadata.isFromCache ? " from cache" : "")
        case let text as String: return "“\(text)”"
        case let error as any ClientError:
            let cause = error.underlying.map { " [\(type(of: $0)): \($0)]" } ?? ""
            return error.description + cause
        case let list as [Any]: return "[" + list.map { text($0) }.joined(separator: ", ") + "]"
        case let value?:
            let mirror = Mirror(reflecting: value)
            guard mirror.displayStyle == .optional else { return String(describing: value) }
            return mirror.children.first.map { text($0.value) } ?? "nothing"
        }
    }

    private static func text(of data: DocumentData) -> String {
        "{" + data.map { "\($0.name): \(text(of: $0.value))" }.joined(separator: ", ") + "}"
    }

    private static func text(of value: DocumentValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .double(let value): "double \(value)"
        case .timestamp(let value): "time \(value.seconds) s + \(value.nanoseconds) ns"
        case .string(let value): shortened(value)
        case .bytes(let value): "\(value.count) bytes"
        case .reference(let value): "reference \(value.path)"
        case .geoPoint(let value): "place \(value.latitude), \(value.longitude)"
        case .array(let value): "[" + value.map { text(of: $0) }.joined(separator: ", ") + "]"
        case .vector(let value): "vector \(value)"
        case .map(let value): text(of: value)
        }
    }

    private static func shortened(_ text: String) -> String {
        text.utf8.count <= 80 ? "“\(text)”" : "“\(text.prefix(40))…” (\(text.utf8.count) bytes)"
    }
}
