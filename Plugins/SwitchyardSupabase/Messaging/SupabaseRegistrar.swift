import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardProviderKit

/// Keeps this installation registered and on its channels. Changes run one at a time.
actor SupabaseRegistrar {
    private let service: PostgRESTService
    private let socket: RealtimeSocket
    private let file: StateFile
    private let hub: MessageInbox
    private let auth: (any AuthClient)?
    private let clock: any Clock<Duration>
    private let flight = SingleFlight<MessagingToken, MessagingError>(cancellation: {
        MessagingError(.cancelled, "The call was cancelled.")
    })
    private var state = SupabaseMessagingState()
    private var isRead = false
    private var hasResumed = false
    private var isShutDown = false
    /// The user for whom the installation is registered, as far as known.
    private var registeredOwner: AuthUser.ID?
    /// Whether it is registered with the platform's current token.
    private var isCurrent = false
    /// The channels to listen to. Those without a listener are retried after a sign-in, and after a while.
    private var wanted: Set<MessageChannel> = []
    private var listeners: [MessageChannel: MessageListener] = [:]
    /// Serializes changes of the registration.
    private let turns = AsyncSerialQueue()
    private let missed: MissedMessages
    private var follower: Task<Void, Never>?
    private var repair: Task<Void, Never>?
    /// The number of consecutive failed repairs.
    private var repairs = 0

    /// How long a call waits for a channel to be joined.
    private static let patience = Duration.seconds(30)
    /// The delay before a refused channel is retried: each refusal blocks all other channels for some seconds.
    private static let retry = Duration.seconds(60)
    private static let longestRetry = Duration.seconds(600)

    init(
        _ service: PostgRESTService, _ socket: RealtimeSocket, file: URL?, hub: MessageInbox, heartbeat: Duration,
        _ context: ModuleContext
    ) {
        missed = MissedMessages(service, hub: hub, pause: heartbeat, clock: context.clock)
        self.service = service
        self.socket = socket
        self.file = StateFile(file)
        self.hub = hub
        auth = context.auth
        clock = context.clock
    }

    // MARK: Operations

    var permission: MessagingPermission {
        read()
        return state.permission
    }

    /// A denial ends everything that lets messages in, topics included.
    func setPermission(_ permission: MessagingPermission) async throws(MessagingError) {
        read()
        change { $0.permission = permission }
        guard permission == .denied else { return }
        for topic in state.topics { await unsubscribe(from: topic) }
        try await deleteToken()
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
        try state.permission.check()
        follow()
        try await join(.topic(topic))
        if !isShutDown { wanted.insert(.topic(topic)) }
        if !isListening(.topic(topic)) { takeUpLater() }
        change { $0.topics.insert(topic) }
    }

    func unsubscribe(from topic: MessagingTopic) async {
        read()
        wanted.remove(.topic(topic))
        leave(.topic(topic))
        change { $0.topics.remove(topic) }
        if !wanted.contains(.topic(topic)) { await missed.forget(.topic(topic)) }
    }

    /// Restores the stored channels when someone starts to listen.
    func resume() async {
        guard !hasResumed, !isShutDown else { return }
        hasResumed = true
        read()
        wanted.formUnion(state.topics.map(MessageChannel.topic))
        if let id = state.installation { wanted.insert(.installation(id)) }
        guard !wanted.isEmpty else { return }
        follow()
        await rejoinChannels()
    }

    func shutDown() async {
        isShutDown = true
        follower?.cancel()
        repair?.cancel()
        wanted = []
        for listener in listeners.values { listener.leave() }
        listeners = [:]
        await missed.shutDown()
    }

    // MARK: Registering

    private func register() async throws(MessagingError) -> MessagingToken {
        read()
        try state.permission.check()
        follow()
        let id = state.installation ?? RandomID.make(length: 32)
        let owner = await auth?.state.user?.id
        // The channel may have ended because the registration is gone.
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
                // It was joined for another user, who has lost it now or will lose it soon.
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
            await missed.forget(.installation(id))
        }
        hub.tell(nil)
    }

    private func call(_ function: String, _ arguments: JSONObject) async throws(MessagingError) {
        do throws(StorageError) {
            _ = try await service.patient.call(function, arguments, isIdempotent: true)
        } catch {
            throw MessagingError(error)
        }
    }

    /// Follows sign-ins, from the first channel on.
    private func follow() {
        guard follower == nil, let auth else { return }
        let states = auth.authStateStream()
        follower = Task { [weak self] in
            for await state in states where state.isSignedIn { await self?.signedIn() }
        }
    }

    /// The channels may have ended because of the previous user.
    private func signedIn() async {
        repairs = 0
        await socket.followToken()
        await rejoinChannels()
    }

    /// Joins all wanted channels that have no listener, and registers the installation unless that is already done.
    private func rejoinChannels() async {
        let user = await auth?.state.user?.id
        // Policies admit only signed-in users; the next sign-in calls this again.
        guard auth == nil || user != nil else { return }
        for case .topic(let topic) in wanted {
            if case .failure = listener(.topic(topic)) { takeUpLater() }
            Task { await missed.follow(.topic(topic)) }
        }
        guard let id = state.installation, wanted.contains(.installation(id)),
            !isListening(.installation(id)) || user != registeredOwner || !isCurrent
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
        await rejoinChannels()
    }

    // MARK: Channels

    /// Whether the channel is joined, or will be without help.
    private func isListening(_ channel: MessageChannel) -> Bool { listeners[channel]?.isOver == false }

    private func listener(_ channel: MessageChannel) -> Result<MessageListener, MessagingError> {
        if let existing = listeners[channel], !existing.isOver { return .success(existing) }
        guard !isShutDown else { return .failure(MessagingError(.shutDown, "The client was shut down.")) }
        do throws(RealtimeFailure) {
            let joined = try socket.join(
                channel.name, RealtimeConfiguration(isPrivate: true, awaitsDatabase: true, replays: true))
            let listener = MessageListener(joined, of: channel, hub: hub, missed: missed) { [weak self] listener in
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
        // Beside the join: what is sent later is not lost, even if the channel is confirmed late.
        async let isFollowed: Void = missed.follow(channel)
        let waiting = Task { () async -> Result<Void, MessagingError> in
            do throws(MessagingError) { return .success(try await listener.joined()) } catch { return .failure(error) }
        }
        let patience = Task { [clock] in
            // Give up after a while, so that the caller gets an error.
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
            await isFollowed
            repairs = 0
        } catch {
            // A wanted channel keeps trying.
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

    // MARK: State

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
