public import Foundation
public import Switchyard
import SwitchyardBytes
import Synchronization

/// Firebase for the app as a whole: its settings from any source, messaging setup, and the analytics setting.
///
/// ```swift
/// let app = try FirebaseAppClient.configure(contentsOf: googleServices)
/// let backend = try await InfrastructureFactory(app.module).make(InfrastructureSelection(default: .firebase))
/// try await app.setupMessaging(on: backend.messaging, platformToken: token)
/// ```
/// There is no global state: an app that uses two projects creates two instances.
public final class FirebaseAppClient: Sendable {
    public let configuration: FirebaseConfiguration
    /// For an `InfrastructureFactory`.
    public let module: FirebaseModule
    private let file: URL?
    private let isEnabled: Mutex<Bool>

    /// - Parameters:
    ///   - configuration: The settings, which are validated first.
    ///   - appCheck: The source of App Check tokens, for projects that enforce them.
    ///   - stateFolder: Where the analytics setting is stored; with `nil`, it is held in memory only.
    ///   - analyticsDefault: The setting until it is first changed.
    /// - Throws: `.invalidConfiguration` for invalid settings; `.localStore` if the stored setting cannot be read.
    public static func configure(
        _ configuration: FirebaseConfiguration, appCheck: FirebaseAppCheck? = nil, stateFolder: URL? = nil,
        analyticsDefault: Bool = true
    ) throws(InfrastructureError) -> FirebaseAppClient {
        let module = FirebaseModule(configuration, appCheck: appCheck)
        try module.validate()
        let file = stateFolder?.appendingPathComponent("firebase-analytics.json", isDirectory: false)
        let choice = if let file { try kept(file) } else { Bool?.none }
        return FirebaseAppClient(module, file, choice ?? analyticsDefault)
    }

    /// From a file of the Firebase console, or one with the names of ``FirebaseConfiguration``; see
    /// ``FirebaseConfiguration/init(appFile:app:)``.
    public static func configure(
        contentsOf file: URL, app: String? = nil, appCheck: FirebaseAppCheck? = nil, stateFolder: URL? = nil,
        analyticsDefault: Bool = true
    ) throws(InfrastructureError) -> FirebaseAppClient {
        try configure(
            FirebaseConfiguration(contentsOf: file, app: app), appCheck: appCheck, stateFolder: stateFolder,
            analyticsDefault: analyticsDefault)
    }

    private init(_ module: FirebaseModule, _ file: URL?, _ isEnabled: Bool) {
        self.module = module
        configuration = module.configuration
        self.file = file
        self.isEnabled = Mutex(isEnabled)
    }

    // MARK: Messaging

    /// Asks for permission unless that was done before, sets the platform's push token and registers.
    ///
    /// - Parameters:
    ///   - messaging: The client to register with.
    ///   - platformToken: The token from the platform's push service, which only the app can obtain.
    /// - Throws: `.permissionDenied`; `.unsupported` if there is no push service, for example on a server.
    @discardableResult
    public func setupMessaging(
        on messaging: any MessagingClient, platformToken: PlatformPushToken?
    ) async throws(MessagingError) -> MessagingToken {
        if await messaging.permission == .undetermined { _ = try await messaging.requestPermission() }
        if let platformToken { try await messaging.setPlatformToken(platformToken) }
        return try await messaging.token()
    }

    // MARK: Analytics

    /// Whether the user has allowed analytics, as far as this device knows.
    ///
    /// This library never sends events, since the protocol of Google's own libraries is not public. Check this setting before
    /// each event that the app itself reports.
    public var isAnalyticsEnabled: Bool { isEnabled.withLock { $0 } }

    /// Stores the user's choice. It is remembered across launches if there is a state folder.
    ///
    /// - Throws: `.localStore` if it cannot be stored; it still applies to this process.
    public func setAnalyticsEnabled(_ isEnabled: Bool) throws(InfrastructureError) {
        self.isEnabled.withLock { $0 = isEnabled }
        guard let file else { return }
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(JSON.object(["analytics": .bool(isEnabled)]).bytes()).write(to: file, options: .atomic)
        } catch {
            throw InfrastructureError(
                .localStore, "The analytics setting cannot be saved in “\(file.path)”.", underlying: error)
        }
    }

    /// The stored choice; `nil` if there is none yet.
    private static func kept(_ file: URL) throws(InfrastructureError) -> Bool? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        guard let data = try? Data(contentsOf: file), let isEnabled = (try? JSON(parsing: data))?["analytics"]?.bool
        else {
            // Never take a damaged file for consent.
            throw InfrastructureError(
                .localStore,
                "The choice about analytics in “\(file.path)” cannot be read; delete the file to choose again."
            )
        }
        return isEnabled
    }
}
