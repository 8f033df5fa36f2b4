import Switchyard
import SwitchyardBytes
import SwitchyardServerKit

/// One call to the auth service, with its context.
struct AuthCall: Sendable {
    /// The body, with its keys in camel case.
    let fields: JSONObject
    /// Whether the caller is the developer, who may act on every account.
    let isAdmin: Bool
    let now: Timestamp
    let project: String
    /// This server's address, for links.
    let origin: String
    let seal: ServerSigningKey
    let signer: LocalTokenSigner
    /// The claims of every new account, as JSON text.
    let claims: String?

    /// Whole seconds, as tokens count.
    var seconds: Int64 { now.seconds }
    var milliseconds: Int64 { now.microseconds / 1000 }

    /// `nil` also if empty, as with the vendor. Accepts numbers as text.
    func text(_ name: String) -> String? {
        switch fields[name] {
        case .string(let text)?: text.isEmpty ? nil : text
        case .integer(let number)?: String(number)
        default: nil
        }
    }

    func flag(_ name: String) -> Bool? {
        switch fields[name] {
        case .bool(let flag)?: flag
        case .string(let text)?: text == "true"
        case .integer(let number)?: number != 0
        default: nil
        }
    }

    func object(_ name: String) -> AuthCall {
        AuthCall(
            fields: AuthCall.camelCased(fields[name]?.object ?? JSONObject()), isAdmin: isAdmin, now: now,
            project: project, origin: origin, seal: seal, signer: signer, claims: claims)
    }

    func list(_ name: String) -> [String] { fields[name]?.array?.compactMap(\.string) ?? [] }

    func required(_ name: String, or message: String) throws(AuthFailure) -> String {
        guard let text = text(name) else { throw AuthFailure(message) }
        return text
    }

    /// An address. An empty one is malformed, not missing.
    func address(_ name: String = "email", or message: String) throws(AuthFailure) -> String {
        guard fields[name] != nil else { throw AuthFailure(message) }
        return try AccountDatabase.email(text(name) ?? "")
    }

    static func camelCased(_ object: JSONObject) -> JSONObject {
        JSONObject(object.members.map { (key: camelCased($0.key), value: $0.value) })
    }

    private static func camelCased(_ name: String) -> String {
        guard name.contains("_") else { return name }
        let words = name.split(separator: "_")
        return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }
}
