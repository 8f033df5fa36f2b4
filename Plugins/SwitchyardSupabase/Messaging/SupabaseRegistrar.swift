import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardProviderKit

/// Keeps this installation registered and on its channels, one step after the other.
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
    private var hasResumed = false
    private var isShutDown = false
    /// As whose the installation is known to be registered.
    private var registeredOwner: AuthUser.ID?
    /// Whether it is registered with the present token of the platform.
    private var isCurrent = false
    /// What shall be heard. Whatever of it has no listener is taken up again when somebody signs in, and after a while.
    private var wanted: Set<MessageChannel> = []
    private var listeners: [MessageChannel: MessageListener] = [:]
    /// Changes of the registration wait for each other here.
    private let turns = Turns()
    private var follower: Task<Void, Never>?
    private var repair: Task<Void, Never>?
    /// How many were in vain, in a row.
    private var repairs = 0

    /// How long a channel may take to be joined before a call gives up.
    private static let patience = Duration.seconds(30)
    /// After how long it is tried again what was refused: each refusal holds up all other channels for some seconds.
    private static let retry = Duration.seconds(60)
    private static let longestRetry = Duration.seconds(600)

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
            try await turns.take { [self] () async throws(MessagingError) in
                do throws(MessagingError) {
                    return try await register()
                } catch {
                    await takeUpLater()
                    throw error
                }
            }
        }
    }

    func deleteToken() async throws(MessagingError) {
        try await turns.take { [self] () async throws(MessagingError) in try await unregister() }
    }

    func subscribe(to topic: MessagingTopic) async throws(MessagingError) {
        read()
        follow()
        try await join(.topic(topic))
        if !isShutDown { wanted.insert(.topic(topic)) }
        if !isHeard(.topic(topic)) { takeUpLater() }
        change { $0.topics.insert(topic) }
    }

    func unsubscribe(from topic: MessagingTopic) {
        read()
        wanted.remove(.topic(topic))
        leave(.topic(topic))
        change { $0.topics.remove(topic) }
    }

    /// Takes up again what was kept from before; for whoever begins to listen.
    func resume() async {
        guard !hasResumed, !isShutDown else { return }
        hasResumed = true
        read()
        wanted.formUnion(state.topics.map(MessageChannel.topic))
        if let id = state.installation { wanted.insert(.installation(id)) }
        guard !wanted.isEmpty else { return }
        follow()
        await takeUp()
    }

    func shutDown() {
        isShutDown = true
        follower?.cancel()
        repair?.cancel()
        wanted = []
        for listener in listeners.values { listener.leave() }
        listeners = [:]
    }

    // MARK: Registering

    private func register() async throws(MessagingError) -> MessagingToken {
        read()
        follow()
        let id = state.installation ?? RandomID.make(length: 32)
        let owner = await auth?.state.user?.id
        // A channel that has ended may have done so because the registration is gone.
        let isDoubtful = listeners[.installation(id)]?.isOver == true
        if state.installation == nil || owner == nil || owner != registeredOwner || !isCurrent || isDoubtful {
            let platform = state.platformToken
            var arguments: JSONObject = ["installation": .string(id)]
            if let platform {
                arguments["service"] = .string(platform.service.rawValue)
                arguments["token"] = .string(platform.token.reveal())
            }
            try await call("switchyard_register", arguments)
            change { $0.installation = id }
            isCurrent = platform == state.platformToken
            if owner != registeredOwner {
                // Joined for somebody else, who has lost it with this, or does before long.
                leave(.installation(id))
                registeredOwner = owner
                await socket.followToken()
            }
        }
        if !isShutDown { wanted.insert(.installation(id)) }
        try await join(.installation(id))
        let token = MessagingToken(Secret(id))
        hub.tell(token)
        return token
    }

    private func unregister() async throws(MessagingError) {
        read()
        if let id = state.installation {
            try await call("switchyard_unregister", ["installation": .string(id)])
            wanted.remove(.installation(id))
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

    /// From the first channel on, it follows whoever is signed in.
    private func follow() {
        guard follower == nil, let auth else { return }
        let states = auth.authStateStream()
        follower = Task { [weak self] in
            for await state in states where state.isSignedIn { await self?.signedIn() }
        }
    }

    /// The channels may have ended for whoever was there before.
    private func signedIn() async {
        repairs = 0
        await socket.followToken()
        await takeUp()
    }

    /// Listens to whatever is wanted and not heard, and registers the installation if it is not known to be.
    private func takeUp() async {
        let user = await auth?.state.user?.id
        // Policies let nobody in who is not signed in; a sign-in is followed.
        guard auth == nil || user != nil else { return }
        for case .topic(let topic) in wanted {
            if case .failure = listener(.topic(topic)) { takeUpLater() }
        }
        guard let id = state.installation, wanted.contains(.installation(id)),
            !isHeard(.installation(id)) || user != registeredOwner || !isCurrent
        else { return }
        Task { try? await token() }
    }

    private func takeUpLater() {
        guard repair == nil, !wanted.isEmpty, !isShutDown else { return }
        let pause = min(Self.retry * (1 << min(repairs, 10)), Self.longestRetry)
        repairs += 1
        repair = Task { [weak self, clock] in
            guard (try? await clock.sleep(for: pause)) != nil else { return }
            await self?.takeUpNow()
        }
    }

    private func takeUpNow() async {
        repair = nil
        await takeUp()
    }

    // MARK: Channels

    /// Whether it is joined, or will be by itself.
    private func isHeard(_ channel: MessageChannel) -> Bool { listeners[channel]?.isOver == false }

    private func listener(_ channel: MessageChannel) -> Result<MessageListener, MessagingError> {
        if let present = listeners[channel], !present.isOver { return .success(present) }
        guard !isShutDown else { return .failure(MessagingError(.shutDown, "The client was shut down.")) }
        do throws(RealtimeFailure) {
            let joined = try socket.join(
                channel.name, RealtimeConfiguration(isPrivate: true, awaitsDatabase: true, replays: true))
            let listener = MessageListener(joined, topic: channel.topic, hub: hub) { [weak self] listener in
                await self?.ended(listener, of: channel)
            }
            listeners[channel] = listener
            return .success(listener)
        } catch {
            return .failure(MessagingError(error))
        }
    }

    private func join(_ channel: MessageChannel) async throws(MessagingError) {
        let listener = try listener(channel).get()
        let waiting = Task { () async -> Result<Void, MessagingError> in
            do throws(MessagingError) { return .success(try await listener.joined()) } catch { return .failure(error) }
        }
        let patience = Task { [clock] in
            // Who waits in vain is told so.
            if (try? await clock.sleep(for: Self.patience)) != nil { waiting.cancel() }
        }
        defer { patience.cancel() }
        let result = await withTaskCancellationHandler {
            await waiting.value
        } onCancel: {
            waiting.cancel()
        }
        do throws(MessagingError) {
            try result.get()
            repairs = 0
        } catch {
            // What is wanted goes on trying.
            if !wanted.contains(channel), listeners[channel] === listener { leave(channel) }
            let isLate = error.code == .cancelled && !Task.isCancelled
            throw isLate ? MessagingError(.unavailable, "The realtime service cannot be reached.") : error
        }
    }

    private func ended(_ listener: MessageListener, of channel: MessageChannel) {
        guard listeners[channel] === listener else { return }
        listeners[channel] = nil
        if case .installation = channel { registeredOwner = nil }
        if wanted.contains(channel) { takeUpLater() }
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
