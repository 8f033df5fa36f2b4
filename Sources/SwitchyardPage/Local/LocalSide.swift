import Switchyard
import SwitchyardBytes
import SwitchyardServerKit

/// What only a local server shows: its requests, what it would have sent, and its faults.
protocol LocalSide: Sendable {
    var server: LoopbackServer { get }
    /// Such as `http://127.0.0.1:8080`.
    var address: String { get }
    var log: RequestLog { get }

    func summary(of record: ExchangeRecord, _ state: ExchangeRecord.State) -> RequestSummary
    /// Why the request was allowed or denied.
    func explanation(of record: ExchangeRecord, _ state: ExchangeRecord.State) async -> Explanation
    /// Explains a request that has ended, and forgets the documents that were looked at.
    func settle(_ record: ExchangeRecord, _ state: ExchangeRecord.State)
    /// Whether the persona may read and write a document, as far as it can be said.
    ///
    /// - Parameter data: What is to be written; `nil` for what is there.
    func check(
        _ path: StoragePath, as persona: Persona, data: DocumentData?
    ) async throws -> (read: Explanation, write: Explanation)

    /// Whether the persona may run a query; `nil` where no query is denied.
    func check(_ query: Query, as persona: Persona) async throws -> Explanation?

    /// Whether live changes reach no one.
    var isDeaf: Bool { get nonmutating set }

    var sent: [SentMessages] { get }

    /// The sessions of an account; `nil` if the backend has no list of them.
    func sessions(of account: String) async throws -> [JSON]?
    /// - Returns: Whether there was one.
    func endSession(_ id: String, of account: String) async throws -> Bool
    func removeFactor(_ id: String, of account: String) async throws -> Bool

    /// Deletes everything of the project.
    func reset() async throws
}
