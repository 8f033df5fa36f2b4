import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
package import SwitchyardWire

/// Sends messages, for servers: FCM's HTTP v1.
///
/// Needs the configuration's ``FirebaseConfiguration/credential``. An API key is not enough, and a service account must never be
/// in an app.
///
/// ```swift
/// let sender = try FirebaseMessageSender(FirebaseConfiguration(project: "demo", credential: .applicationDefault))
/// try await sender.send(FirebaseMessage(to: .topic("news"), title: "Hello"))
/// ```
public final class FirebaseMessageSender: Sendable {
    public typealias TokenSource = @Sendable (_ isRefused: Bool) async throws -> Secret

    /// Where tokens come from.
    private enum TokenOrigin: Sendable {
        case credential(ProjectTokens)
        case source(TokenSource)
    }

    private let project: String
    private let endpoint: FirebaseEndpoint
    private let transport: any Transport
    private let clock: any Clock<Duration>
    private let tokenOrigin: TokenOrigin
    private let now: @Sendable () -> Timestamp
    private let calls: CallPolicy

    /// - Parameters:
    ///   - configuration: Names the project and its credential.
    ///   - observer: Observes each call, with the ID of the request that it was made for.
    /// - Throws: `.invalidConfiguration` without a credential, or with one that cannot be used.
    public convenience init(
        _ configuration: FirebaseConfiguration, observer: any InfrastructureObserver = SilentObserver()
    ) throws(InfrastructureError) {
        try self.init(
            configuration, environment: ProcessInfo.processInfo.environment, transport: PlatformTransport.make(),
            observer: observer)
    }

