public import Foundation
public import Switchyard

extension UnsetClients {
    /// What stubs leave the calls to that they do not answer.
    public static let stubs = UnsetClients { service, operation in stubMessage(service, operation) }

    /// The same, and tells the test.
    ///
    /// ```swift
    /// let unset = UnsetClients.stubs { Issue.record("\($0)") }  // In XCTest: { XCTFail($0) }
    /// let contacts = StubContactsClient(over: unset.contacts) { $0.remove = { _ in } }
    /// ```
    ///
    /// - Parameter record: Called with the message of each call that is refused, for example to record a failure of the test.
    public static func stubs(recordingTo record: @escaping @Sendable (String) -> Void) -> UnsetClients {
        UnsetClients { service, operation in
            let message = stubMessage(service, operation)
            record(message)
            return message
        }
    }

    private static func stubMessage(_ service: InfrastructureService, _ operation: String) -> String {
        "“\(operation)” was called on the stub of the client for \(service), which does not answer it. Set the call when you make "
            + "the stub, or make the stub over a client that answers: over: mock."
    }
}

extension WriteReceipt {
    /// For stubs: the server has taken `batch`.
    ///
    /// ```swift
    /// let storage = StubStorageClient(commit: { batch in .acknowledged(batch) })
    /// ```
    public static func acknowledged(
        _ batch: WriteBatch, at time: Timestamp = Timestamp(Date())
    ) -> WriteReceipt {
        WriteReceipt(
            batchID: "stub",
            acknowledged: Acknowledgement(
                commitTime: time, updateTimes: batch.writes.map { if case .delete = $0.operation { nil } else { time } }
            ))
    }
}

/// Runs what a test has set, which may throw anything.
func stubbed<Result, Failure: ClientError>(
    _: Failure.Type, _ call: () async throws -> Result
) async throws(Failure) -> Result {
    do { return try await call() } catch { throw .wrapping(error) }
}
