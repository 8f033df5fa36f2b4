import Foundation
import Switchyard
import SwitchyardConformance

/// The checks that make sense for the clients of a configuration.
///
/// A configuration names clients, not the world around them: nobody here reads mail, fills in pages or sends messages, so
/// what needs that is skipped, and the report says why. Everything else runs: documents, accounts with passwords, tokens,
/// files, registrations, the domain clients on all of them, and moving to another storage and back.
struct ConfiguredHarness {
    let suites: [ConformanceSuite]

    /// - Throws: What is wrong with the configuration, before any check runs.
    init(_ configuration: InfrastructureConfiguration) async throws(InfrastructureError) {
        let site = try ConfiguredSite(configuration)
        let device = try await site.makeDevice()
        let storage = device.storage.capabilities
        var auth = AuthFeatures(device.auth.capabilities)
        auth.playsOutside = false
        let files = FileFeatures(device.files.capabilities)
        var messaging = MessagingFeatures(device.messaging.capabilities)
        messaging.playsServer = false
        await device.shutDown()

        let person = Person()
        var suites: [ConformanceSuite] = [
            .storage(ConfiguredStorage(features: StorageFeatures(storage), site: site, person: person)),
            .auth(ConfiguredAuth(features: auth, site: site)),
        ]
        let hasFiles = site.selection.provider(for: .files) != nil
        if hasFiles {
            suites.append(.files(ConfiguredFiles(features: files, site: site, person: person)))
        }
        if site.selection.provider(for: .messaging) != nil {
            suites.append(.messaging(ConfiguredMessaging(features: messaging, site: site, person: person)))
        }
        suites.append(.domain(ConfiguredDomain(features: DomainFeatures(storage, files: hasFiles), site: site)))
        suites.append(.switching(try await ConfiguredSwitching(site, storage)))
        self.suites = suites
    }
}

/// Somebody who is new for each run, for what only the signed-in may do.
struct Person: Sendable {
    private let email = "conformance-\(UInt64.random(in: 0..<UInt64.max))@example.com"
    private let password: Secret = "correct horse 7 battery"

    func signIn(on auth: any AuthClient) async throws(AuthError) {
        do throws(AuthError) {
            try await auth.signUp(email: email, password: password)
        } catch {
            guard error.code == .emailInUse else { throw error }
            try await auth.signIn(email: email, password: password)
        }
    }
}

extension ConfiguredSite {
    /// A client for `service` on another device, where `person` is signed in.
    fileprivate func client<Client>(
        for service: InfrastructureService, of person: Person,
        _ make: (InfrastructureFactory, InfrastructureProvider, any AuthClient) async throws -> Client
    ) async throws -> Client {
        let factory = makeFactory()
        let auth = try await factory.createAuthClient(provider: provider(of: .auth))
        try await person.signIn(on: auth)
        return try await make(factory, provider(of: service), auth)
    }
}

private struct ConfiguredStorage: StorageHarness {
    let features: StorageFeatures
    let site: ConfiguredSite
    let person: Person

    func makeStorageClient() async throws -> any StorageClient {
        try await site.client(for: .storage, of: person) { factory, provider, auth in
            try await factory.createStorageClient(provider: provider, auth: auth)
        }
    }
}

private struct ConfiguredAuth: AuthHarness {
    let features: AuthFeatures
    let site: ConfiguredSite

    func makeAuthClient() async throws -> any AuthClient {
        try await site.makeFactory().createAuthClient(provider: site.provider(of: .auth))
    }
}

private struct ConfiguredFiles: FileHarness {
    let features: FileFeatures
    let site: ConfiguredSite
    let person: Person

    func makeFileClient() async throws -> any FileStorageClient {
        try await site.client(for: .files, of: person) { factory, provider, auth in
            try await factory.createFileStorageClient(provider: provider, auth: auth)
        }
    }
}

private struct ConfiguredMessaging: MessagingHarness {
    let features: MessagingFeatures
    let site: ConfiguredSite
    let person: Person

    func makeMessagingClient() async throws -> any MessagingClient {
        try await site.client(for: .messaging, of: person) { factory, provider, auth in
            try await factory.createMessagingClient(provider: provider, auth: auth)
        }
    }

    func payload(_ message: RemoteMessage) throws -> RemotePayload {
        throw ConformanceFailure(expectation: "nothing is asked of a server that nobody plays", found: "a payload")
    }
}

private struct ConfiguredDomain: DomainHarness {
    let features: DomainFeatures
    let site: ConfiguredSite

    func makeDomainDevice() async throws -> DomainDevice {
        let device = try await site.makeDevice()
        let hasFiles = site.selection.provider(for: .files) != nil
        return DomainDevice(
            CoreClients(auth: device.auth, storage: device.storage, files: hasFiles ? device.files : nil),
            users: device.users, contacts: device.contacts, checkIns: device.checkIns,
            notifications: device.notifications)
    }
}

private struct ConfiguredSwitching: SwitchingHarness {
    let features: SwitchingFeatures
    let site: ConfiguredSite
    var selection: InfrastructureSelection { site.selection }

    init(_ site: ConfiguredSite, _ storage: StorageCapabilities) async throws(InfrastructureError) {
        self.site = site
        let factory = site.makeFactory()
        let other = try await factory.createStorageClient(provider: site.alternative)
        var common = other.capabilities
        await other.shutDown()
        common.liveStreams = common.liveStreams && storage.liveStreams
        common.offline = common.offline && storage.offline
        common.transactions = common.transactions && storage.transactions
        var hasAuth = false
        if let auth = try? await factory.createAuthClient(provider: site.alternative) {
            hasAuth = true
            await auth.shutDown()
        }
        features = SwitchingFeatures(
            first: site.provider(of: .storage), second: site.alternative, storage: common, switchesAuth: hasAuth)
    }

    func makeFactory() async throws -> InfrastructureFactory { site.makeFactory() }
}
