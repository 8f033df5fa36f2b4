import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire

@testable import SwitchyardFirebase

/// A messaging client against a script of exchanges, at a time that the test sets.
final class MessagingBed: Sendable {
    let transport: ScriptedTransport
    let client: FirebaseMessagingAdapter
    private let time: BedTime
    static let installations = "https://firebaseinstallations.googleapis.com/v1/projects/demo/installations"
    static let registrations = "https://fcmregistrations.googleapis.com/v1/projects/demo/registrations"

    init(
        _ script: ScriptedExchange..., hasPushService: Bool = true, appID: String? = "1:1:ios:abc",
        bundleID: String? = "com.example.app", appVersion: String = "1.4", folder: URL? = nil,
        time: BedTime = BedTime(),
        hosts: FirebaseConfiguration.Hosts = FirebaseConfiguration.Hosts()
    ) throws {
        let transport = ScriptedTransport(script)
        self.transport = transport
        self.time = time
        let configuration = FirebaseConfiguration(
            project: "demo", apiKey: "the-key", appID: appID, bundleID: bundleID, hosts: hosts,
            usesEmulatorVariables: false)
        let module = FirebaseModule(configuration, environment: [:]) { transport }
        client = try FirebaseMessagingAdapter(
            module.clientContext(
                ModuleContext(now: { Timestamp(microseconds: time.value * 1_000_000) }, stateFolder: folder)),
            hasPushService: hasPushService, appVersion: appVersion)
    }

    var now: Int64 {
        get { time.value }
        set { time.value = newValue }
    }

    func body(_ index: Int) -> JSON { (try? JSON(parsing: transport.requests[index].body)) ?? .null }
    func header(_ name: String, _ index: Int) -> String? { transport.requests[index].request.headers[name] }

    func code<Answer>(_ body: () async throws(MessagingError) -> Answer) async -> MessagingError.Code? {
        do throws(MessagingError) {
            _ = try await body()
            return nil
        } catch {
            return error.code
        }
    }

    // MARK: What servers say

    static let id = "cIrBbg6RTkSzQJbQG3ZsVe"

    /// What an app in a browser hands in.
    static func browser(origin: String = "app.example.com") -> PlatformPushToken {
        PlatformPushToken(
            .webPush,
            token: Secret(
                #"{"endpoint":"https://push.example/x","keys":{"p256dh":"P","auth":"A"},"origin":"\#(origin)"}"#))
    }

    static func installed(_ id: String = id, token: String = "auth-1") -> ScriptedExchange {
        .on(
            .post, installations,
            .json(
                #"{"name":"projects/1/installations/\#(id)","fid":"\#(id)","refreshToken":"refresh","authToken":{"token":"\#(token)","expiresIn":"604800s"}}"#
            ))
    }

    static func generated(_ token: String) -> ScriptedExchange {
        .on(
            .post, "\(installations)/\(id)/authTokens:generate",
            .json(#"{"token":"\#(token)","expiresIn":"604800s"}"#))
    }

    /// The installation's token is asked for in vain.
    static func notGenerated(_ answer: ScriptedReply) -> ScriptedExchange {
        .on(.post, "\(installations)/\(id)/authTokens:generate", answer)
    }

    /// What the services say of something that they do not have.
    static let unknown = ScriptedReply.json(
        #"{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND"}}"#, status: 404)
    /// What a proxy before them says of everything.
    static let page = ScriptedReply.text("<html>Not Found</html>", status: 404)

    static func registered(_ id: String = id, status: Int = 200) -> ScriptedExchange {
        .on(.post, registrations, .json(#"{"name":"projects/demo/registrations/\#(id)"}"#, status: status))
    }
}
