import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// The calls for Firebase's installations and registrations.
struct FirebaseMessagingService: Sendable {
    static let deadline = Duration.seconds(30)
    /// The version of this client, which the services require.
    static let version = "1.0.0"

    let project: String
    let appID: String
    let bundleID: String?
    let appVersion: String
    let endpoints: FirebaseEndpoints
    let headers: [(String, String)]
    let transport: any Transport
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp

    init(_ context: FirebaseContext, appID: String, appVersion: String) {
        project = context.configuration.project
        self.appID = appID
        bundleID = context.configuration.bundleID
        self.appVersion = appVersion
        endpoints = context.endpoints
        headers = context.appHeaders
        transport = context.transport
        clock = context.module.clock
        now = context.module.now
    }

    // MARK: Installations

    private var installations: String { "\(endpoints.installations.address)/v1/projects/\(project)/installations" }

    /// The app's ID contains its platform.
    private var sdkVersion: String {
        let kinds = ["ios": "i", "android": "a"]
        let parts = appID.split(separator: ":")
        return "\(parts.count > 2 ? kinds[String(parts[2])] ?? "w" : "w"):\(Self.version)"
    }

    func install(as id: String) async throws(FirebaseMessagingFailure) -> FirebaseInstallation {
        let body: JSONObject = [
            "fid": .string(id), "authVersion": "FIS_v2", "appId": .string(appID), "sdkVersion": .string(sdkVersion),
        ]
        let answer = try await sendTwice(.post, installations, body, to: endpoints.installations)
        guard let refresh = answer["refreshToken"]?.string else { throw FirebaseMessagingFailure.unreadable }
        // Use the ID in the answer, which may differ from ours; without one, the server accepted ours.
        let name = answer["fid"]?.string.flatMap { $0.isEmpty ? nil : $0 } ?? id
        return try installation(name, Secret(refresh), answer["authToken"])
    }

    func refresh(_ known: FirebaseInstallation) async throws(FirebaseMessagingFailure) -> FirebaseInstallation {
        let body: JSONObject = ["installation": ["sdkVersion": .string(sdkVersion), "appId": .string(appID)]]
        let answer = try await sendTwice(
            .post, "\(installations)/\(known.id)/authTokens:generate", body, to: endpoints.installations,
            [("Authorization", "FIS_v2 \(known.refreshToken.reveal())")])
        return try installation(known.id, known.refreshToken, answer)
    }

    func uninstall(_ known: FirebaseInstallation) async throws(FirebaseMessagingFailure) {
        do throws(FirebaseMessagingFailure) {
            _ = try await send(
                .delete, "\(installations)/\(known.id)", nil, to: endpoints.installations,
                [("Authorization", "FIS_v2 \(known.refreshToken.reveal())")])
        } catch {
            guard error.status == 404 else { throw error }
        }
    }

    private func installation(
        _ id: String, _ refreshToken: Secret, _ token: JSON?
    ) throws(FirebaseMessagingFailure) -> FirebaseInstallation {
        // A lifetime is text that ends with the unit.
        guard let text = token?["token"]?.string, let lifetime = token?["expiresIn"]?.string, lifetime.hasSuffix("s"),
            let seconds = Int64(lifetime.dropLast()), seconds > 0, seconds < 1 << 40
        else { throw FirebaseMessagingFailure.unreadable }
        let issued = now()
        return FirebaseInstallation(
            id: id, refreshToken: refreshToken, token: Secret(text), issuedAt: issued,
            expiresAt: Timestamp(microseconds: issued.microseconds + seconds * 1_000_000))
    }

    // MARK: Registrations

    private var registrations: String { "\(endpoints.registrations.address)/v1/projects/\(project)/registrations" }

    /// - Returns: The name under which a server reaches the device from now on.
    func register(
        _ platform: JSONObject, _ installation: FirebaseInstallation, isWeb: Bool
    ) async throws(FirebaseMessagingFailure) -> String {
        var body = platform
        // With this field the answer is a name, otherwise an old kind of token.
        body["fcm_sdk_version"] = .string(isWeb ? Self.version : "fcm-\(Self.version)")
        let answer = try await send(
            .post, registrations, body, to: endpoints.registrations, installationHeaders(installation, isWeb: isWeb))
        guard let name = answer["name"]?.string, let id = name.split(separator: "/").last,
            name.includes("/registrations/")
        else { throw FirebaseMessagingFailure.unreadable }
        // A browser's registration must have the installation's ID as its name.
        guard !isWeb || id == installation.id else { throw FirebaseMessagingFailure(.foreignName) }
        return String(id)
    }

