import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardConformance
import SwitchyardServerKit
import SwitchyardWire

@testable import SwitchyardFirebase
@testable import SwitchyardLocalFirebase

/// Installations of one app on a local Firebase, on devices that have Apple's push service.
final class LocalMessagingHarness: MessagingHarness {
    static let features: MessagingFeatures = {
        var capabilities = MessagingCapabilities()
        capabilities.push = true
        capabilities.topics = true
        return MessagingFeatures(capabilities, needsPlatformToken: true)
    }()

    let firebase: LocalFirebase
    var features: MessagingFeatures { Self.features }

    init() throws { firebase = try LocalFirebase() }

    var configuration: FirebaseConfiguration {
        var hosts = FirebaseConfiguration.Hosts()
        let address = "http://\(firebase.host)"
        hosts.installations = address
        hosts.registrations = address
        hosts.messaging = address
        return FirebaseConfiguration(
            project: firebase.project, apiKey: "any", appID: "1:1:ios:abc", bundleID: "com.example.app", hosts: hosts,
            usesEmulatorVariables: false)
    }

    func makeMessagingClient() async throws -> any MessagingClient {
        let module = FirebaseModule(configuration, environment: [:]) { CurlTransport() }
        return try FirebaseMessagingAdapter(module.clientContext(ModuleContext()), hasPushService: true)
    }

    func sender() throws -> FirebaseMessageSender {
        try FirebaseMessageSender(configuration, transport: CurlTransport()) { _ in "ya29.test" }
    }

    func platformToken() -> PlatformPushToken? {
        var generator = SystemRandomNumberGenerator()
        return PlatformPushToken(apns: Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }))
    }

    func payload(_ message: RemoteMessage) throws -> RemotePayload {
        var alert: JSONObject = [:]
        alert["title"] = message.title.map(JSON.string)
        alert["body"] = message.body.map(JSON.string)
        var payload: JSONObject = ["aps": ["alert": .object(alert)], "gcm.message_id": .string(message.id)]
        for (key, value) in message.data { payload[key] = .string(value) }
        return RemotePayload(json: Data(JSON.object(payload).bytes()), wasOpened: message.wasOpened)
    }
}
