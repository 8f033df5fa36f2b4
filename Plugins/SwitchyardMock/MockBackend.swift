public import Foundation
public import Switchyard
import Synchronization

/// The server of one project: documents, accounts, files and messages.
///
/// Clients with the same backend are devices of the same project; different backends are independent.
///
/// It lives in memory, or in a folder. With a folder, each change is on disk when its call returns. A folder can be used by
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

/// The settings of a mock: none are needed, unless it should be persistent or slow.
public struct MockConfiguration: Sendable, Hashable, Codable {
    /// A folder in which everything is stored across runs.
    public var folder: URL?
    /// Without ``folder``: whether to use the state folder that the app has chosen for all providers. Off by default.
    public var usesStateFolder: Bool
    /// The latency of each call. Zero by default.
    public var latencyMilliseconds: Int
    /// Whether the project starts with ``MockSample``.
    public var hasSampleData: Bool
    /// Whether new accounts must confirm their address; see ``MockAccounts/asksForConfirmation``.
    public var asksForConfirmation: Bool

    public init(
        folder: URL? = nil, usesStateFolder: Bool = false, latencyMilliseconds: Int = 0, hasSampleData: Bool = false,
        asksForConfirmation: Bool = false
    ) {
        self.folder = folder
        self.usesStateFolder = usesStateFolder
        self.latencyMilliseconds = latencyMilliseconds
        self.hasSampleData = hasSampleData
        self.asksForConfirmation = asksForConfirmation
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case folder, usesStateFolder, latencyMilliseconds, hasSampleData, asksForConfirmation
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        // A path, as usual in files and variables.
        folder = try values.decodeIfPresent(String.self, forKey: .folder).map {
            URL(fileURLWithPath: $0, isDirectory: true)
        }
        usesStateFolder = try values.decodeIfPresent(Bool.self, forKey: .usesStateFolder) ?? false
        latencyMilliseconds = try values.decodeIfPresent(Int.self, forKey: .latencyMilliseconds) ?? 0
        hasSampleData = try values.decodeIfPresent(Bool.self, forKey: .hasSampleData) ?? false
        asksForConfirmation = try values.decodeIfPresent(Bool.self, forKey: .asksForConfirmation) ?? false
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(folder?.path, forKey: .folder)
        try values.encode(usesStateFolder, forKey: .usesStateFolder)
        try values.encode(latencyMilliseconds, forKey: .latencyMilliseconds)
        try values.encode(hasSampleData, forKey: .hasSampleData)
        try values.encode(asksForConfirmation, forKey: .asksForConfirmation)
    }
}

/// Counts the clients of a module's backend. When the last one leaves, `whenEmpty` runs and no client can enter anymore;
/// without `whenEmpty`, it stays open.
final class MockBackendUsage: Sendable {
    private let state = Mutex((count: 0, isOver: false))
    private let whenEmpty: (@Sendable () -> Void)?

    init(whenEmpty: (@Sendable () -> Void)?) { self.whenEmpty = whenEmpty }

    /// - Returns: `nil` if it is closed.
    func enter() -> MockBackendLease? {
        let isIn = state.withLock { state in
            if !state.isOver { state.count += 1 }
            return !state.isOver
        }
        return isIn ? MockBackendLease(self) : nil
    }

    fileprivate func leave() {
        // Inside the lock, so that the folder is free for anyone who finds it closed.
        state.withLock { state in
            state.count -= 1
            guard state.count == 0, let whenEmpty else { return }
            state.isOver = true
            whenEmpty()
        }
    }
}

/// One client's stay, which ends when the client is shut down or released.
final class MockBackendLease: Sendable {
    private let usage: Mutex<MockBackendUsage?>

    fileprivate init(_ usage: MockBackendUsage) { self.usage = Mutex(usage) }

    func leave() {
        let usage = usage.withLock { usage in
            defer { usage = nil }
            return usage
        }
        usage?.leave()
    }

    deinit { leave() }
}

extension MockBackend {
    /// Creates all clients of a new device of this project.
    ///
    /// ```swift
    /// let app = TodoModel(try await backend.infrastructure(signedInAs: "alice"))
    /// ```
    /// - Parameters:
    ///   - userID: The signed-in user, whose account is created if needed; `nil` for no one.
    ///   - network: The device's connection.
    ///   - options: The clock, an observer and layers.
    public func infrastructure(
        signedInAs userID: AuthUser.ID? = nil, network: MockNetwork = MockNetwork(),
        in options: InfrastructureOptions = InfrastructureOptions()
    ) async throws(InfrastructureError) -> Infrastructure {
        let infrastructure = try await Infrastructure(.mock(self, network: network), in: options)
        guard let userID else { return infrastructure }
        do throws(AuthError) {
            try await infrastructure.auth.signIn(with: .customToken(accounts.customToken(for: userID)))
        } catch {
            throw InfrastructureError(error.code, error.message, underlying: error)
        }
        return infrastructure
    }
}
