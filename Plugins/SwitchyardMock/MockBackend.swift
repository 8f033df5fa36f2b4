public import Foundation
public import Switchyard
import Synchronization

/// The server of one project: documents, accounts, files and messages. Clients on the same backend are devices of the
/// same project; two backends never meet.
///
/// In memory, or kept in a folder: then every change is on disk when the call that made it returns. A folder belongs to
/// one backend at a time.
public final class MockBackend: Sendable {
    let database: MockDatabase
    /// The accounts, and what happens to them outside of an app.
    public let accounts: MockAccounts
    /// The stored files.
    public let files: MockFiles
    /// The server that sends messages.
    public let messages: MockMessages
    let folder: MockFolder?
    private let keeper: MockKeeper?

    /// A project in memory.
    ///
    /// - Parameter now: The server's clock; time stamps come from it, those of documents strictly rising.
    public init(now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }) {
        database = MockDatabase(now: now)
        accounts = MockAccounts(now: now)
        files = MockFiles(now: now)
        messages = MockMessages(now: now)
        folder = nil
        keeper = nil
    }

    /// A project that is kept in `folder`, with what is there already.
    ///
    /// - Parameter report: Told of what could not be written later on; the change itself stays in memory.
    /// - Throws: `.localStore` if the folder cannot be written, or a file in it is damaged; that file has been set aside
    ///   under the name in the message, so that the next try goes on without it.
    public init(
        folder: URL, now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) },
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(InfrastructureError) {
        database = MockDatabase(now: now)
        accounts = MockAccounts(now: now)
        files = MockFiles(now: now)
        messages = MockMessages(now: now)
        let place = try MockFolder(folder)
        self.folder = place
        let keeper = MockKeeper(place, database, accounts, files, report)
        self.keeper = keeper
        do throws(MockFile.Failure) {
            try keeper.load()
        } catch {
            throw InfrastructureError(.localStore, error.description)
        }
        accounts.changed.withLock { $0 = { [weak keeper] in keeper?.saveAccounts() } }
        files.changed.withLock { $0 = { [weak keeper] in keeper?.saveFiles() } }
    }

    /// How many documents there are.
    public var documentCount: Int { database.read { $0.documents.count } }

    func save() { keeper?.saveDocuments() }

    func save(_ device: MockDevice) {
        keeper?.saveDocuments()
        keeper?.save(device)
    }

    /// Gives a device the queue that one of its name left behind.
    func restore(_ device: MockDevice, as name: String) throws(InfrastructureError) {
        guard let keeper else { return }
        do throws(MockFile.Failure) {
            try keeper.restore(device, as: name)
        } catch {
            throw InfrastructureError(.localStore, error.description)
        }
    }
}
