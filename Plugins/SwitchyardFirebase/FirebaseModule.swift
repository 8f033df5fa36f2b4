import Foundation
public import Switchyard
import SwitchyardProviderHTTP
import SwitchyardSync
package import SwitchyardWire

extension InfrastructureProvider {
    /// Google's Firebase; see ``FirebaseModule``.
    public static let firebase: InfrastructureProvider = "firebase"
}

extension InfrastructureModule where Self == FirebaseModule {
    /// Firebase, set up in one line; `setUp` changes further settings.
    ///
    /// ```swift
    /// let firebase: FirebaseModule = .firebase(project: "demo", apiKey: key) { $0.bucket = "demo.appspot.com" }
    /// let backend = try await Infrastructure(firebase)
    /// ```
    public static func firebase(
        project: String, apiKey: Secret, _ setUp: (inout FirebaseConfiguration) -> Void = { _ in }
    ) -> FirebaseModule {
        var configuration = FirebaseConfiguration(project: project, apiKey: apiKey)
        setUp(&configuration)
        return FirebaseModule(configuration)
    }

    /// Firebase for a server or a tool that acts for the project itself.
    ///
    /// ```swift
    /// let backend = try await Infrastructure(.firebase(project: "demo", credential: .applicationDefault))
    /// ```
    public static func firebase(
        project: String, credential: FirebaseCredential, _ setUp: (inout FirebaseConfiguration) -> Void = { _ in }
    ) -> FirebaseModule {
        var configuration = FirebaseConfiguration(project: project, credential: credential)
        setUp(&configuration)
        return FirebaseModule(configuration)
    }

    /// The same for the project that the credential names, or else the variable `GOOGLE_CLOUD_PROJECT`.
    public static func firebase(
        credential: FirebaseCredential, _ setUp: (inout FirebaseConfiguration) -> Void = { _ in }
    ) -> FirebaseModule {
        var configuration = FirebaseConfiguration(credential: credential)
        setUp(&configuration)
        return FirebaseModule(configuration)
    }

    public static func firebase(_ configuration: FirebaseConfiguration) -> FirebaseModule {
        FirebaseModule(configuration)
    }
}

extension ConfigurableModule {
    /// Firebase, set up by a configuration.
    public static let firebase = ConfigurableModule(FirebaseModule.self)
}

/// Firebase as a provider: accounts, documents in Firestore with a cache, live queries and an offline queue, and messaging,
/// over plain HTTP.
///
/// ```swift
/// let firebase: FirebaseModule = .firebase(project: "demo", apiKey: key) { $0.writeLedger = "ledger" }
/// let backend = try await Infrastructure(firebase)
/// ```
/// Requests carry the token of the chosen auth client if that is Firebase's, too; security rules accept no other. Create
/// composite indexes in the console, with the link in the error of a query that lacks one. Everything works with emulators as
/// well: set ``FirebaseConfiguration/emulators``, or the variables of Firebase's own tools.
///
/// See <doc:Ledger> for how to make sure that no write takes effect twice.
public struct FirebaseModule: InfrastructureModule {
    public static let provider: InfrastructureProvider = .firebase
    public let configuration: FirebaseConfiguration
    private let appCheck: FirebaseAppCheck?
    private let tokenExchange: TokenExchange?
    private let environment: [String: String]
    private let makeTransport: @Sendable (CallLimits) -> any Transport

    public init(_ configuration: FirebaseConfiguration) { self.init(configuration, appCheck: nil) }

    /// Creates a module with a source of App Check tokens, for projects that enforce them, or with an exchange of the sessions of
    /// another provider for ID tokens of the project. Without an exchange, requests of those sessions are unauthenticated.
    public init(
        _ configuration: FirebaseConfiguration, appCheck: FirebaseAppCheck?, tokenExchange: TokenExchange? = nil
    ) {
        self.init(
            configuration, appCheck: appCheck, tokenExchange: tokenExchange,
            environment: ProcessInfo.processInfo.environment, transport: PlatformTransport.make)
    }

