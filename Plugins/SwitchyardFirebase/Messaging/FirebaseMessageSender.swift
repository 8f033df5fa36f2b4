import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
package import SwitchyardWire

/// Sends messages, for servers: FCM's HTTP v1.
///
/// What authorises it is an OAuth token of a service account with the scope
/// `https://www.googleapis.com/auth/firebase.messaging`. The source gives it out, and a new one when the last was refused;
/// an API key does not authorise sending, and a service account must never be in an app.
///
/// ```swift
/// let sender = try FirebaseMessageSender(configuration) { isRefused in try await tokens.token(fresh: isRefused) }
/// try await sender.send(FirebaseMessage(to: .topic("news"), title: "Hello"))
/// ```
public final class FirebaseMessageSender: Sendable {
    public typealias TokenSource = @Sendable (_ isRefused: Bool) async throws -> Secret

    private let project: String
    private let endpoint: FirebaseEndpoint
    private let transport: any Transport
    private let clock: any Clock<Duration>
    private let token: TokenSource
    private let now: @Sendable () -> Timestamp

    /// - Throws: `.invalidConfiguration` if the host for messaging is not a valid address.
    public convenience init(
        _ configuration: FirebaseConfiguration, token: @escaping TokenSource
    ) throws(InfrastructureError) {
        try self.init(configuration, transport: PlatformTransport.make(), token: token)
    }

    package init(
        _ configuration: FirebaseConfiguration, transport: any Transport,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }, token: @escaping TokenSource
    ) throws(InfrastructureError) {
        project = configuration.project
        endpoint = try FirebaseEndpoint(
            host: configuration.hosts.messaging, plainHost: configuration.allowsPlainHTTPTo)
        self.transport = transport
        self.clock = clock
        self.token = token
        self.now = now
    }

    /// - Parameters:
    ///   - message: What is sent, and to whom.
    ///   - isDryRun: Checks everything, the registration too, and delivers nothing.
    /// - Returns: The server's name for the message.
    /// - Throws: `.unregistered` for a device that is gone: forget its token; `.rateLimited` with the time to wait.
    @discardableResult
    public func send(_ message: FirebaseMessage, isDryRun: Bool = false) async throws(MessagingError) -> String {
        var body: JSONObject = ["message": .object(try message.json(at: now()))]
        if isDryRun { body["validate_only"] = true }
        let answer = try await call(.post, "/messages:send", body)
        guard let name = answer["name"]?.string else { throw MessagingError(FirebaseMessagingFailure.unreadable) }
        return name
    }

    /// Lets an installation have what is sent to a topic, without its doing anything.
    public func subscribe(_ token: MessagingToken, to topic: MessagingTopic) async throws(MessagingError) {
        let name = FormCoding.encode([(name: "topic_name", value: topic.rawValue)], space: .percent)
        _ = try await call(
            .post, "\(FirebaseMessageSender.place(token))?\(name)", [:], isIdempotent: true, ignoring: 409)
    }

    public func unsubscribe(_ token: MessagingToken, from topic: MessagingTopic) async throws(MessagingError) {
        _ = try await call(
            .delete,
            "\(FirebaseMessageSender.place(token))/\(PercentCoding.encode(topic.rawValue))?allowMissing=true", [:])
    }

    public func shutDown() async { await transport.shutDown() }

    private static func place(_ token: MessagingToken) -> String {
        "/registrations/\(PercentCoding.encode(token.value.reveal()))/topicSubscriptions"
    }

    /// One call, and once more with a new token if the first is not taken.
    private func call(
        _ method: HTTPMethod, _ path: String, _ body: JSONObject, isIdempotent: Bool = false,
        ignoring status: Int? = nil
    ) async throws(MessagingError) -> JSON {
        var isRefused = false
        while true {
            let credential: Secret
            do {
                credential = try await token(isRefused)
            } catch {
                throw MessagingError(.unauthenticated, "No access token is available for sending.", underlying: error)
            }
            var request = HTTPRequest(
                method, "\(endpoint.address)/v1/projects/\(project)\(path)",
                body: method == .delete ? [] : JSON.object(body).bytes(),
                isIdempotent: isIdempotent || method.isIdempotent)
            request.headers["Authorization"] = "Bearer \(credential.reveal())"
            do throws(FirebaseMessagingFailure) {
                return try await FirebaseMessagingService.exchange(
                    request, endpoint, transport, clock, now: now().seconds)
            } catch {
                if error.status == status, status != nil { return [:] }
                guard !isRefused, case .refused("UNAUTHENTICATED", 401) = error.kind else {
                    throw MessagingError(error)
                }
            }
            isRefused = true
        }
    }
}
