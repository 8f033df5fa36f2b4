public import Foundation
public import Switchyard
import SwitchyardBytes
import Synchronization

/// Firebase for the app as a whole: its settings, wherever they stand, the way into messaging, and the switch for analytics.
///
/// ```swift
/// let app = try FirebaseAppClient.configure(contentsOf: googleServices)
/// let backend = try await InfrastructureFactory(app.module).make(InfrastructureSelection(default: .firebase))
/// try await app.setupMessaging(on: backend.messaging, platformToken: token)
/// ```
/// Nothing here is global: an app that speaks to two projects has two of them.
public final class FirebaseAppClient: Sendable {
    public let configuration: FirebaseConfiguration
    /// For an `InfrastructureFactory`.
    public let module: FirebaseModule
    private let file: URL?
    private let isEnabled: Mutex<Bool>

    /// - Parameters:
    ///   - configuration: The settings, checked as a whole before anything is made.
    ///   - appCheck: Where tokens of App Check come from, for projects that enforce it.
    ///   - stateFolder: Where the switch for analytics is kept; `nil` forgets it with this value.
    ///   - analyticsDefault: What holds until somebody uses the switch.
    /// - Throws: `.invalidConfiguration` for settings that cannot be; `.localStore` if the kept switch cannot be read.
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

    /// Asks for the permission if nobody has yet, hands over the platform's push token and registers.
    ///
    /// - Parameters:
    ///   - messaging: The client to register with.
    ///   - platformToken: What the platform's push service gave the app; it is never fetched from here.
    /// - Throws: `.permissionDenied`; `.unsupported` where there is no push service, on a server for instance.
    @discardableResult
    public func setupMessaging(
        on messaging: any MessagingClient, platformToken: PlatformPushToken?
    ) async throws(MessagingError) -> MessagingToken {
        if await messaging.permission == .undetermined { _ = try await messaging.requestPermission() }
        if let platformToken { try await messaging.setPlatformToken(platformToken) }
        return try await messaging.token()
    }

    // MARK: Analytics

    /// Whether the user agreed to analytics, as far as this device knows.
    ///
    /// No event is ever sent from here: how Google's own libraries send theirs is not public. The switch is for whatever the
    /// app itself reports with: ask it before each event.
    public var isAnalyticsEnabled: Bool { isEnabled.withLock { $0 } }

    /// Keeps the user's choice; it outlasts the process if there is a state folder.
    ///
    /// - Throws: `.localStore` if it cannot be kept; it holds for this process all the same.
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

    /// The kept choice; `nil` if there is none yet.
    private static func kept(_ file: URL) throws(InfrastructureError) -> Bool? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        guard let data = try? Data(contentsOf: file), let isEnabled = (try? JSON(parsing: data))?["analytics"]?.bool
        else {
            // Better to stop than to take a damaged file for consent.
            throw InfrastructureError(
                .localStore, "The choice about analytics in “\(file.path)” cannot be read; delete the file to ask anew."
            )
        }
        return isEnabled
    }
}
