import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardMock
import SwitchyardServerKit
import SwitchyardSupabase
import SwitchyardTestSupport

/// Two backends of one app: a local Firebase, and a local Supabase on a real PostgreSQL. Each takes the other's people.
struct CrossedProviders: Sendable {
    let firebase: LocalFirebase
    let supabase: LocalSupabase
    private let postgres: PostgresServer

    /// - Parameters:
    ///   - isOpen: Whether everybody may see everything on the local Firebase, and write below anybody's name on the local
    ///     Supabase.
    ///   - hasDomainRules: Whether both keep to the rules for the domain clients.
    init(isOpen: Bool = true, hasDomainRules: Bool = false) async throws {
        var options = LocalFirebaseOptions()
        options.allowsEverything = isOpen
        options.hasDomainRules = hasDomainRules
        firebase = try LocalFirebase(options)
        postgres = try await PostgresServer()
        var supabaseOptions = LocalSupabaseOptions()
        supabaseOptions.database = postgres.place
        supabase = try await LocalSupabase(supabaseOptions)
        try await postgres.query(DocumentSchema.sql)
        if hasDomainRules { try await postgres.query(DocumentSchema.domainRules) }
        if isOpen { try await postgres.query("insert into switchyard.rules values ('users', 'owner', 'owner')") }
    }

    /// For checks that clean up after themselves. Its processes end with this one.
    static let shared = Task { try await CrossedProviders() }
    /// The same, for the domain clients.
    static let guarded = Task { try await CrossedProviders(isOpen: false, hasDomainRules: true) }

    func stop() async {
        await supabase.stop()
        postgres.stop()
        await firebase.stop()
    }

    var firebaseModule: FirebaseModule {
        var configuration = FirebaseConfiguration(
            project: firebase.project, apiKey: "key", writeLedger: "ledger",
            emulators: FirebaseConfiguration.Emulators(firestore: firebase.host), usesEmulatorVariables: false)
        configuration.emulators.auth = firebase.host
        return FirebaseModule(
            configuration, appCheck: nil,
            tokenExchange: TokenExchange { [firebase] session, _ in
                (Secret(firebase.idToken(for: session.userID)), .distantFuture)
            })
    }

    /// - Parameter name: As whom people of elsewhere are seen here; each as themselves when it is `nil`.
    func supabaseModule(as name: String? = nil) -> SupabaseModule {
        SupabaseModule(
            SupabaseConfiguration(
                url: supabase.url.absoluteString, key: Secret(supabase.anonKey), checkInterval: .milliseconds(25)),
            accountDeletion: nil,
            tokenExchange: TokenExchange { [supabase] session, _ in
                (Secret(supabase.accessToken(for: name ?? session.userID)), .distantFuture)
            })
    }

    /// What both storages can do.
    static let storage: StorageCapabilities = {
        var capabilities = StorageCapabilities.all
        capabilities.maximumBatchSize = 500
        return capabilities
    }()
}

/// Auth of one backend, documents of the other, messages of the mock; then the documents move to where the people are.
struct CrossedSwitchingHarness: SwitchingHarness {
    let auth: InfrastructureProvider

    var features: SwitchingFeatures {
        SwitchingFeatures(
            first: auth == .firebase ? .supabase : .firebase, second: auth, storage: CrossedProviders.storage)
    }

    var selection: InfrastructureSelection {
        var selection = InfrastructureSelection(default: .mock)
        selection.auth = auth
        selection.storage = features.first
        return selection
    }

    func makeFactory() async throws -> InfrastructureFactory {
        let backends = try await CrossedProviders.shared.value
        return InfrastructureFactory(
            MockModule(backend: MockBackend()), backends.firebaseModule, backends.supabaseModule(as: "everybody"))
    }
}

/// The clients above them, over the same crossing, under the rules for them.
struct CrossedDomainHarness: DomainHarness {
    let auth: InfrastructureProvider

    var features: DomainFeatures { DomainFeatures(CrossedProviders.storage, files: true, enforcesRules: true) }

    func makeDomainDevice() async throws -> DomainDevice {
        let backends = try await CrossedProviders.guarded.value
        let (firebase, supabase) = (backends.firebaseModule, backends.supabaseModule())
        let files = MockFileStorageClient(MockBackend())
        if auth == .firebase {
            let auth = try await firebase.makeAuthClient(ModuleContext())
            let storage = try await supabase.makeStorageClient(ModuleContext(auth: auth))
            return DomainDevice(CoreClients(auth: auth, storage: storage, files: files))
        }
        let auth = try await supabase.makeAuthClient(ModuleContext())
        let storage = try await firebase.makeStorageClient(ModuleContext(auth: auth))
        return DomainDevice(CoreClients(auth: auth, storage: storage, files: files))
    }
}
