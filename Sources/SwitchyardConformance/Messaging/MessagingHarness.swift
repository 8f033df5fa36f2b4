public import Switchyard

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
    static let push = Self("push") { $0.capabilities.push }
    static let server = Self("somebody who sends") { $0.playsServer }
    static let liveMessages = Self("live messages", isServed: { $0.playsServer }) { $0.capabilities.liveMessages }
    static let topics = Self("topics") { $0.capabilities.topics }
    static let platformToken = Self("the platform's token") { $0.needsPlatformToken }
}
