import Foundation
import Switchyard
package import SwitchyardBytes
package import SwitchyardServerKit
import SwitchyardWire
import Synchronization

/// One call, with its context.
struct MessagingCall: Sendable {
    let project: String
    let body: JSONObject
    let authorization: String?
    let installationToken: String?
    let now: Timestamp
    let seal: ServerSigningKey

    /// Checks that the caller is the app's own server. No ID token qualifies.
    func checkIsServer() throws(MessagingFailure) {
        guard let authorization, authorization == "Bearer owner" || authorization.hasPrefix("Bearer ya29.") else {
            throw .unauthenticated
        }
    }
}

/// The messaging services: installations, registrations, topics and sending. Nothing is actually pushed; tests can read what
/// a device would have received.
package final class LocalMessaging: LocalFirebaseService {
    private static let file = "messaging.json"

    private let project: String
    private let seal: ServerSigningKey
    private let now: @Sendable () -> Timestamp
    private let folder: LocalFolder?
    private let register: Mutex<MessagingDatabase>

    init(_ options: LocalFirebaseOptions, folder: LocalFolder?, seal: ServerSigningKey) throws(LocalFirebaseError) {
        project = options.project
        self.seal = seal
        now = options.now
        self.folder = folder
        var saved = MessagingDatabase()
        if let data = try folder?.read(LocalMessaging.file) {
            do { saved = try JSONDecoder().decode(MessagingDatabase.self, from: data) } catch {
                throw LocalFolder.unreadable(LocalMessaging.file)
            }
        }
        register = Mutex(saved)
    }

    /// The push messages.
    let sent = SentMessages()

    /// Forgets all devices, topics and messages.
    func reset() throws(MessagingFailure) {
        sent.removeAll()
        try register.withLock { register throws(MessagingFailure) in
            register = MessagingDatabase()
            try save(register)
        }
    }

    /// Without a folder, nothing is saved.
    private func save(_ register: MessagingDatabase) throws(MessagingFailure) {
        guard let folder else { return }
        guard let data = try? JSONEncoder().encode(register),
            (try? folder.write(data, as: LocalMessaging.file)) != nil
        else { throw MessagingFailure(500, "INTERNAL", "The change cannot be saved in the server's folder.") }
    }

    /// The messages sent to a device so far, in the format in which its platform passes them to the app.
    package func deliveries(to registration: String) -> [JSON] {
        register.withLock { register in
            register.deliveries.filter { $0.registration == registration }.compactMap { try? JSON(parsing: $0.payload) }
        }
    }

    // MARK: Routes

    package func addRoutes(to router: inout Router) {
        let installations = "/v1/projects/{project}/installations"
        on(&router, .post, "firebaseinstallations", installations) { register, call, _ throws(MessagingFailure) in
            try register.createInstallation(call)
        }
        on(&router, .post, "firebaseinstallations", installations + "/{id}/authTokens:generate") {
            register, call, request throws(MessagingFailure) in
            try register.renewToken(request.parameters["id"] ?? "", call)
        }
        on(&router, .delete, "firebaseinstallations", installations + "/{id}") {
            register, call, request throws(MessagingFailure) in
            try register.deleteInstallation(request.parameters["id"] ?? "", call)
        }
        addRegistrationRoutes(to: &router)
        addServerRoutes(to: &router)
        router.on(.get, "/emulator/v1/projects/{project}/registrations/{id}/messages") { request in
            let messages = self.deliveries(to: request.parameters["id"] ?? "")
            return .json(JSON.object(["messages": .array(messages)]).bytes())
        }
    }

    private func addRegistrationRoutes(to router: inout Router) {
        let registrations = "/v1/projects/{project}/registrations"
        on(&router, .post, "fcmregistrations", registrations) { register, call, _ throws(MessagingFailure) in
            try register.register(call)
        }
        on(&router, .patch, "fcmregistrations", registrations + "/{id}") {
            register, call, request throws(MessagingFailure) in
            try register.register(call, renewed: request.parameters["id"])
        }
        on(&router, .delete, "fcmregistrations", registrations + "/{id}") {
            register, call, request throws(MessagingFailure) in
            try register.unregister(request.parameters["id"] ?? "", call)
        }
        for (verb, isOn) in [("subscribe", true), ("unsubscribe", false)] {
            on(&router, .post, "fcmregistrations", registrations + "/{id}/topicSubscriptions/{topic}:\(verb)") {
                register, call, request throws(MessagingFailure) in
                try register.setSubscription(
                    of: request.parameters["id"] ?? "", to: request.parameters["topic"] ?? "", isOn: isOn, call)
            }
        }
    }

    private func addServerRoutes(to router: inout Router) {
        on(&router, .post, "fcm", "/v1/projects/{project}/messages:send") {
            register, call, _ throws(MessagingFailure) in
            try register.send(call)
        }
        let subscriptions = "/v1/projects/{project}/registrations/{id}/topicSubscriptions"
        on(&router, .post, "fcm", subscriptions) { register, call, request throws(MessagingFailure) in
            try register.addSubscription(
                of: request.parameters["id"] ?? "", to: request.query("topic_name") ?? request.query("topicName"),
                updates: false, call)
        }
        on(&router, .patch, "fcm", subscriptions + "/{topic}") { register, call, request throws(MessagingFailure) in
            try register.addSubscription(
                of: request.parameters["id"] ?? "", to: request.parameters["topic"], updates: true, call)
        }
        on(&router, .delete, "fcm", subscriptions + "/{topic}") { register, call, request throws(MessagingFailure) in
            try register.removeSubscription(
                of: request.parameters["id"] ?? "", to: request.parameters["topic"] ?? "",
                allowsMissing: request.query("allowMissing") == "true", call)
        }
        on(&router, .get, "fcm", subscriptions) { register, call, request throws(MessagingFailure) in
            try register.subscriptions(of: request.parameters["id"] ?? "", call)
        }
        on(&router, .post, "iid", "/iid/v1:batchAdd") { register, call, _ throws(MessagingFailure) in
            try register.changeSubscriptions(isOn: true, call)
        }
        on(&router, .post, "iid", "/iid/v1:batchRemove") { register, call, _ throws(MessagingFailure) in
            try register.changeSubscriptions(isOn: false, call)
        }
    }

    private typealias Operation =
        @Sendable (inout MessagingDatabase, MessagingCall, ServerRequest) throws(MessagingFailure) -> JSON

    /// Adds the path of the actual service, both after its host's name as in auth, and without.
    private func on(
        _ router: inout Router, _ method: HTTPMethod, _ service: String, _ path: String,
        _ operation: @escaping Operation
    ) {
        for prefix in ["/\(service).googleapis.com", ""] {
            router.on(method, prefix + path) { await self.answer($0, operation) }
        }
    }

    private func answer(_ request: ServerRequest, _ operation: Operation) async -> ServerResponse {
        do throws(MessagingFailure) {
            if let project = request.parameters["project"], project != self.project { throw .notFound }
            let call = MessagingCall(
                project: project, body: try await LocalMessaging.body(of: request),
                authorization: request.headers["Authorization"],
                installationToken: request.headers["X-Goog-Firebase-Installations-Auth"], now: now(), seal: seal)
            return .json(try perform(call, request, operation).bytes())
        } catch {
            return .json(error.body.bytes(), status: error.code)
        }
    }

    private func perform(
        _ call: MessagingCall, _ request: ServerRequest, _ operation: Operation
    ) throws(MessagingFailure) -> JSON {
        try register.withLock { register throws(MessagingFailure) in
            let answer = try operation(&register, call, request)
            if let message = register.news { sent.add(message) }
            register.news = nil
            if request.method != .get { try save(register) }
            return answer
        }
    }

    private static func body(of request: ServerRequest) async throws(MessagingFailure) -> JSONObject {
        guard let bytes = try? await request.body.collect(upTo: 1 << 20) else {
            throw .invalid("The body is too large.")
        }
        guard !bytes.isEmpty else { return JSONObject() }
        guard let object = (try? JSON(parsing: bytes))?.object else { throw .invalid("Invalid JSON payload received.") }
        return object
    }
}
