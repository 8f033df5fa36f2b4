import Foundation
public import Switchyard
import SwitchyardBytes
import Synchronization

/// The server that sends messages to installations, and records them.
///
/// ```swift
/// try await messaging.subscribe(to: "news")
/// backend.messages.send(title: "Hello", to: "news")
/// ```
public final class MockMessages: Sendable {
    /// An installation, as stored on the server.
    struct Installation: Sendable {
        var topics: Set<MessagingTopic> = []
        /// Messages for an unreachable installation.
        var waiting: [RemoteMessage] = []
        var receiver: (@Sendable (RemoteMessage) -> Bool)?
        /// How often the waiting messages were fetched.
        var fetches = 0
    }

    /// The destination of a message at the time it was chosen.
    private struct Destination {
        let token: String
        let receiver: (@Sendable (RemoteMessage) -> Bool)?
        let fetches: Int

        init(_ token: String, _ installation: Installation?) {
            self.token = token
            receiver = installation?.receiver
            fetches = installation?.fetches ?? 0
        }
    }

    private struct State {
        var installations: [String: Installation] = [:]
        var sent: [RemoteMessage] = []
        var version = 0
    }
    private let state = Mutex(State())
    /// Called when installations, their topics or their waiting messages have changed.
    let changed = Mutex<(@Sendable () -> Void)?>(nil)
    private let now: @Sendable () -> Timestamp

    init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    /// All messages sent, oldest first.
    public var sent: [RemoteMessage] { state.withLock { $0.sent } }

    /// The installations subscribed to `topic`.
    public func subscribers(of topic: MessagingTopic) -> [MessagingToken] {
        state.withLock { state in
            state.installations.filter { $0.value.topics.contains(topic) }.keys.sorted()
                .map { MessagingToken(Secret($0)) }
        }
    }

    /// Sends to all subscribers of a topic.
    @discardableResult
    public func send(
        title: String? = nil, body: String? = nil, data: [String: String] = [:], to topic: MessagingTopic
    ) -> RemoteMessage {
        let message = RemoteMessage(
            id: RandomID.make(), title: title, body: body, data: data, topic: topic, sentAt: now())
        deliver(message) { $0.value.topics.contains(topic) }
        return message
    }

    /// Sends to all installations whose topics meet `condition`.
    @discardableResult
    public func send(
        title: String? = nil, body: String? = nil, data: [String: String] = [:], to condition: MessagingCondition
    ) -> RemoteMessage {
        let message = RemoteMessage(id: RandomID.make(), title: title, body: body, data: data, sentAt: now())
        deliver(message) { condition.isMet(by: $0.value.topics) }
        return message
    }

    /// Sends to one installation.
    ///
    /// - Throws: `.unregistered` if the token is unknown or no longer valid.
    @discardableResult
    public func send(
        title: String? = nil, body: String? = nil, data: [String: String] = [:], to token: MessagingToken
    ) throws(MessagingError) -> RemoteMessage {
        let name = token.value.reveal()
        guard state.withLock({ $0.installations[name] != nil }) else {
            throw MessagingError(.unregistered, "No installation has this token.")
        }
        let message = RemoteMessage(id: RandomID.make(), title: title, body: body, data: data, sentAt: now())
        deliver(message) { $0.key == name }
        return message
    }

    /// The message as a platform's push service would pass it to the app.
    public func payload(of message: RemoteMessage, wasOpened: Bool = false) -> RemotePayload {
        var object = JSONObject([(key: "id", value: JSON.string(message.id))])
        object["title"] = message.title.map { .string($0) }
        object["body"] = message.body.map { .string($0) }
        object["topic"] = message.topic.map { .string($0.rawValue) }
        object["sentAt"] = message.sentAt.map { .integer($0.microseconds) }
        object["data"] = .object(
            JSONObject(message.data.sorted { $0.key < $1.key }.map { (key: $0.key, value: JSON.string($0.value)) }))
        let envelope = JSON.object(JSONObject([(key: "switchyardMock", value: JSON.object(object))]))
        return RemotePayload(json: Data(envelope.bytes()), wasOpened: wasOpened)
    }