    package init(
        _ configuration: FirebaseConfiguration, appCheck: FirebaseAppCheck? = nil,
        tokenExchange: TokenExchange? = nil, environment: [String: String],
        transport: @escaping @Sendable () -> any Transport
    ) {
        self.init(
            configuration, appCheck: appCheck, tokenExchange: tokenExchange, environment: environment
        ) { _ in transport() }
    }

    private init(
        _ configuration: FirebaseConfiguration, appCheck: FirebaseAppCheck?, tokenExchange: TokenExchange?,
        environment: [String: String], transport: @escaping @Sendable (CallLimits) -> any Transport
    ) {
        self.tokenExchange = tokenExchange
        self.configuration = configuration
        self.appCheck = appCheck
        self.environment = environment
        makeTransport = transport
    }

    public func reconfigured(_ configuration: FirebaseConfiguration) -> FirebaseModule {
        FirebaseModule(
            configuration, appCheck: appCheck, tokenExchange: tokenExchange, environment: environment,
            transport: makeTransport)
    }

    public func validate() throws(InfrastructureError) {
        let configuration = try self.configuration.resolved(environment: environment).configuration
        for (name, text) in [("project", configuration.project), ("database", configuration.database)] {
            guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }) else {
                throw InfrastructureError(
                    .invalidConfiguration,
                    "Firebase's \(name) must be an ID, not \(Secret.shown(text)). Copy it from the Firebase console.")
            }
        }
        if let account = configuration.serviceAccount, !GoogleKeyFile.isAccountName(account) {
            throw InfrastructureError(
                .invalidConfiguration,
                "Firebase's serviceAccount must be the address of a service account, such as "
                    + "robot@demo.iam.gserviceaccount.com, not \(Secret.shown(account)).")
        }
        guard configuration.cacheBytes > 0 else {
            throw InfrastructureError(.invalidConfiguration, "Firebase's cacheBytes must be above zero.")
        }
        _ = try FirebaseEndpoints(configuration, environment: environment)
    }

    public func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        try FirebaseAuthAdapter(clientContext(context))
    }

    public func makeMessagingClient(_ context: ModuleContext) async throws(InfrastructureError) -> any MessagingClient {
        try FirebaseMessagingAdapter(clientContext(context))
    }

    public func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        try await clientContext(context).makeStorageClient()
    }

    public func makeFileStorageClient(
        _ context: ModuleContext
    ) async throws(InfrastructureError) -> any FileStorageClient {
        try FirebaseFileStorageAdapter(clientContext(context))
    }

    public func makeServerClientFactory(_ context: ModuleContext) async throws(InfrastructureError)
        -> any ServerClientFactory
    {
        FirebaseServerClientFactory(try clientContext(context))
    }

    public func wipeLocalData(of userID: AuthUser.ID?, _ context: ModuleContext) async throws(InfrastructureError) {
        var configuration = configuration
        // Local data can be wiped without a valid credential, unless only the credential names the project.
        if configuration.project.isEmpty {
            configuration = try configuration.resolved(environment: environment).configuration
        }
        let endpoints = try FirebaseEndpoints(configuration, environment: environment)
        for name in [FirestoreFolder.name(configuration, endpoints), "documents"] {
            if let folder = context.place(of: name) { try SyncStorage.wipe(folder, of: userID) }
        }
    }

    /// The context of a new client. Each client has its own transport, which is shut down with it.
    func clientContext(_ context: ModuleContext) throws(InfrastructureError) -> FirebaseContext {
        try validate()
        let (configuration, source) = try self.configuration.resolved(environment: environment)
        let transport = NamedTransport(makeTransport(context.callLimits), program: context.program)
        let credential = source.map {
            ProjectTokens($0, transport: transport, clock: context.clock, now: context.now)
        }
        return FirebaseContext(
            configuration: configuration,
            endpoints: try FirebaseEndpoints(configuration, environment: environment),
            transport: transport,
            tokens: FirebaseTokens(
                auth: TokenExchange.source(context.auth, for: .firebase, tokenExchange, now: context.now),
                appCheck: appCheck, project: configuration.project, credential: credential),
            module: context)
    }
}
