import Foundation
public import Switchyard

/// Supplied to check domain clients, of one provider or of several mixed.
///
/// Documents are written where the domain clients store them (`users`, `checkIns`), under the IDs of people who are created for
/// the check and removed after it. The server must have the rules for these clients; otherwise ``DomainFeatures/enforcesRules``
/// is off and the server allows everything.
public protocol DomainHarness: Sendable {
    var features: DomainFeatures { get }

    /// The clients of another device, with no user signed in. Core clients are shut down after the check.
    func makeDomainDevice() async throws -> DomainDevice

    /// Signs in a person who exists only in `namespace`; creates the account at the first call.
    ///
    /// The default uses an address and a password.
    func signIn(_ name: String, on device: DomainDevice, in namespace: ConformanceNamespace) async throws -> AuthUser

    /// Marks the address as confirmed, if signing up requires that. The default has no mailbox and throws.
    func confirmEmail(_ email: String) async throws

    /// Called after documents and accounts are deleted: removes what only the harness knows about. The default does nothing.
    func cleanUp(_ namespace: ConformanceNamespace) async throws
}

extension DomainHarness {
    public func signIn(
        _ name: String, on device: DomainDevice, in namespace: ConformanceNamespace
    ) async throws -> AuthUser {
        let email = "\(namespace)-\(name)@example.com"
        let password: Secret = "correct horse 7 battery"
        do {
            switch try await device.core.auth.signUp(email: email, password: password) {
            case .signedIn(let user): return user
            case .confirmationSent(let address): try await confirmEmail(address)
            }
        } catch let error as AuthError {
            guard error.code == .emailInUse else { throw error }
        }
        return try await device.core.auth.signIn(email: email, password: password)
    }

    public func confirmEmail(_ email: String) async throws {
        throw ConformanceFailure(expectation: "signing up signs in, or the harness opens the mail", found: "neither")
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

    /// Uses existing clients.
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

    /// Uses the document-based clients.
    public init(_ core: CoreClients) {
        self.core = core
        users = DocumentUserClient(on: core)
        contacts = DocumentContactsClient(on: core)
        checkIns = DocumentCheckInClient(on: core)
        notifications = DocumentNotificationClient(on: core)
    }

    /// Uses the clients made by `module`.
    public init(_ core: CoreClients, by module: any InfrastructureModule) async throws(InfrastructureError) {
        self.core = core
        users = try await module.makeUserClient(on: core)
        contacts = try await module.makeContactsClient(on: core)
        checkIns = try await module.makeCheckInClient(on: core)
        notifications = try await module.makeNotificationClient(on: core)
    }
}

/// What the underlying clients support; decides which checks apply.
public struct DomainFeatures: Sendable, Hashable {
    public var liveStreams: Bool
    /// Batches of several writes of any kind.
    public var batches: Bool
    public var files: Bool
    /// A cache, and a queue of writes.
    public var offline: Bool
    /// Whether the server has the rules for these clients: other users are refused, responders are not.
    public var enforcesRules: Bool

    public init(_ storage: StorageCapabilities, files: Bool, enforcesRules: Bool = false) {
        self.enforcesRules = enforcesRules
        liveStreams = storage.liveStreams
        batches = storage.mixedBatches && storage.maximumBatchSize.map { $0 > 1 } ?? true
        self.files = files
        offline = storage.offline
    }
}

public typealias DomainRequirement = ConformanceRequirement<DomainFeatures>

extension ConformanceRequirement where Features == DomainFeatures {
    static let live = Self("live streams") { $0.liveStreams }
    static let batches = Self("batches") { $0.batches }
    static let files = Self("files", remedy: "a provider for files") { $0.files }
    static let offline = Self("offline operations") { $0.offline }
    static let rules = Self(
        "rules for the domain", remedy: "a harness of your own, in a test, that knows that they are in place"
    ) { $0.enforcesRules }
}

/// The behaviour of the clients for users, contacts, check-ins and notifications, with any provider.
public enum DomainConformance {
    public static let all: [DomainCheck] = [
        userChecks, contactChecks, checkInChecks, notificationChecks, originChecks, sessionChecks, ruleChecks,
    ].flatMap { $0 }

    /// The checks that apply to clients with these features.
    public static func checks(for features: DomainFeatures) -> [DomainCheck] { all.applicable(to: features) }

    /// The names of the checks that are skipped for clients with these features.
    public static func leftOut(for features: DomainFeatures) -> [String] { all.leftOut(for: features) }
}
