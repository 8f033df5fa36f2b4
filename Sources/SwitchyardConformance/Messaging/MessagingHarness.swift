public import Switchyard
import Synchronization

/// Supplied by the author of a messaging provider to run the checks.
///
/// The harness acts as the server that sends, and as the platform that gives the app a push token and incoming messages.
public protocol MessagingHarness: Sendable {
    var features: MessagingFeatures { get }

    /// A new installation of the app for each call. It is shut down after the check.
    func makeMessagingClient() async throws -> any MessagingClient

    /// A push token like the platform's, a different one at each call; `nil` if the provider needs none.
    func platformToken() -> PlatformPushToken?

    /// The payload that the platform would pass to the app for this message.
    func payload(_ message: RemoteMessage) throws -> RemotePayload

    /// Sends to one installation. For `MessagingCapabilities.liveMessages`.
    func send(_ message: RemoteMessage, to token: MessagingToken) async throws
    /// Sends to all subscribers. For `MessagingCapabilities.topics`.
    func send(_ message: RemoteMessage, to topic: MessagingTopic) async throws

    func cleanUp(_ namespace: ConformanceNamespace) async throws
}

extension MessagingHarness {
    public func platformToken() -> PlatformPushToken? { nil }
    public func send(_ message: RemoteMessage, to token: MessagingToken) async throws { throw missing }
    public func send(_ message: RemoteMessage, to topic: MessagingTopic) async throws { throw missing }
    public func cleanUp(_ namespace: ConformanceNamespace) async throws {}

    private var missing: ConformanceFailure {
        ConformanceFailure(expectation: "the harness can send, as its features say", found: "it cannot")
    }
}

/// What a messaging client under test declares; decides which checks apply.
public struct MessagingFeatures: Sendable, Hashable {
    /// The same as the clients' own.
    public var capabilities: MessagingCapabilities
    /// Whether registration requires the platform's token.
    public var needsPlatformToken: Bool
    /// Whether the harness simulates the sending server and the platform. If not, the checks that need a message are skipped.
    public var playsServer = true

    public init(_ capabilities: MessagingCapabilities, needsPlatformToken: Bool = false) {
        self.capabilities = capabilities
        self.needsPlatformToken = needsPlatformToken
    }
}

public typealias MessagingRequirement = ConformanceRequirement<MessagingFeatures>

extension ConformanceRequirement where Features == MessagingFeatures {
    static let tokens = Self("push or live messages", remedy: "a device whose platform has a push service") {
        $0.capabilities.push || $0.capabilities.liveMessages
    }
    static let server = Self("somebody who sends", remedy: "a harness of your own, in a test, that sends") {
        $0.playsServer
    }
    static let liveMessages = Self(
        "live messages", remedy: "a provider that has them, and a harness of your own that sends",
        isServed: { $0.playsServer }
    ) { $0.capabilities.liveMessages }
    static let topics = Self("topics") { $0.capabilities.topics }
    static let platformToken = Self("the platform's token", remedy: "a provider whose registration takes one") {
        $0.needsPlatformToken
    }
}

/// The context of a messaging check: an installation with the platform's token, others on demand.
final class MessagingContext: ConformanceContext {
    private struct State {
        var clients: [any MessagingClient] = []
        var listeners: [@Sendable () -> Void] = []
    }

    let harness: any MessagingHarness
    let namespace = ConformanceNamespace()
    let features: MessagingFeatures
    private let state = Mutex(State())

    init(_ harness: any MessagingHarness) async throws {
        self.harness = harness
        features = harness.features
    }

    /// An installation with the platform's token, if there is one, and the permission to show messages.
    func client() async throws -> any MessagingClient {
        let client = try await bareClient()
        if let token = harness.platformToken() { try await client.setPlatformToken(token) }
        return client
    }

    /// An installation without a token and permission.
    func bareClient() async throws -> any MessagingClient {
        let client = try await harness.makeMessagingClient()
        state.withLock { $0.clients.append(client) }
        return client
    }

    func topic(_ name: String = "news") throws -> MessagingTopic {
        try MessagingTopic(validating: "\(namespace)-\(name)")
    }

    /// A message with a unique ID.
    func message(_ name: String, data: [String: String] = [:], wasOpened: Bool = false) -> RemoteMessage {
        RemoteMessage(
            id: "\(namespace)-\(name)", title: "Title \(name)", body: "Grüße 😀 \(name)", data: data,
            wasOpened: wasOpened)
    }

    func watch<Stream: AsyncSequence & Sendable>(_ stream: Stream) -> StreamProbe<Stream.Element>
    where Stream.Element: Sendable {
        let probe = StreamProbe<Stream.Element>(stream)
        state.withLock { $0.listeners.append { probe.cancel() } }
        return probe
    }

    /// Begins to listen to the client's messages, and returns once none can be missed.
    func listen(to client: any MessagingClient) async throws -> StreamProbe<RemoteMessage> {
        watch(await client.messageStream().begun())
    }

    @discardableResult
    func expectFailure<Value>(
        _ codes: MessagingError.Code..., in what: String, file: String = #fileID, line: Int = #line,
        _ body: () async throws -> Value
    ) async throws -> MessagingError {
        try await SwitchyardConformance.expectFailure(
            codes, as: MessagingError.self, what, file: file, line: line, body)
    }

    func tearDown() async throws {
        let (clients, listeners) = state.withLock { ($0.clients, $0.listeners) }
        for cancel in listeners { cancel() }
        for client in clients {
            try? await client.deleteToken()
            await client.shutDown()
        }
        try await harness.cleanUp(namespace)
    }
}

public typealias MessagingCheck = ConformanceCheck<any MessagingHarness, MessagingFeatures>

extension ConformanceCheck where Harness == any MessagingHarness, Features == MessagingFeatures {
    init(
        _ name: String, needs requirements: MessagingRequirement..., deadline: Duration = .seconds(40),
        _ body: @escaping @Sendable (MessagingContext) async throws -> Void
    ) {
        self.init(.messaging, name, requirements: requirements, deadline: deadline) { harness in
            try await ConformanceLife.run(
                deadline: deadline, begin: { try await MessagingContext(harness) }, body: body)
        }
    }
}