    package convenience init(
        _ configuration: FirebaseConfiguration, environment: [String: String], transport: any Transport,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) },
        observer: any InfrastructureObserver = SilentObserver()
    ) throws(InfrastructureError) {
        let (complete, source) = try configuration.resolved(environment: environment)
        guard let source else {
            throw InfrastructureError(
                .invalidConfiguration,
                "Sending messages requires a credential. Set credential in Firebase's configuration to the path of a service "
                    + "account's key file, or to applicationDefault; never in an app.")
        }
        let tokens = ProjectTokens(source, transport: transport, clock: clock, now: now)
        try self.init(
            complete, .credential(tokens), transport: transport, clock: clock, now: now, observer: observer)
    }

    /// With tokens from somewhere else, of the scope `https://www.googleapis.com/auth/firebase.messaging`.
    ///
    /// - Parameters:
    ///   - configuration: Names the project and the service's address. Its credential is not used.
    ///   - observer: Observes each call, with the ID of the request that it was made for.
    ///   - token: Called before each call, and with `isRefused` for a new token if the server refused the last one.
    /// - Throws: `.invalidConfiguration` without a project, or if the host for messaging is not a valid address.
    public convenience init(
        _ configuration: FirebaseConfiguration, observer: any InfrastructureObserver = SilentObserver(),
        token: @escaping TokenSource
    ) throws(InfrastructureError) {
        try self.init(configuration, transport: PlatformTransport.make(), observer: observer, token: token)
    }

    package convenience init(
        _ configuration: FirebaseConfiguration, transport: any Transport,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) },
        observer: any InfrastructureObserver = SilentObserver(), token: @escaping TokenSource
    ) throws(InfrastructureError) {
        try self.init(
            configuration, .source(token), transport: transport, clock: clock, now: now, observer: observer)
    }

    /// Creates a sender with a shared transport. Its calls are observed from outside, like a client's.
    convenience init(
        _ context: FirebaseContext, _ credential: ProjectTokens
    ) throws(InfrastructureError) {
        try self.init(
            context.configuration, .credential(credential), transport: context.transport,
            clock: context.module.clock, now: context.module.now, observer: SilentObserver())
    }

    private init(
        _ configuration: FirebaseConfiguration, _ tokenOrigin: TokenOrigin, transport: any Transport,
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Timestamp, observer: any InfrastructureObserver
    ) throws(InfrastructureError) {
        guard !configuration.project.isEmpty else {
            throw InfrastructureError(
                .invalidConfiguration, "Sending messages requires a project. Set project in Firebase's configuration.")
        }
        project = configuration.project
        endpoint = try FirebaseEndpoint(
            host: configuration.hosts.messaging, at: .host("messaging"), plainHost: configuration.allowsPlainHTTPTo)
        self.transport = transport
        self.clock = clock
        self.tokenOrigin = tokenOrigin
        self.now = now
        calls = CallPolicy(.messaging, { .firebase }, observer: observer, clock: clock, hasDeadline: true)
    }

    /// - Parameters:
    ///   - message: The message and its target.
    ///   - isDryRun: Whether to check everything, including the registration, and deliver nothing.
    /// - Returns: The server's name for the message.
    /// - Throws: `.unregistered` for a device that is gone: forget its token; `.rateLimited` with the time to wait.
    @discardableResult
    public func send(_ message: FirebaseMessage, isDryRun: Bool = false) async throws(MessagingError) -> String {
        var body: JSONObject = ["message": .object(try message.json(at: now()))]
        if isDryRun { body["validate_only"] = true }
        let answer = try await calls("send message") { [body] () throws(MessagingError) in
            try await call(.post, "/messages:send", body)
        }
        guard let name = answer["name"]?.string else { throw MessagingError(FirebaseMessagingFailure.unreadable) }
        return name
    }

    /// Sends many messages, several at a time.
    ///
    /// - Returns: The outcome for each, in the given order: the server's name for the message, or why it was not sent.
    public func send(
        _ messages: [FirebaseMessage], isDryRun: Bool = false
    ) async -> [Result<String, MessagingError>] {
        await messages.outcomes(atOnce: 16) { message throws(MessagingError) in
            try await self.send(message, isDryRun: isDryRun)
        }
    }

    /// Subscribes an installation to a topic, without any action on the device.
    public func subscribe(_ token: MessagingToken, to topic: MessagingTopic) async throws(MessagingError) {
        let name = FormCoding.encode([(name: "topic_name", value: topic.rawValue)], space: .percent)
        _ = try await calls(.repeatable("subscribe")) { () throws(MessagingError) in
            try await call(
                .post, "\(FirebaseMessageSender.topicsPath(token))?\(name)", [:], isIdempotent: true, ignoring: 409)
        }
    }

    public func unsubscribe(_ token: MessagingToken, from topic: MessagingTopic) async throws(MessagingError) {
        _ = try await calls(.repeatable("unsubscribe")) { () throws(MessagingError) in
            try await call(
                .delete,
                "\(FirebaseMessageSender.topicsPath(token))/\(PercentCoding.encode(topic.rawValue))?allowMissing=true",
                [:])
        }
    }

    public func shutDown() async { await transport.shutDown() }

    private static func topicsPath(_ token: MessagingToken) -> String {
        "/registrations/\(PercentCoding.encode(token.value.reveal()))/topicSubscriptions"
    }

    /// Makes a call, and repeats it once with a new token if the first one is refused.
    private func call(
        _ method: HTTPMethod, _ path: String, _ body: JSONObject, isIdempotent: Bool = false,
        ignoring status: Int? = nil
    ) async throws(MessagingError) -> JSON {
        var refused: Secret?
        while true {
            let token = try await self.token(replacing: refused)
            var request = HTTPRequest(
                method, "\(endpoint.address)/v1/projects/\(project)\(path)",
                body: method == .delete ? [] : JSON.object(body).bytes(),
                isIdempotent: isIdempotent || method.isIdempotent)
            for (name, value) in headers(with: token) { request.headers[name] = value }
            do throws(FirebaseMessagingFailure) {
                return try await FirebaseMessagingService.exchange(
                    request, endpoint, transport, clock, now: now().seconds)
            } catch {
                if error.status == status, status != nil { return [:] }
                guard refused == nil, error.isOfToken else { throw MessagingError(error) }
            }
            refused = token
        }
    }

    /// - Parameter refused: The token that the server refused for this call. Another call may have replaced it already.
    private func token(replacing refused: Secret?) async throws(MessagingError) -> Secret {
        switch tokenOrigin {
        case .credential(let tokens):
            do throws(AuthError) {
                return try await tokens.token(for: endpoint, replacing: refused)
            } catch {
                throw MessagingError(FirebaseTokens.Failure.auth(error).meaning)
            }
        case .source(let source):
            do {
                return try await source(refused != nil)
            } catch is CancellationError {
                throw MessagingError(.cancelled, "The call was cancelled.")
            } catch {
                throw MessagingError(.unauthenticated, "No access token is available for sending.", underlying: error)
            }
        }
    }

    private func headers(with token: Secret) -> [(String, String)] {
        switch tokenOrigin {
        case .credential(let tokens): tokens.headers(with: token, for: project)
        case .source: [("Authorization", "Bearer \(token.reveal())")]
        }
    }
}

/// The sender behind the portable interface.
package struct PortableFirebaseSender: MessageSender {
    package let provider: InfrastructureProvider = .firebase
    let base: FirebaseMessageSender

    package init(base: FirebaseMessageSender) { self.base = base }

    package func send(_ message: OutgoingMessage) async throws(MessagingError) -> String {
        try await base.send(FirebaseMessage(message))
    }
}
