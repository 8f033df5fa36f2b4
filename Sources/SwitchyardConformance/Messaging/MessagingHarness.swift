public import Switchyard

/// What an author of a messaging provider supplies to have it checked.
///
/// The harness is the server that sends, and the platform that hands the app a push token and what arrives for it.
public protocol MessagingHarness: Sendable {
    var features: MessagingFeatures { get }

    /// Another installation of the app for each call. It is shut down after the check.
    func makeMessagingClient() async throws -> any MessagingClient

    /// A push token as the platform gives out, another one at each call; `nil` where the provider needs none.
    func platformToken() -> PlatformPushToken?

    /// What the platform would hand the app for a message with these contents.
    func payload(_ message: RemoteMessage) throws -> RemotePayload

    /// Sends to one installation. For `MessagingCapabilities.liveMessages`.
    func send(_ message: RemoteMessage, to token: MessagingToken) async throws
    /// Sends to everybody who has subscribed. For `MessagingCapabilities.topics`.
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
    /// Whether there is no registration before the app has handed in the platform's token.
    public var needsPlatformToken: Bool
    /// Whether the harness plays the server that sends and the platform that hands over. Without, the checks that need a
    /// message are left out.
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
