public import Foundation
public import Switchyard

/// The server of one project: documents, accounts, files and messages. Clients on the same backend are devices of the
/// same project; two backends never meet.
public final class MockBackend: Sendable {
    let database: MockDatabase

    /// A project in memory.
    ///
    /// - Parameter now: The server's clock; time stamps come from it, strictly rising.
    public init(now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }) {
        database = MockDatabase(now: now)
    }

    func save(_ device: MockDevice) {}

    /// How many documents there are.
    public var documentCount: Int { database.read { $0.documents.count } }
}
