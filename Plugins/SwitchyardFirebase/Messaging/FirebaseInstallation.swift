public import Switchyard
import SwitchyardBytes

/// An installation of the app, as registered with Firebase.
struct FirebaseInstallation: Sendable, Hashable {
    /// 22 letters, used as the device's address in FCM.
    var id: String
    var refreshToken: Secret
    var token: Secret
    var issuedAt: Timestamp
    var expiresAt: Timestamp

    /// A token counts as expired one hour early, and also if the clock was set back.
    func isGood(at now: Timestamp) -> Bool {
        now.microseconds >= issuedAt.microseconds - 1_000_000
            && now.microseconds < expiresAt.microseconds - 3_600_000_000
    }

    /// An ID in the service's format: four fixed bits, then random ones.
    static func makeID(using generator: inout some RandomNumberGenerator) -> String {
        var bytes = (0..<17).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        bytes[0] = bytes[0] & 0x0F | 0x70
        return String(Base64.encode(bytes, alphabet: .url).prefix(22))
    }

    static func isID(_ text: String) -> Bool {
        text.utf8.count == 22 && "cdef".utf8.contains(text.utf8.first ?? 0)
            && text.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                    || "-_".utf8.contains(byte)
            }
    }
}

/// A registration for messages and what it was based on. It is renewed if any of that changes.
struct FirebaseRegistration: Sendable, Hashable {
    /// The name under which a server sends.
    var token: String
    var service: PlatformPushToken.Service
    var platformToken: Secret
    var appID: String
    var appVersion: String
    var registeredAt: Timestamp

    private static let lifetime: Int64 = 7 * 86_400 * 1_000_000

    func isGood(for platform: PlatformPushToken, appID: String, appVersion: String, at now: Timestamp) -> Bool {
        let age = now.microseconds - registeredAt.microseconds
        return service == platform.service && platformToken == platform.token && self.appID == appID
            && self.appVersion == appVersion && (0..<Self.lifetime).contains(age)
    }
}

/// The messaging state stored on a device.
struct FirebaseMessagingState: Sendable, Hashable {
    var installation: FirebaseInstallation?
    var registration: FirebaseRegistration?
    var permission = MessagingPermission.undetermined
    var platformToken: PlatformPushToken?

    init() {}

    init?(json: JSON) {
        guard json.object != nil else { return nil }
        permission = json["permission"]?.string.flatMap(MessagingPermission.init(rawValue:)) ?? .undetermined
        func text(_ object: JSON?, _ name: String) -> String? { object?[name]?.string }
        func time(_ object: JSON?, _ name: String) -> Timestamp? {
            object?[name]?.int64.map { Timestamp(microseconds: $0) }
        }
        if let kept = json["platformToken"], let token = text(kept, "token"),
            let service = text(kept, "service").map(PlatformPushToken.Service.init(rawValue:))
        {
            platformToken = PlatformPushToken(service, token: Secret(token))
        }
        let kept = json["installation"]
        if let id = text(kept, "id"), let refresh = text(kept, "refreshToken"), let token = text(kept, "token"),
            let issued = time(kept, "issuedAt"), let expires = time(kept, "expiresAt")
        {
            installation = FirebaseInstallation(
                id: id, refreshToken: Secret(refresh), token: Secret(token), issuedAt: issued, expiresAt: expires)
        }
        let known = json["registration"]
        if let token = text(known, "token"), let platform = text(known, "platformToken"),
            let service = text(known, "service").map(PlatformPushToken.Service.init(rawValue:)),
            let app = text(known, "appID"), let version = text(known, "appVersion"),
            let time = time(known, "registeredAt")
        {
            registration = FirebaseRegistration(
                token: token, service: service, platformToken: Secret(platform), appID: app, appVersion: version,
                registeredAt: time)
        }
    }

    /// Contains secrets: store it in protected folders only.
    var json: JSON {
        var json: JSONObject = ["permission": .string(permission.rawValue)]
        if let platformToken {
            json["platformToken"] = [
                "service": .string(platformToken.service.rawValue), "token": .string(platformToken.token.reveal()),
            ]
        }
        if let installation {
            json["installation"] = [
                "id": .string(installation.id), "refreshToken": .string(installation.refreshToken.reveal()),
                "token": .string(installation.token.reveal()), "issuedAt": .integer(installation.issuedAt.microseconds),
                "expiresAt": .integer(installation.expiresAt.microseconds),
            ]
        }
        if let registration {
            json["registration"] = [
                "token": .string(registration.token), "service": .string(registration.service.rawValue),
                "platformToken": .string(registration.platformToken.reveal()), "appID": .string(registration.appID),
                "appVersion": .string(registration.appVersion),
                "registeredAt": .integer(registration.registeredAt.microseconds),
            ]
        }
        return .object(json)
    }
}

extension PlatformPushToken.Service {
    /// The library on Android registers by itself, so servers use its token directly.
    public static let fcm = Self(rawValue: "fcm")
}
