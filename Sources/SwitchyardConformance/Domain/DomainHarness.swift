import Foundation
public import Switchyard

/// What is supplied to have domain clients checked: those of one provider, or of several mixed.
///
/// Documents are written where the domain clients keep them (`users`, `checkIns`), under the ids of people that are made
/// for the check and removed after it. Rules must let a person add themselves to the contacts of another.
public protocol DomainHarness: Sendable {
    var features: DomainFeatures { get }

    /// The clients of another device, with nobody signed in. Core clients are shut down after the check.
    func makeDomainDevice() async throws -> DomainDevice

    /// Signs a person in who exists in `namespace` only; makes their account at the first call.
    ///
    /// The default does it with an address and a password.
    func signIn(_ name: String, on device: DomainDevice, in namespace: ConformanceNamespace) async throws -> AuthUser

    /// After documents and accounts are deleted: removes what only the harness knows of. The default does nothing.
    func cleanUp(_ namespace: ConformanceNamespace) async throws
}

extension DomainHarness {
    public func signIn(
        _ name: String, on device: DomainDevice, in namespace: ConformanceNamespace
    ) async throws -> AuthUser {
        let email = "\(namespace)-\(name)@example.com"
        let password: Secret = "correct horse 7 battery"
        do {
            return try await device.core.auth.signUp(email: email, password: password)
        } catch {
            guard error.code == .emailInUse else { throw error }
        }
        return try await device.core.auth.signIn(email: email, password: password)
    }

    public func cleanUp(_ namespace: ConformanceNamespace) async throws {}
}

/// The clients of one device.
public struct DomainDevice: Sendable {
    public let core: CoreClients
    public let users: any UserClient
    public let contacts: any ContactsClient
    public let checkIns: any CheckInClient
    public let notifications: any NotificationClient

    /// Those that somebody else has put together.
    public init(
        _ core: CoreClients, users: any UserClient, contacts: any ContactsClient, checkIns: any CheckInClient,
        notifications: any NotificationClient
    ) {
        self.core = core
        self.users = users
        self.contacts = contacts
        self.checkIns = checkIns
        self.notifications = notifications
    }

    /// Those that stand on documents.
    public init(_ core: CoreClients) {
        self.core = core
        users = DocumentUserClient(on: core)
        contacts = DocumentContactsClient(on: core)
        checkIns = DocumentCheckInClient(on: core)
        notifications = DocumentNotificationClient(on: core)
    }

    /// Those that `module` makes.
    public init(_ core: CoreClients, by module: any InfrastructureModule) async throws(InfrastructureError) {
        self.core = core
        users = try await module.makeUserClient(on: core)
        contacts = try await module.makeContactsClient(on: core)
        checkIns = try await module.makeCheckInClient(on: core)
        notifications = try await module.makeNotificationClient(on: core)
    }
}

/// What the clients under a domain client can do; decides which checks apply.
public struct DomainFeatures: Sendable, Hashable {
    public var liveStreams: Bool
    public var batches: Bool
    public var files: Bool
    /// A cache, and a queue of writes.
    public var offline: Bool

    public init(_ storage: StorageCapabilities, files: Bool) {
        liveStreams = storage.liveStreams
        batches = storage.maximumBatchSize.map { $0 > 1 } ?? true
        self.files = files
        offline = storage.offline
    }
}

public typealias DomainRequirement = ConformanceRequirement<DomainFeatures>

extension ConformanceRequirement where Features == DomainFeatures {
    static let live = Self("live streams") { $0.liveStreams }
    static let batches = Self("batches") { $0.batches }
    static let files = Self("files") { $0.files }
    static let offline = Self("offline operations") { $0.offline }
}
