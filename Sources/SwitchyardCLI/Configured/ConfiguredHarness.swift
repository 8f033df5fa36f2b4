import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardMock

/// The checks that apply to the clients of a configuration.
///
/// A configuration has clients only: this tool cannot read emails, fill in pages or send messages, so checks that need this
/// are skipped, and the report says why. Everything else runs: documents, accounts with passwords, tokens, files,
/// registrations, the domain clients on top, account management if the configuration has the key for it, and switching to
/// another storage and back.
///
/// In a Supabase project with tables alone, the storage checks run on a ``ConformanceTable``.
///
/// One person is signed up at the start, for everything that requires a signed-in user; auth checks create their own
/// accounts.
struct ConfiguredHarness {
    let suites: [ConformanceSuite]
    /// What is not checked, and why.
    let remarks: [String]
    private let folder: RunFolder?

    /// - Throws: What is wrong with the configuration, before any check runs; `.unsupported` if signing up requires opening
    ///   an email.
    init(_ configuration: InfrastructureConfiguration) async throws(InfrastructureError) {
        let site = try ConfiguredSite(configuration)
        // The clients' capabilities may depend on whether they have a state folder.
        let device = try await site.makeDevice(at: site.folder?.newDevice() ?? InfrastructureOptions())
        let storage = device.storage.capabilities
        var auth = AuthFeatures(device.auth.capabilities)
        auth.playsOutside = false
        auth.keepsSessions = site.keeps(.auth)
        var files = FileFeatures(device.files.capabilities)
        files.keepsUploads = site.keeps(.files)
        var messaging = MessagingFeatures(device.messaging.capabilities)
        messaging.playsServer = false
        let person = Person()
        do throws(InfrastructureError) {
            try await person.signUp(on: device.auth)
            try await site.table?.check(device.storage)
        } catch {
            await device.shutDown()
            throw error
        }
        await device.shutDown()
        folder = site.folder

        let documents = StorageFeatures(storage, fields: site.table?.fields ?? Set(StorageField.allCases))
        var suites: [ConformanceSuite] = [
            .storage(ConfiguredStorage(features: documents, site: site, person: person)),
            .auth(ConfiguredAuth(features: auth, site: site)),
        ]
        let hasFiles = site.selection.provider(for: .files) != nil
        if hasFiles {
            suites.append(.files(ConfiguredFiles(features: files, site: site, person: person)))
        }
        if site.selection.provider(for: .messaging) != nil {
            suites.append(.messaging(ConfiguredMessaging(features: messaging, site: site, person: person)))
        }
        if storage.openSchema {
            suites.append(.domain(ConfiguredDomain(features: DomainFeatures(storage, files: hasFiles), site: site)))
            remarks = []
        } else {
            remarks = ["The domain clients are not checked: the project has no document table for their collections."]
        }
        if let admin = try await ConfiguredAdmin(site) { suites.append(.admin(admin)) }
        suites.append(.switching(try await ConfiguredSwitching(site, storage)))
        self.suites = suites
    }

    /// Removes the devices' data on this machine.
    func cleanUp() { folder?.remove() }
}

/// A new person for each run, for everything that requires a signed-in user.
struct Person: Sendable {
    private let email = "conformance-\(UInt64.random(in: 0..<UInt64.max))@example.com"
    private let password: Secret = "correct horse 7 battery"

    /// Once per run: servers may fail if one person signs up on many devices at the same time.
    func signUp(on auth: any AuthClient) async throws(InfrastructureError) {
        let result: SignUpResult
        do throws(AuthError) {
            result = try await auth.signUp(email: email, password: password)
        } catch {
            throw InfrastructureError(
                .invalidConfiguration, "No user can be signed up for the checks: \(error.message)", underlying: error)
        }
        guard case .signedIn = result else {
            throw InfrastructureError(
                .unsupported,
                "The project requires email addresses to be confirmed, which these checks cannot do. Switch that off in "
                    + "the project's settings for the time of the run.")
        }
    }

    func signIn(on auth: any AuthClient) async throws(AuthError) {
        try await auth.signIn(email: email, password: password)
    }
}

extension ConfiguredSite {
    /// A client for `service` on another device, where `person` is signed in.
    fileprivate func client<Client>(
        for service: InfrastructureService, of person: Person,
        at place: InfrastructureOptions = InfrastructureOptions(),
        _ make: (InfrastructureFactory, InfrastructureProvider, any AuthClient) async throws -> Client
    ) async throws -> Client {
        let factory = makeFactory()
        let auth = try await factory.createAuthClient(provider: provider(of: .auth), in: place)
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
        try await make(at: site.folder?.newDevice() ?? InfrastructureOptions())
    }

    func reopen(_ client: any AuthClient) async throws -> any AuthClient {
        try await make(at: client.unwrapped(as: DeviceAuthClient.self)?.place ?? InfrastructureOptions())
    }

    private func make(at place: InfrastructureOptions) async throws -> any AuthClient {
        DeviceAuthClient(
            try await site.makeFactory().createAuthClient(provider: site.provider(of: .auth), in: place), at: place)
    }
}

private struct ConfiguredFiles: FileHarness {
    let features: FileFeatures
    let site: ConfiguredSite
    let person: Person

    func makeFileClient() async throws -> any FileStorageClient {
        try await make(at: site.folder?.newDevice() ?? InfrastructureOptions())
    }

    func reopen(_ client: any FileStorageClient) async throws -> any FileStorageClient {
        try await make(at: client.unwrapped(as: DeviceFileClient.self)?.place ?? InfrastructureOptions())
    }

    func cutOff(_ client: any FileStorageClient, afterBytes count: Int64) async throws {
        client.unwrapped(as: DeviceFileClient.self)?.cutOff()
    }

    private func make(at place: InfrastructureOptions) async throws -> any FileStorageClient {
        DeviceFileClient(
            try await site.client(for: .files, of: person, at: place) { factory, provider, auth in
                try await factory.createFileStorageClient(provider: provider, auth: auth, in: place)
            }, at: place)
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
        throw ConformanceFailure(expectation: "checks that need a simulated server are skipped", found: "a payload")
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
        // A returning person finds the mock's session, since these clients have no folder.
        if site.provider(of: .auth) == .mock,
            let auth = try? await factory.createAuthClient(provider: site.alternative)
        {
            hasAuth = true
            await auth.shutDown()
        }
        features = SwitchingFeatures(
            first: site.provider(of: .storage), second: site.alternative, storage: common, switchesAuth: hasAuth)
    }

    func makeFactory() async throws -> InfrastructureFactory { site.makeFactory() }
}
