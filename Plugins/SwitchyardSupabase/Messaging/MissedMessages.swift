import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardProviderKit

/// Finds the database's messages that did not arrive.
///
/// The realtime service silently loses messages while it has lost its database, and replays only a channel's newest ones. So
/// the database numbers the messages of each channel. The client asks it for the newest number before a channel is joined, at
/// every heartbeat and after every gap, and for the messages themselves if one is missing.
actor MissedMessages {
    private let service: PostgRESTService
    private let hub: MessageInbox
    private let clock: any Clock<Duration>
    private let pause: Duration
    private var channels: [MessageChannel: MessageNumbers] = [:]
    /// Whose messages these are; empty before the first check.
    private var user: [AuthUser.ID?] = []
    /// Whether the database numbers messages. An older installation does not.
    private var isServed = true
    private var running: Task<Void, Never>?
    private var waiting: Task<Void, Never>?
    private var checking: Task<Void, Never>?

    /// - Parameter pause: How often to check while channels are followed.
    init(_ service: PostgRESTService, hub: MessageInbox, pause: Duration, clock: any Clock<Duration>) {
        self.service = service.patient
        self.hub = hub
        self.pause = pause
        self.clock = clock
    }

    deinit { checking?.cancel() }

    /// Returns once the newest message is known, or the database cannot say. Messages sent from then on are not lost.
    func follow(_ channel: MessageChannel) async {
        guard isServed, channels[channel]?.through == nil else { return }
        channels[channel] = channels[channel] ?? MessageNumbers()
        if checking == nil { checking = checkRegularly() }
        await check()
    }

    func forget(_ channel: MessageChannel) { channels[channel] = nil }

    func arrived(_ number: Int64, on channel: MessageChannel) {
        channels[channel]?.arrived(number)
        if channels[channel]?.hasHole == true { Task { await check() } }
    }

    func shutDown() {
        checking?.cancel()
        channels = [:]
    }

    private func checkRegularly() -> Task<Void, Never> {
        Task { [weak self, clock, pause] in
            // Spreads the checks of many devices.
            while (try? await clock.sleep(for: pause * Double.random(in: 0.8...1.2))) != nil {
                guard let self else { return }
                await check()
            }
        }
    }

    // MARK: Asking

    /// Returns after a check that began after the call.
    func check() async {
        if let waiting { return await waiting.value }
        let next = Task { [running] in
            await running?.value
            self.begin()
            while await self.checkOnce() {}
        }
        waiting = next
        await next.value
    }

    private func begin() {
        running = waiting
        waiting = nil
    }

    /// - Returns: Whether there is more to fetch.
    private func checkOnce() async -> Bool {
        guard isServed, !channels.isEmpty else { return false }
        if user != [hub.user] {
            // A user who signs in gets no earlier messages. While no user is signed in, nothing is known.
            if user.first != .some(nil) { for channel in channels.keys { channels[channel] = MessageNumbers() } }
            user = [hub.user]
        }
        let (asker, asked) = (user, channels)
        let wanted = asked.map { channel, numbers -> JSON in
            ["target": .string(channel.target), "after": numbers.through.map(JSON.integer) ?? .null]
        }
        let answer: JSON
        do throws(StorageError) {
            answer = try await service.call("switchyard_messages", ["wanted": .array(wanted)], isIdempotent: true)
        } catch {
            if (error.underlying as? PostgRESTFailure)?.isAboutMissingFunction == true { isServed = false }
            return false
        }
        guard asker == [hub.user] else { return true }
        let named = Dictionary(asked.keys.map { ($0.target, $0) }) { first, _ in first }
        var isBehind = false
        for entry in answer.array ?? [] {
            guard let channel = entry["target"]?.string.flatMap({ named[$0] }), channels[channel] != nil,
                let newest = entry["newest"]?.int64, let through = entry["through"]?.int64
            else { continue }
            for message in entry["messages"]?.array ?? [] {
                if let message = RemoteMessage(supabase: message, topic: channel.topic) { hub.take(message) }
            }
            channels[channel]?.settled(through: through, newest: newest)
            // After an answer without progress, the client waits before it asks again.
            if through < newest, through > asked[channel]?.through ?? -1 { isBehind = true }
        }
        return isBehind
    }
}

/// Which of a channel's numbered messages have arrived.
struct MessageNumbers: Equatable {
    /// All messages up to this number have arrived, or were sent before the channel had a listener; `nil` until the database
    /// has reported the newest one.
    private(set) var through: Int64?
    /// Later ones that have arrived.
    private var ahead: Set<Int64> = []

    /// Whether a message is missing before one that has arrived.
    var hasHole: Bool { through != nil && !ahead.isEmpty }

    mutating func arrived(_ number: Int64) {
        if let through, number <= through { return }
        ahead.insert(number)
        close()
    }

    /// - Parameter number: All messages up to this one have arrived now, or are gone. A lower one than known means that the
    ///   channel was recreated.
    mutating func settled(through number: Int64, newest: Int64) {
        if let through, newest < through { ahead = [] } else if let through, number < through { return }
        through = number
        ahead = ahead.filter { $0 > number }
        close()
    }

    private mutating func close() {
        while let next = through.map({ $0 + 1 }), ahead.remove(next) != nil { through = next }
    }
}
