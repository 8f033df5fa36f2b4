public import Foundation
public import Switchyard

/// What an app asks of Firebase as a whole: a backend on its project, and the registration for messages. A protocol, so that a
/// dependency container can hold the live app, one for previews and one for tests:
///
/// ```swift
/// let app: any FirebaseAppClient = try .live(contentsOf: googleServices, stateFolder: folder)
/// let backend = try await app.configure()
/// try await app.setupMessaging(on: backend.messaging, platformToken: token) { .granted }
/// ```
/// There is no global state: an app that uses two projects has two of them.
public protocol FirebaseAppClient: Sendable {
    /// All clients, on the app's project. Two calls make two backends; keep one.
    func configure() async throws(InfrastructureError) -> Infrastructure

    /// Asks for permission, sets the platform's push token and registers.
    ///
    /// - Parameters:
    ///   - messaging: The client to register with.
    ///   - platformToken: The token from the platform's push service, which only the app can obtain.
    ///   - dialog: Shows the platform's dialog, as for `requestPermission(_:)`, on the caller's actor.
    /// - Throws: `.permissionDenied` after a denial; `.noPlatformToken` without a token; `.unsupported` if there is no push service,
    ///   for example on a server.
    @discardableResult
    nonisolated(nonsending) func setupMessaging(
        on messaging: any MessagingClient, platformToken: PlatformPushToken?,
        asking dialog: () async throws -> MessagingPermission
    ) async throws(MessagingError) -> MessagingToken
}

extension FirebaseAppClient {
    @discardableResult
    nonisolated(nonsending) public func setupMessaging(
        on messaging: any MessagingClient, platformToken: PlatformPushToken?,
        asking dialog: () async throws -> MessagingPermission
    ) async throws(MessagingError) -> MessagingToken {
        try await messaging.requestPermission(dialog)
        if let platformToken { try await messaging.setPlatformToken(platformToken) }
        return try await messaging.token()
    }
}

/// The app on its real project.
public struct LiveFirebaseApp: FirebaseAppClient {
    public let configuration: FirebaseConfiguration
    /// For an `InfrastructureFactory` that has more modules than this one.
    public let module: FirebaseModule
    private let stateFolder: URL?

    /// - Parameters:
    ///   - configuration: The settings, which are validated here.
    ///   - appCheck: The source of App Check tokens, for projects that enforce them.
    ///   - stateFolder: Where the session, the cache and unsent writes are kept; with `nil`, in memory only.
    /// - Throws: `.invalidConfiguration`.
    public init(
        _ configuration: FirebaseConfiguration, appCheck: FirebaseAppCheck? = nil, stateFolder: URL?
    ) throws(InfrastructureError) {
        module = FirebaseModule(configuration, appCheck: appCheck)
        try module.validate()
        self.configuration = module.configuration
        self.stateFolder = stateFolder
    }

    public func configure() async throws(InfrastructureError) -> Infrastructure {
        try await InfrastructureFactory(module).make(
            InfrastructureSelection(default: .firebase), in: InfrastructureOptions(stateFolder: stateFolder))
    }
}

/// An app that answers what a test or a preview sets, and refuses everything else by name.
public struct StubFirebaseApp: FirebaseAppClient {
    private let backend: (@Sendable () async throws(InfrastructureError) -> Infrastructure)?

    /// - Parameter configure: Makes the backend: on a mock, say. With `nil`, the call throws `.clientNotSet`.
    public init(configure: (@Sendable () async throws(InfrastructureError) -> Infrastructure)? = nil) {
        backend = configure
    }

    public func configure() async throws(InfrastructureError) -> Infrastructure {
        guard let backend else {
            throw InfrastructureError(
                .clientNotSet,
                "“configure” was called on the Firebase app, which has not been set. Set it with StubFirebaseApp(configure:)."
            )
        }
        return try await backend()
    }
}

extension FirebaseAppClient where Self == LiveFirebaseApp {
    /// See ``LiveFirebaseApp/init(_:appCheck:stateFolder:)``.
    public static func live(
        _ configuration: FirebaseConfiguration, appCheck: FirebaseAppCheck? = nil, stateFolder: URL?
    ) throws(InfrastructureError) -> Self {
        try LiveFirebaseApp(configuration, appCheck: appCheck, stateFolder: stateFolder)
    }

    /// From a file of the Firebase console, or one with the names of ``FirebaseConfiguration``; see
    /// ``FirebaseConfiguration/init(appFile:app:)``.
    public static func live(
        contentsOf file: URL, app: String? = nil, appCheck: FirebaseAppCheck? = nil, stateFolder: URL?
    ) throws(InfrastructureError) -> Self {
        try live(FirebaseConfiguration(contentsOf: file, app: app), appCheck: appCheck, stateFolder: stateFolder)
    }
}

extension FirebaseAppClient where Self == StubFirebaseApp {
    /// Gives `backend`, such as one of the mock with a sample.
    public static func preview(_ backend: Infrastructure) -> Self {
        StubFirebaseApp { () async throws(InfrastructureError) in backend }
    }

    /// Refuses everything by name.
    public static var test: Self { StubFirebaseApp() }
}
