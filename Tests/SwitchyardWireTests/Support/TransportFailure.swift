import SwitchyardWire

struct UnexpectedSuccess: Error {}

/// The error `operation` fails with.
///
/// - Throws: if it succeeds, or fails in another way.
func failure<Value>(of operation: () async throws -> Value) async throws -> TransportError {
    do {
        _ = try await operation()
    } catch let error as TransportError {
        return error
    }
    throw UnexpectedSuccess()
}
