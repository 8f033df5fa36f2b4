import Foundation
import ProviderWire
import Switchyard
import SwitchyardBytes

/// Keeps this installation registered and on its channels: one step after the other, whoever asks.
actor SupabaseRegistrar {
    private let service: PostgRESTService
    private let socket: RealtimeSocket
    private let file: StateFile
    private let hub: MessagingHub
    private let auth: (any AuthClient)?
    private let clock: any Clock<Duration>
    private let flight = SingleFlight<MessagingToken, MessagingError>(cancellation: {
        MessagingError(.cancelled, "The call was cancelled.")
    })
    private var state = SupabaseMessagingState()
    private var isRead = false
    /// As whose the installation is known to be registered.
    private var registeredOwner: AuthUser.ID?
    /// Whether it is registered with the present token of the platform.
    private var isCurrent = false
    private var listeners: [MessageChannel: MessageListener] = [:]
    /// Changes of the registration wait for each other here.
    private let turns = Turns()
    private var follower: Task<Void, Never>?

    /// How long a channel may take to be joined before a call gives up.
    private static let patience = Duration.seconds(30)

    init(
        _ service: PostgRESTService, _ socket: RealtimeSocket, file: URL?, hub: MessagingHub, _ context: ModuleContext
    ) {
        self.service = service
        self.socket = socket
        self.file = StateFile(file)
        self.hub = hub
        auth = context.auth
        clock = context.clock
    }

    // MARK: What is asked

    var permission: MessagingPermission {
        read()
        return state.permission
    }

    func requestPermission() -> MessagingPermission {
        read()
        if state.permission == .undetermined { change { $0.permission = .granted } }
        return state.permission
    }

    func setPlatformToken(_ token: PlatformPushToken?) async throws(MessagingError) {
        read()
        guard token != state.platformToken else { return }
        change { $0.platformToken = token }
        isCurrent = false
        if state.installation != nil { _ = try await self.token() }
    }

    nonisolated func token() async throws(MessagingError) -> MessagingToken {
        try await flight.run { [self] () async throws(MessagingError) in
            try await turns.take { [self] () async throws(MessagingError) in try await register() }
        }
    }

    func deleteToken() async throws(MessagingError) {
        try await turns.take { [self] () async throws(MessagingError) in try await unregister() }
    }

    func subscribe(to topic: MessagingTopic) async throws(MessagingError) {
        read()
        try await join(.topic(topic))
        change { $0.topics.insert(topic) }
    }

    func unsubscribe(from topic: MessagingTopic) {
        read()
        leave(.topic(topic))
        change { $0.topics.remove(topic) }
    }

    /// Takes up again what was kept from before; for whoever begins to listen.
    func resume() {
        guard !isRead else { return }
        read()
        for topic in state.topics { _ = listener(.topic(topic)) }
        guard state.installation != nil else { return }
        Task { try? await token() }
    }

    func shutDown() {
        follower?.cancel()
        for listener in listeners.values { listener.leave() }
        listeners = [:]
    }

    // MARK: Registering

    private func register() async throws(MessagingError) -> MessagingToken {
        read()
        follow()
        let id = state.installation ?? RandomID.make(length: 32)
        let owner = await auth?.state.user?.id
        if state.installation == nil || owner == nil || owner != registeredOwner || !isCurrent {
            let platform = state.platformToken
            var arguments: JSONObject = ["installation": .string(id)]
            if let platform {
                arguments["service"] = .string(platform.service.rawValue)
                arguments["token"] = .string(platform.token.reveal())
            }
            try await call("switchyard_register", arguments)
            registeredOwner = owner
            isCurrent = platform == state.platformToken
            change { $0.installation = id }
        }
        try await join(.installation(id))
        let token = MessagingToken(Secret(id))
        hub.tell(token)
        return token
    }

    private func unregister() async throws(MessagingError) {
        read()
        if let id = state.installation {
            try await call("switchyard_unregister", ["installation": .string(id)])
            leave(.installation(id))
            registeredOwner = nil
            change { $0.installation = nil }
        }
        hub.tell(nil)
    }

    private func call(_ function: String, _ arguments: JSONObject) async throws(MessagingError) {
        do throws(StorageError) {
            _ = try await service.call(function, arguments, isIdempotent: true)
        } catch {
            throw MessagingError(error)
        }
    }

    /// From the first registration on, it follows whoever is signed in.
    private func follow() {
        guard follower == nil, let auth else { return }
        let states = auth.authStateStream()
        follower = Task { [weak self] in
            for await state in states {
                if case .signedIn(let user) = state { await self?.signedIn(user.id) }
            }
        }
    }

    private func signedIn(_ user: AuthUser.ID) {
        guard state.installation != nil, let registeredOwner, user != registeredOwner else { return }
        Task { try? await token() }
    }

    // MARK: Channels

    private func listener(_ channel: MessageChannel) -> Result<MessageListener, MessagingError> {
        if let present = listeners[channel] { return .success(present) }
        do throws(RealtimeFailure) {
            let joined = try socket.join(
                channel.name, RealtimeConfiguration(isPrivate: true, awaitsDatabase: true))
            let listener = MessageListener(joined, topic: channel.topic, hub: hub) { [weak self] in
                await self?.leave(channel)
            }
            listeners[channel] = listener
            return .success(listener)
        } catch {
            return .failure(MessagingError(error))
        }
    }

    private func join(_ channel: MessageChannel) async throws(MessagingError) {
        let listener = try listener(channel).get()
        let wasJoining = Task { [clock] in
            // Who waits in vain is told so; the channel is left then.
            try? await clock.sleep(for: Self.patience)
            if !Task.isCancelled { listener.leave() }
        }
        defer { wasJoining.cancel() }
        do throws(MessagingError) {
            try await listener.joined()
        } catch {
            if listeners[channel] === listener { leave(channel) }
            let isLate = error.code == .cancelled && !Task.isCancelled
            throw isLate ? MessagingError(.unavailable, "The realtime service cannot be reached.") : error
        }
    }

    private func leave(_ channel: MessageChannel) { listeners.removeValue(forKey: channel)?.leave() }

    // MARK: What is kept

    private func read() {
        guard !isRead else { return }
        isRead = true
        if let kept = file.read().flatMap(SupabaseMessagingState.init(json:)) { state = kept }
        if let id = state.installation { hub.tell(MessagingToken(Secret(id))) }
    }

    private func change(_ body: (inout SupabaseMessagingState) -> Void) {
        body(&state)
        file.write(state.json)
    }
}