    func unregister(
        _ token: String, _ installation: FirebaseInstallation, isWeb: Bool
    ) async throws(FirebaseMessagingFailure) {
        do throws(FirebaseMessagingFailure) {
            _ = try await send(
                .delete, "\(registrations)/\(PercentCoding.encode(token))", nil, to: endpoints.registrations,
                installationHeaders(installation, isWeb: isWeb))
        } catch {
            guard error.status == 404 else { throw error }
        }
    }

    func setSubscribed(
        _ isSubscribed: Bool, _ token: String, _ topic: MessagingTopic, _ installation: FirebaseInstallation
    ) async throws(FirebaseMessagingFailure) {
        let place = "\(registrations)/\(PercentCoding.encode(token))/topicSubscriptions"
        let topic = PercentCoding.encode(topic.rawValue)
        _ = try await send(
            .post, "\(place)/\(topic):\(isSubscribed ? "subscribe" : "unsubscribe")", nil, to: endpoints.registrations,
            installationHeaders(installation, isWeb: false), isIdempotent: true)
    }

    private func installationHeaders(_ installation: FirebaseInstallation, isWeb: Bool) -> [(String, String)] {
        [("X-Goog-Firebase-Installations-Auth", (isWeb ? "FIS " : "") + installation.token.reveal())]
    }

    // MARK: Sending

    /// Retries once, at once, after a server error: these calls are safe to repeat.
    private func sendTwice(
        _ method: HTTPMethod, _ url: String, _ body: JSONObject, to endpoint: FirebaseEndpoint,
        _ extraHeaders: [(String, String)] = []
    ) async throws(FirebaseMessagingFailure) -> JSON {
        do throws(FirebaseMessagingFailure) {
            return try await send(method, url, body, to: endpoint, extraHeaders, isIdempotent: true)
        } catch {
            guard case .unanswered(nil, let status?) = error.kind, status >= 500 else { throw error }
        }
        return try await send(method, url, body, to: endpoint, extraHeaders, isIdempotent: true)
    }

    private func send(
        _ method: HTTPMethod, _ url: String, _ body: JSONObject?, to endpoint: FirebaseEndpoint,
        _ extraHeaders: [(String, String)], isIdempotent: Bool = false
    ) async throws(FirebaseMessagingFailure) -> JSON {
        var request = HTTPRequest(
            method, url, body: body.map { JSON.object($0).bytes() } ?? [],
            isIdempotent: isIdempotent || method == .delete)
        for (name, value) in headers + extraHeaders { request.headers[name] = value }
        return try await FirebaseMessagingService.exchange(
            request, endpoint, transport, clock, now: now().seconds)
    }

    /// - Returns: A JSON object, which is empty for an empty answer.
    static func exchange(
        _ request: HTTPRequest, _ endpoint: FirebaseEndpoint, _ transport: any Transport, _ clock: any Clock<Duration>,
        now: Int64
    ) async throws(FirebaseMessagingFailure) -> JSON {
        guard endpoint.mayCarryTokens else { throw FirebaseMessagingFailure(.unsafeAddress) }
        var complete = request
        complete.redirects = .surface
        complete.maximumBodySize = 1 << 20
        if !complete.body.isEmpty { complete.headers["Content-Type"] = "application/json" }
        complete.headers["Accept"] = "application/json"
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await transport.send(complete, within: deadline, clock: clock)
        } catch {
            throw FirebaseMessagingFailure(.unanswered(error, status: nil))
        }
        guard response.isSuccess else { throw FirebaseMessagingFailure(response, now: now) }
        if response.body.isEmpty { return [:] }
        guard let answer = try? JSON(parsing: response.body), answer.object != nil else {
            throw FirebaseMessagingFailure(.unanswered(nil, status: response.status))
        }
        return answer
    }
}
