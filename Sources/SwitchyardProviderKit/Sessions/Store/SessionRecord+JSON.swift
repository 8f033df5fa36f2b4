import Foundation
import Switchyard
import SwitchyardBytes

/// The stored form of a record. It contains secrets in plain text, so store it only in protected folders.
extension SessionRecord {
    func json() -> JSON {
        switch self {
        case .none: ["state": "none"]
        case .signedOut(let end):
            ["state": "signedOut", "reason": .string(end.reason.rawValue), "wipesLocalData": .bool(end.wipesLocalData)]
        case .session(let session): .object(Self.object(session))
        }
    }

    /// `nil` for anything that this code did not write.
    init?(json: JSON) {
        switch json["state"]?.string {
        case "none": self = .none
        case "signedOut":
            guard let reason = json["reason"]?.string.flatMap(SignOut.Reason.init(rawValue:)) else { return nil }
            self = .signedOut(SignOut(reason, wipesLocalData: json["wipesLocalData"]?.bool ?? false))
        case "session":
            guard let id = json["id"]?.string, let revision = json["revision"]?.int,
                let user = json["user"].flatMap(Self.user)
            else { return nil }
            var tokens: SessionTokens?
            if let refresh = json["refresh"]?.string {
                guard let access = json["access"]?.string, let issued = json["issuedAt"]?.int64,
                    let expires = json["expiresAt"]?.int64
                else { return nil }
                tokens = SessionTokens(
                    refresh: Secret(refresh), access: Secret(access), issuedAt: Timestamp(microseconds: issued),
                    expiresAt: Timestamp(microseconds: expires))
            }
            self = .session(AuthSession(id: id, user: user, tokens: tokens, revision: revision))
        default: return nil
        }
    }

    private static func object(_ session: AuthSession) -> JSONObject {
        var object: JSONObject = [
            "state": "session", "id": .string(session.id), "revision": .integer(Int64(session.revision)),
            "user": .object(Self.object(session.user)),
        ]
        guard let tokens = session.tokens else { return object }
        object["refresh"] = .string(tokens.refresh.reveal())
        object["access"] = .string(tokens.access.reveal())
        object["issuedAt"] = .integer(tokens.issuedAt.microseconds)
        object["expiresAt"] = .integer(tokens.expiresAt.microseconds)
        return object
    }

    private static func object(_ user: AuthUser) -> JSONObject {
        var object: JSONObject = [
            "id": .string(user.id), "isEmailVerified": .bool(user.isEmailVerified),
            "isAnonymous": .bool(user.isAnonymous),
            "identities": .array(user.identities.map { .string($0.rawValue) }),
            "secondFactors": .array(
                user.secondFactors.map { factor in
                    var object: JSONObject = ["id": .string(factor.id), "kind": .string(factor.kind.rawValue)]
                    object["displayName"] = factor.displayName.map(JSON.string)
                    return .object(object)
                }),
        ]
        object["email"] = user.email.map(JSON.string)
        object["phoneNumber"] = user.phoneNumber.map(JSON.string)
        object["displayName"] = user.displayName.map(JSON.string)
        object["photoURL"] = (user.photoURL?.absoluteString).map(JSON.string)
        // In the unit of `Date` itself, so that it reads back exactly the same and causes no new state.
        object["createdAt"] = user.createdAt.map { .number($0.timeIntervalSinceReferenceDate) }
        object["lastSignInAt"] = user.lastSignInAt.map { .number($0.timeIntervalSinceReferenceDate) }
        return object
    }

    private static func user(_ json: JSON) -> AuthUser? {
        guard let id = json["id"]?.string, !id.isEmpty else { return nil }
        return AuthUser(
            id: id, email: json["email"]?.string, isEmailVerified: json["isEmailVerified"]?.bool ?? false,
            phoneNumber: json["phoneNumber"]?.string, displayName: json["displayName"]?.string,
            photoURL: json["photoURL"]?.string.flatMap { URL(string: $0) },
            isAnonymous: json["isAnonymous"]?.bool ?? false,
            identities: (json["identities"]?.array ?? []).compactMap {
                $0.string.map(IdentityProvider.init(rawValue:))
            },
            secondFactors: (json["secondFactors"]?.array ?? []).compactMap(Self.factor),
            createdAt: json["createdAt"]?.double.map { Date(timeIntervalSinceReferenceDate: $0) },
            lastSignInAt: json["lastSignInAt"]?.double.map { Date(timeIntervalSinceReferenceDate: $0) })
    }

    private static func factor(_ json: JSON) -> SecondFactor? {
        guard let id = json["id"]?.string, let kind = json["kind"]?.string.flatMap(SecondFactor.Kind.init(rawValue:))
        else { return nil }
        return SecondFactor(id: id, kind: kind, displayName: json["displayName"]?.string)
    }
}

/// The bytes of a stored session: a line with the format and a checksum, then JSON.
enum SessionFile {
    private static let name = "switchyard-session"
    private static let version = 1

    enum Contents: Sendable, Hashable {
        case record(SessionRecord)
        case damaged
        /// Written by a later version of this package.
        case newer
    }

    static func encode(_ record: SessionRecord) -> [UInt8] {
        let body = record.json().bytes()
        return Array("\(name) \(version) \(String(CRC32C.checksum(of: body), radix: 16))\n".utf8) + body
    }

    static func decode(_ bytes: [UInt8]) -> Contents {
        guard let lineEnd = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return .damaged }
        let words = String(decoding: bytes[..<lineEnd], as: UTF8.self).split(separator: " ")
        guard words.count == 3, words[0] == name, let written = Int(words[1]) else { return .damaged }
        guard written <= version else { return .newer }
        let body = bytes[(lineEnd + 1)...]
        guard UInt32(words[2], radix: 16) == CRC32C.checksum(of: body),
            let json = try? JSON(parsing: Array(body)), let record = SessionRecord(json: json)
        else { return .damaged }
        return .record(record)
    }
}
