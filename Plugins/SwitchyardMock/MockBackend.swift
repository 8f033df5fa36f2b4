public import Foundation
public import Switchyard
import Synchronization

/// The server of one project: documents, accounts, files and messages. Clients on the same backend are devices of the
/// same project; two backends never meet.
///
/// In memory, or kept in a folder: then every change is on disk when the call that made it returns. A folder belongs to
/// one backend of one process at a time, until ``close()`` or the backend's end.
public final class MockBackend: Sendable {
    let database: MockDatabase
    /// What binds the clients of modules; `nil` where everybody may do everything.
    public let rules: MockRules?
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
    /// - Parameters:
    ///   - rules: Who may do what; everybody may do everything where they are left out.
    ///   - now: The server's clock; time stamps come from it, those of documents strictly rising.
    public init(rules: MockRules? = nil, now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }) {
        self.rules = rules
        database = MockDatabase(now: now)
        accounts = MockAccounts(now: now)
        files = MockFiles(now: now)
        messages = MockMessages(now: now)
        folder = nil
        keeper = nil
    }

    /// A project that is kept in `folder`, with what is there already.
    ///
    /// - Parameters:
    ///   - folder: Made if it is not there.
    ///   - rules: Who may do what; everybody may do everything where they are left out.
    ///   - now: The server's clock.
    ///   - report: Told of what could not be written later on; the change itself stays in memory.
    /// - Throws: `.locked` while another backend has the folder; `.localStore` if it cannot be written, or a file in it is
    ///   damaged; that file has been set aside under the name in the message, so that the next try goes on without it.
    public init(
        folder: URL, rules: MockRules? = nil, now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) },
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(InfrastructureError) {
        self.rules = rules
        database = MockDatabase(now: now)
        accounts = MockAccounts(now: now)
        files = MockFiles(now: now)
        messages = MockMessages(now: now)
        let place = try MockFolder(folder)
        self.folder = place
        let keeper = MockKeeper(place, database, accounts, files, messages, report)
        self.keeper = keeper
        do throws(MockFile.Failure) {
            try keeper.load()
        } catch {
            throw InfrastructureError(.localStore, error.description)
        }
        accounts.changed.withLock { $0 = { [weak keeper] in keeper?.saveAccounts() } }
        files.changed.withLock { $0 = { [weak keeper] in keeper?.saveFiles() } }
        messages.changed.withLock { $0 = { [weak keeper] in keeper?.saveMessages() } }
    }

    /// Lets go of the folder, for whoever wants it next; from now on nothing is written to it. In memory nothing happens.
    ///
    /// A ``MockModule`` does so by itself when the last of its clients has been shut down.
    public func close() { keeper?.close() }

    /// How many documents there are.
    public var documentCount: Int { database.withState { $0.documents.count } }

    func save() { keeper?.saveDocuments() }

    func save(_ device: MockDevice) {
        keeper?.saveDocuments()
        keeper?.save(device)
    }

    func saveCache(of device: MockDevice) { keeper?.saveCache(of: device) }

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
