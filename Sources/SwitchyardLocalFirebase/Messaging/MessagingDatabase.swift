import Switchyard
import SwitchyardBytes
import SwitchyardServerKit

/// The state of the messaging services, and their calls.
struct MessagingDatabase: Codable, Sendable {
    struct Installation: Codable, Sendable {
        let appID: String
        let refreshToken: String
    }

    /// A device that can be sent to, identified by its installation or by a token.
    struct Registration: Codable, Sendable {
        enum Platform: String, Codable, Sendable { case ios, web }
        let installation: String
        let platform: Platform
        /// The body of the call as JSON text, which the platform's push service would get.
        var details: String
    }

    /// A message as received by one device.
    struct Delivery: Codable, Sendable {
        let registration: String
        /// JSON text in the format in which the platform passes it to the app.
        let payload: String
    }

    static let tokenLifetime: Int64 = 604_800

    var installations: [String: Installation] = [:]
    var registrations: [String: Registration] = [:]
    /// The subscribers of each topic.
    var topics: [String: Set<String>] = [:]
    var deliveries: [Delivery] = []
    var messageCount = 0
    /// What the current call has sent.
    var news: SentMessages.Message?

    // MARK: Installations

    mutating func createInstallation(_ call: MessagingCall) throws(MessagingFailure) -> JSON {
        guard let appID = call.body["appId"]?.string, appID.split(separator: ":").count == 4 else {
            throw .invalid("Request contains an invalid app id.")
        }
        let proposed = call.body["fid"]?.string ?? ""
        // An invalid ID is replaced; the client has to use the returned one.
        let id = MessagingDatabase.isInstallation(proposed) ? proposed : MessagingDatabase.newInstallation()
        if let known = installations[id], known.appID != appID {
            throw MessagingFailure(409, "ALREADY_EXISTS", "The installation belongs to another app.")
        }
        let installation = Installation(appID: appID, refreshToken: "2_" + RandomID.make(length: 64))
        installations[id] = installation
        return [
            "name": .string("projects/\(call.project)/installations/\(id)"), "fid": .string(id),
            "refreshToken": .string(installation.refreshToken), "authToken": authToken(id, call),
        ]
    }

    func renewToken(_ id: String, _ call: MessagingCall) throws(MessagingFailure) -> JSON {
        try checkOwner(of: id, call)
        return authToken(id, call)
    }

    mutating func deleteInstallation(_ id: String, _ call: MessagingCall) throws(MessagingFailure) -> JSON {
        try checkOwner(of: id, call)
        installations[id] = nil
        for (name, registration) in registrations where registration.installation == id { forget(name) }
        return [:]
    }

    private func checkOwner(of id: String, _ call: MessagingCall) throws(MessagingFailure) {
        guard let installation = installations[id] else { throw .notFound }
        guard call.authorization == "FIS_v2 " + installation.refreshToken else { throw .unauthenticated }
    }

    private func authToken(_ id: String, _ call: MessagingCall) -> JSON {
        let token = call.seal.close(
            ["installation": .string(id), "until": .integer(call.now.seconds + MessagingDatabase.tokenLifetime)],
            as: .installationToken)
        return ["token": .string(token), "expiresIn": .string("\(MessagingDatabase.tokenLifetime)s")]
    }

    /// 22 letters of URL-safe base64, the first of which shows that the rest is random.
    static func isInstallation(_ id: String) -> Bool {
        id.utf8.count == 22 && "cdef".contains(id.prefix(1)) && Base64.decode(id.dropLast(2), alphabet: .url) != nil
            && Base64.decode("AA" + id.suffix(2), alphabet: .url) != nil
    }

    private static func newInstallation() -> String {
        var bytes = ServerSigningKey.makeKey().prefix(17)
        bytes[0] = bytes[0] & 0x0F | 0x70
        return String(Base64.encode(bytes, alphabet: .url).prefix(22))
    }

    // MARK: Registrations

    /// The installation of the call's token, with or without the prefix used on the web.
    func installation(_ call: MessagingCall) throws(MessagingFailure) -> String {
        var token = call.installationToken ?? ""
        if token.hasPrefix("FIS ") { token.removeFirst(4) }
        guard let content = call.seal.open(token, as: .installationToken), let id = content["installation"]?.string,
            installations[id] != nil, (content["until"]?.int64 ?? 0) > call.now.seconds
        else { throw .unauthenticated }
        return id
    }

    /// - Parameter renewed: The token of an earlier registration, which this one replaces.
    mutating func register(_ call: MessagingCall, renewed: String? = nil) throws(MessagingFailure) -> JSON {
        let id = try installation(call)
        let platform: Registration.Platform
        if let ios = call.body["ios"] {
            let token = ios["apns_token"]?.string ?? ""
            guard !token.isEmpty, Hex.decode(token) != nil else { throw .invalid("The APNs token is not hexadecimal.") }
            platform = .ios
        } else if let web = call.body["web"] {
            guard web["endpoint"]?.string != nil, web["p256dh"]?.string != nil, web["auth"]?.string != nil else {
                throw .invalid("The push subscription is incomplete.")
            }
            platform = .web
        } else {
            throw .invalid("A registration is for a platform.")
        }
        if let renewed {
            guard registrations[renewed]?.installation == id else { throw .notFound }
        }
        // Only registrations named after their installation contain their client's version.
        let isNamed = call.body["fcm_sdk_version"] != nil || call.body["fcmSdkVersion"] != nil
        let name = isNamed ? id : renewed ?? "\(id):APA91b\(RandomID.make(length: 120))"
        registrations[name] = Registration(
            installation: id, platform: platform, details: JSON.object(call.body).text())
        if isNamed { return ["name": .string("projects/\(call.project)/registrations/\(name)")] }
        return [
            "name": .string("projects/\(call.project)/registrations/\(name)"), "token": .string(name),
        ]
    }

    mutating func unregister(_ name: String, _ call: MessagingCall) throws(MessagingFailure) -> JSON {
        let id = try installation(call)
        guard registrations[name]?.installation == id else { throw .notFound }
        forget(name)
        return [:]
    }

    private mutating func forget(_ name: String) {
        registrations[name] = nil
        for topic in topics.keys { topics[topic]?.remove(name) }
    }
}

/// The refusal of a call about installations, registrations, topics or messages.
struct MessagingFailure: Error {
    let code: Int
    let status: String
    let message: String
    /// Messaging's own code, which is more specific than the status.
    var errorCode: String?

    init(_ code: Int, _ status: String, _ message: String, errorCode: String? = nil) {
        self.code = code
        self.status = status
        self.message = message
        self.errorCode = errorCode
    }

    var body: JSON {
        var error: JSONObject = [
            "code": .integer(Int64(code)), "message": .string(message), "status": .string(status),
        ]
        if let errorCode {
            error["details"] = [
                [
                    "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError",
                    "errorCode": .string(errorCode),
                ]
            ]
        }
        return ["error": .object(error)]
    }

    static func invalid(_ message: String) -> MessagingFailure {
        MessagingFailure(400, "INVALID_ARGUMENT", message, errorCode: "INVALID_ARGUMENT")
    }
    static let unauthenticated = MessagingFailure(
        401, "UNAUTHENTICATED", "Request is missing required authentication credential.")
    static let notFound = MessagingFailure(404, "NOT_FOUND", "Requested entity was not found.")
    static let unregistered = MessagingFailure(
        404, "NOT_FOUND", "Requested entity was not found.", errorCode: "UNREGISTERED")
    static let missingKey = MessagingFailure(
        403, "PERMISSION_DENIED", "The request is missing a valid API key.")
}
