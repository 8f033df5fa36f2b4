public import Foundation
public import Switchyard
import Synchronization

/// The server of one project: documents, accounts, files and messages.
///
/// Clients with the same backend are devices of the same project; different backends are independent.
///
/// It is kept in memory, or in a folder. With a folder, each change is on disk when its call returns. A folder can be used by
/// one backend in one process at a time, until ``close()`` or the end of the backend.
public final class MockBackend: Sendable {
    let database: MockDatabase
    /// The rules for clients of modules; `nil` if everything is allowed.
    public let rules: MockRules?
    /// The accounts, with controls for what happens outside the app.
    public let accounts: MockAccounts
    /// The stored files.
    public let files: MockFiles
    /// The server that sends messages.
    public let messages: MockMessages
    let folder: MockFolder?
    private let keeper: MockArchive?

    /// Creates a project in memory.
    ///
    /// - Parameters:
    ///   - rules: The access rules; without them, everything is allowed.
    ///   - now: The server's clock, which sets all times; those of documents are strictly increasing.
    public init(rules: MockRules? = nil, now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }) {
        self.rules = rules
        database = MockDatabase(now: now)
        accounts = MockAccounts(now: now)
        files = MockFiles(now: now)
        messages = MockMessages(now: now)
        folder = nil
        keeper = nil
    }

    /// Opens a project in `folder`, with its existing contents.
    ///
    /// - Parameters:
    ///   - folder: Created if it does not exist.
    ///   - rules: The access rules; without them, everything is allowed.
    ///   - now: The server's clock.
    ///   - report: Called if a later change could not be written; the change itself stays in memory.
    /// - Throws: `.locked` while another backend uses the folder; `.localStore` if it cannot be written, or a file in it is
    ///   damaged. That file has then been set aside under the name in the message, so that the next attempt continues without
    ///   it.
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
        let keeper = MockArchive(place, database, accounts, files, messages, report)
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

    /// Releases the folder for another backend; from now on nothing is written to it. A backend in memory is not affected.
    ///
    /// A ``MockModule`` does this when the last of its clients has been shut down.
    public func close() { keeper?.close() }

    /// The number of documents.
    public var documentCount: Int { database.withState { $0.documents.count } }

    func save() { keeper?.saveDocuments() }

    func save(_ device: MockDevice) {
        keeper?.saveDocuments()
        keeper?.save(device)
    }

    func saveCache(of device: MockDevice) { keeper?.saveCache(of: device) }

    /// Restores the queue of an earlier device with this name.
    func restore(_ device: MockDevice, as name: String) throws(InfrastructureError) {
        guard let keeper else { return }
        do throws(MockFile.Failure) {
            try keeper.restore(device, as: name)
        } catch {
            throw InfrastructureError(.localStore, error.description)
        }
    }
}
