import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardProviderKit
import SwitchyardWire

/// Keeps this installation registered. Changes run one at a time.
actor FirebaseRegistrar {
    private let service: FirebaseMessagingService
    private let file: StateFile
    private let hub: MessageInbox
    private let flight = SingleFlight<MessagingToken, MessagingError>(cancellation: {
        MessagingError(.cancelled, "The call was cancelled.")
    })
    private var state = FirebaseMessagingState()
    private var isRead = false
    /// Serializes changes of the registration.
    private let turns = AsyncSerialQueue()
    /// Serializes changes of the installation, so that a waiting call finds what the previous one has obtained.
    private let installing = AsyncSerialQueue()

    init(_ service: FirebaseMessagingService, file: URL?, hub: MessageInbox) {
        self.service = service
        self.file = StateFile(file)
        self.hub = hub
    }

    // MARK: Operations

    var permission: MessagingPermission {
        read()
        return state.permission
    }

    func setPermission(_ permission: MessagingPermission) async throws(MessagingError) {
        read()
        change { $0.permission = permission }
        if permission == .denied { try await deleteRegistration() }
    }

    func setPlatformToken(_ token: PlatformPushToken?) async throws(MessagingError) {
        read()
        if let token, token.service != .fcm { _ = try body(token) }
        let wasRegistered = state.registration != nil
        change { $0.platformToken = token }
        guard wasRegistered else { return }
        if token == nil { try await deleteRegistration() } else { _ = try await self.token() }
    }

    nonisolated func token() async throws(MessagingError) -> MessagingToken {
        try await flight.run { [self] () async throws(MessagingError) in
            try await turns.take { [self] () async throws(MessagingError) in try await register() }
        }
    }

    func deleteToken() async throws(MessagingError) {
        try await turns.take { [self] () async throws(MessagingError) in
            try await removeRegistration()
            guard let installation = await state.installation else { return }
            try await call { service throws(FirebaseMessagingFailure) in try await service.uninstall(installation) }
            await change { $0.installation = nil }
        }
    }

    private func deleteRegistration() async throws(MessagingError) {
        try await turns.take { [self] () async throws(MessagingError) in try await removeRegistration() }
    }

    func setSubscribed(_ isSubscribed: Bool, _ topic: MessagingTopic) async throws(MessagingError) {
        read()
        if let service = state.platformToken?.service, service != .apns, service != .apnsSandbox {
            throw .unsupported(
                "topics with a token of \(service.rawValue)", by: .firebase,
                instead: "Let a server subscribe the device, with FirebaseMessageSender.")
        }
        // The second attempt is for an installation that had to be replaced meanwhile, together with its registration.
        for _ in 0..<2 {
            let token = try await token()
            let isDone = try await withInstallation { [self] service, installation throws(FirebaseMessagingFailure) in
                guard await isRegistered(token) else { return false }
                try await service.setSubscribed(isSubscribed, token.value.reveal(), topic, installation)
                return true
            }
            if isDone { return }
        }
        throw MessagingError(.unavailable, "The server rejected one installation after the other. Try again later.")
    }

    private func isRegistered(_ token: MessagingToken) -> Bool { state.registration?.token == token.value.reveal() }

    // MARK: Registering

    private func register() async throws(MessagingError) -> MessagingToken {
        read()
        try state.permission.check()
        while let platform = state.platformToken {
            if let known = state.registration,
                known.isGood(for: platform, appID: service.appID, appVersion: service.appVersion, at: service.now())
            {
                return publish(known.token)
            }
            let token = try await name(of: platform)
            change { state in
                state.registration = FirebaseRegistration(
                    token: token, service: platform.service, platformToken: platform.token, appID: service.appID,
                    appVersion: service.appVersion, registeredAt: service.now())
            }
            if state.platformToken == platform { return publish(token) }
            // The platform has changed or withdrawn its token meanwhile: another round.
        }
        if state.registration != nil { try await removeRegistration() }
        throw MessagingError(.noPlatformToken, "Call setPlatformToken(_:) with the platform's push token first.")
    }

    /// The server's name for the device, once it has the platform's token.
    private func name(of platform: PlatformPushToken) async throws(MessagingError) -> String {
        // Android's own library has already registered; its token is the name.
        if platform.service == .fcm { return platform.token.reveal() }
        let body = try body(platform)
        let isWeb = platform.service == .webPush
        return try await withInstallation { service, installation throws(FirebaseMessagingFailure) in
            try await service.register(body, installation, isWeb: isWeb)
        }
    }

    private func removeRegistration() async throws(MessagingError) {
        read()
        if let known = state.registration {
            // A registration by Android's library is left to that library.
            if known.service != .fcm {
                try await withInstallation { service, installation throws(FirebaseMessagingFailure) in
                    try await service.unregister(known.token, installation, isWeb: known.service == .webPush)
                }
            }
            change { $0.registration = nil }
        }
        hub.tell(nil)
    }

    private func publish(_ token: String) -> MessagingToken {
        let token = MessagingToken(Secret(token))
        hub.tell(token)
        return token
    }

    /// The platform's part of a registration.
    private func body(_ platform: PlatformPushToken) throws(MessagingError) -> JSONObject {
        switch platform.service {
        case .apns, .apnsSandbox:
            guard let bundle = service.bundleID else {
                throw MessagingError(.invalidArgument, "Set Firebase's bundleID, which Apple's push service goes by.")
            }
            return [
                "ios": [
                    "apns_token": .string(platform.token.reveal().lowercased()),
                    "app_version": .string(service.appVersion),
                    "apns_environment": platform.service == .apns ? "PROD" : "SANDBOX", "bundle_id": .string(bundle),
                ]
            ]
        case .webPush:
            // The subscription, as browsers encode it.
            guard let json = try? JSON(parsing: platform.token.reveal()), let endpoint = json["endpoint"]?.string,
                let key = json["keys"]?["p256dh"]?.string, let auth = json["keys"]?["auth"]?.string
            else {
                throw MessagingError(
                    .invalidArgument, "A token for web push is the JSON of the browser's subscription, with its keys.")
            }
            var web: JSONObject = [
                "endpoint": .string(endpoint), "p256dh": .string(key), "auth": .string(auth),
                "origin": .string(json["origin"]?.string.map(Self.host) ?? service.bundleID ?? service.project),
            ]
            web["applicationPubKey"] = json["applicationServerKey"]
            return ["web": .object(web)]
        default:
            throw MessagingError(
                .invalidArgument, "Firebase accepts push tokens of apns, apnsSandbox, fcm and webPush only.")
        }
    }

    /// A browser's origin as the service expects it: the host, and the port if there is one.
    private static func host(_ origin: String) -> String {
        guard let parts = try? URLParts(validating: origin) else { return origin }
        return parts.port.map { "\(parts.host):\($0)" } ?? parts.host
    }

    // MARK: The installation

    /// Makes a call in the name of the installation. An installation that the server has forgotten is created again, and a
    /// refused or mismatched token of it is replaced, as often as that may help.
    private func withInstallation<Answer: Sendable>(
        _ body:
            @Sendable (FirebaseMessagingService, FirebaseInstallation) async throws(FirebaseMessagingFailure) ->
            Answer
    ) async throws(MessagingError) -> Answer {
        do throws(FirebaseMessagingFailure) {
            var installation = try await installation()
            var attempts = 1
            while true {
                do throws(FirebaseMessagingFailure) {
                    return try await body(service, installation)
                } catch {
                    guard attempts < error.worthwhileAttempts else { throw error }
                }
                attempts += 1
                installation = try await self.installation(refusing: installation.token)
            }
        } catch {
            throw MessagingError(error)
        }
    }

    /// The installation, with a valid token other than the refused one.
    private func installation(
        refusing refused: Secret? = nil
    ) async throws(FirebaseMessagingFailure) -> FirebaseInstallation {
        try await installing.take { [self] () async throws(FirebaseMessagingFailure) in
            try await renewedInstallation(refusing: refused)
        }
    }

    private func renewedInstallation(
        refusing refused: Secret?
    ) async throws(FirebaseMessagingFailure) -> FirebaseInstallation {
        read()
        if let known = state.installation {
            if known.isGood(at: service.now()), known.token != refused { return known }
            do throws(FirebaseMessagingFailure) {
                let fresh = try await service.refresh(known)
                change { $0.installation = fresh }
                return fresh
            } catch {
                // The installation is gone or its token is refused, so a new one is needed.
                guard error.status == 401 || error.status == 404 else { throw error }
                change { state in
                    state.installation = nil
                    state.registration = nil
                }
            }
        }
        var made: FirebaseInstallation
        do throws(FirebaseMessagingFailure) {
            made = try await service.install(as: makeID())
        } catch {
            // The ID is taken or blocked; try another one.
            guard error.status == 409 else { throw error }
            made = try await service.install(as: makeID())
        }
        change { $0.installation = made }
        return made
    }

    private func makeID() -> String {
        var generator = SystemRandomNumberGenerator()
        return FirebaseInstallation.makeID(using: &generator)
    }

    private func call(
        _ body: @Sendable (FirebaseMessagingService) async throws(FirebaseMessagingFailure) -> Void
    ) async throws(MessagingError) {
        do throws(FirebaseMessagingFailure) { try await body(service) } catch { throw MessagingError(error) }
    }

    // MARK: State

    func read() {
        guard !isRead else { return }
        isRead = true
        if let kept = file.read().flatMap(FirebaseMessagingState.init(json:)) { state = kept }
        if let token = state.registration?.token { hub.tell(MessagingToken(Secret(token))) }
    }

    private func change(_ body: (inout FirebaseMessagingState) -> Void) {
        body(&state)
        file.write(state.json)
    }
}
