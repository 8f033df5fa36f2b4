import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// One call to the auth service, with its context.
struct SupabaseAuthCall: Sendable {
    let request: ServerRequest
    let fields: JSONObject
    let tables: AuthTables

    /// Whole seconds, as tokens count.
    var seconds: Int64 { tables.seconds }

    /// `nil` also if empty, as with the vendor.
    func text(_ name: String) -> String? { fields[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }

    func object(_ name: String) -> JSONObject { fields[name]?.object ?? [:] }

    /// The final target of a link in an email, or of a browser.
    var redirect: String? { request.query("redirect_to") ?? request.headers["redirect_to"] }

    /// The address in this field, in lower case.
    func email(_ name: String = "email") throws(AuthRefusal) -> String? {
        guard let text = text(name) else { return nil }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), text.utf8.count < 256,
            parts[0].utf8.allSatisfy({ Self.isLetter($0) || ".!#$%&'*+/=?^_`{|}~-".utf8.contains($0) }),
            parts[1].split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ label in
                (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy { Self.isLetter($0) || $0 == UInt8(ascii: "-") }
            })
        else { throw .invalid("Unable to validate email address: invalid format") }
        return text.lowercased()
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...122).contains(byte | 32) || byte > 127
    }

    /// The number in this field: digits, without the plus sign.
    func phone(_ name: String = "phone") throws(AuthRefusal) -> String? {
        guard let text = text(name) else { return nil }
        let digits = text.filter { $0 != "+" && $0 != " " }
        guard (2...15).contains(digits.utf8.count), digits.first != "0",
            digits.utf8.allSatisfy({ (48...57).contains($0) })
        else { throw .invalid("Invalid phone number format (E.164 required)") }
        return digits
    }

    /// The challenge of a sign-in that is completed with a verifier.
    func challenge(_ value: (String) -> String?) throws(AuthRefusal) -> AuthChallenge? {
        let (text, method) = (value("code_challenge"), value("code_challenge_method"))
        guard text != nil || method != nil else { return nil }
        guard let text, let method = method?.lowercased(), ["s256", "plain"].contains(method) else {
            throw .invalid("PKCE flow requires code_challenge_method and code_challenge")
        }
        guard AuthChallenge.isWellFormed(text) else {
            throw .invalid("code challenge has to be between 43 and 128 characters of the unreserved ones")
        }
        return AuthChallenge(text: text, method: method)
    }
}

/// Derived from a secret that the client proves at the end of a browser sign-in to show that it began it.
struct AuthChallenge: Hashable, Sendable {
    let text: String
    let method: String

    static func isWellFormed(_ text: String) -> Bool {
        (43...128).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || "-._~".utf8.contains($0)
            }
    }

    func isMet(by verifier: String) -> Bool {
        switch method {
        case "plain": verifier == text
        default: Base64.encode(SHA256.digest(of: Array(verifier.utf8)), alphabet: .url) == text
        }
    }
}