    static func message(_ payload: RemotePayload) throws(MessagingError) -> RemoteMessage? {
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: payload.json)
        } catch {
            throw MessagingError(.invalidArgument, "The payload is not JSON.", underlying: error)
        }
        guard let object = json["switchyardMock"]?.object, let id = object["id"]?.string else { return nil }
        let data = object["data"]?.object?.compactMap { member in member.value.string.map { (member.key, $0) } } ?? []
        let topic: MessagingTopic? =
            if let text = object["topic"]?.string { try MessagingTopic(validating: text) } else { nil }
        return RemoteMessage(
            id: id, title: object["title"]?.string, body: object["body"]?.string,
            data: Dictionary(data, uniquingKeysWith: { _, last in last }), topic: topic,
            sentAt: object["sentAt"]?.int64.map { Timestamp(microseconds: $0) }, wasOpened: payload.wasOpened)
    }

    // MARK: Persistence

    var installations: (version: Int, [String: Installation]) { state.withLock { ($0.version, $0.installations) } }

    func restore(_ installations: [(token: String, Installation)]) {
        state.withLock { $0.installations = Dictionary(installations, uniquingKeysWith: { _, last in last }) }
    }

    private func change<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = try state.withLock { (state) throws(Failure) in
            state.version += 1
            return try body(&state)
        }
        changed.withLock { $0 }?()
        return result
    }

    // MARK: For clients

    /// - Parameter receiver: Receives a message, or returns `false` if it cannot now, so that the message waits.
    func register(_ token: String, _ receiver: @escaping @Sendable (RemoteMessage) -> Bool) {
        change { $0.installations[token, default: Installation()].receiver = receiver }
        flush(token)
    }

    func unregister(_ token: String) { change { _ = $0.installations.removeValue(forKey: token) } }
    func disconnect(_ token: String) { state.withLock { $0.installations[token]?.receiver = nil } }

    func setSubscribed(_ isSubscribed: Bool, _ token: String, _ topic: MessagingTopic) throws(MessagingError) {
        try change { (state) throws(MessagingError) in
            guard state.installations[token] != nil else {
                throw MessagingError(.unregistered, "The registration is gone on the server.")
            }
            if isSubscribed {
                state.installations[token]?.topics.insert(topic)
            } else {
                state.installations[token]?.topics.remove(topic)
            }
        }
    }

    /// Delivers the waiting messages of an installation.
    func flush(_ token: String) {
        // Count every fetch: a message being queued right now is then delivered by the code that queues it.
        let isEmpty = state.withLock { state in
            state.installations[token]?.fetches += 1
            return state.installations[token]?.waiting.isEmpty ?? true
        }
        if isEmpty { return }
        let (messages, destination) = change { state in
            defer { state.installations[token]?.waiting = [] }
            return (state.installations[token]?.waiting ?? [], Destination(token, state.installations[token]))
        }
        for message in messages { hand(message, to: destination) }
    }

    private func deliver(
        _ message: RemoteMessage, where isWanted: (Dictionary<String, Installation>.Element) -> Bool
    ) {
        let destinations = state.withLock { state in
            state.sent.append(message)
            return state.installations.filter(isWanted).map { Destination($0.key, $0.value) }
        }
        for destination in destinations { hand(message, to: destination) }
    }

    private func hand(_ message: RemoteMessage, to destination: Destination) {
        if destination.receiver?(message) == true { return }
        let token = destination.token
        let wasFetched = change { state in
            state.installations[token]?.waiting.append(message)
            return state.installations[token].map { $0.fetches != destination.fetches } ?? false
        }
        // A fetch ran before the message was queued.
        if wasFetched { flush(token) }
    }
}

/// Sends messages like a project's server, immediately and without a network. See ``MockMessages/sent`` for the messages sent.
///
/// ```swift
/// let sender = MockMessageSender(backend)
/// sender.controls.fail(.sendMessage, onCall: 2, with: .rateLimited)
/// ```
public final class MockMessageSender: MessageSender {
    public let provider: InfrastructureProvider = .mock
    /// Scripts and records the calls of this sender.
    public let controls: MockControls<MessagingError>
    private let server: MockMessages

    public init(_ backend: MockBackend, network: MockNetwork = MockNetwork()) {
        server = backend.messages
        controls = MockControls(
            network: network, unavailable: MessagingError(.unavailable, "The mock's network is off."),
            cancelled: MessagingError(.cancelled, "The call was cancelled."))
    }

    /// - Returns: The ID of the received message.
    @discardableResult
    public func send(_ message: OutgoingMessage) async throws(MessagingError) -> String {
        guard !Task.isCancelled else { throw MessagingError(.cancelled, "The call was cancelled.") }
        if let scripted = try await controls.enter(.sendMessage, "", needsNetwork: true) { return scripted }
        guard !Task.isCancelled else { throw MessagingError(.cancelled, "The call was cancelled.") }
        let (title, body, data) = (message.title, message.body, message.data)
        let sent =
            switch message.target {
            case .device(let token): try server.send(title: title, body: body, data: data, to: token)
            case .topic(let topic): server.send(title: title, body: body, data: data, to: topic)
            case .condition(let condition): server.send(title: title, body: body, data: data, to: condition)
            }
        try controls.leave()
        return sent.id
    }
}
