import Switchyard

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
        failure.message.contains(client) && failure.message.contains(provider.rawValue) && sentences >= 2,
        "the refusal names “\(client)”, “\(provider)” and the alternative", found: failure.message, file: file,
        line: line)
    try expect(
        !failure.isRetryable, "a refusal is not worth a retry", found: "isRetryable", file: file, line: line)
}
