import Foundation
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// The project's secret, and the verification of tokens with it.
struct SupabaseAccess: Sendable {
    let secret: [UInt8]
    /// From when on the project's keys are valid, in seconds since 1970.
    let keysSince: Int64
    /// The Firebase project whose tokens are also accepted.
    let firebase: FirebaseProject?
    /// In seconds since 1970.
    let now: @Sendable () -> Int64

    /// The bearer token in the `Authorization` header, which may be empty.
    static func bearer(of request: ServerRequest) -> String? {
        request.headers["Authorization"].flatMap { field in
            let parts = field.split(separator: " ", maxSplits: 1)
            return parts.first?.lowercased() == "bearer" ? String(parts.dropFirst().first ?? "") : nil
        }
    }

    /// What the gateway in front of the services does not find: a valid key of the project, in the header or the query.
    struct MissingKey: Error {
        let message: String

        var response: ServerResponse {
            .json(
                JSON.object([
                    "message": .string(message), "hint": "Send one of the project's keys as `apikey`.",
                ]).bytes(), status: 401)
        }
    }

    /// The key that a request names, valid or not.
    static func key(of request: ServerRequest) -> String? { request.headers["apikey"] ?? request.query("apikey") }

    func checkKey(of request: ServerRequest) throws(MissingKey) {
        guard let key = Self.key(of: request) else {
            throw MissingKey(message: "No API key found in request")
        }
        guard isKey(key) else { throw MissingKey(message: "Invalid API key") }
    }

    /// The caller: the bearer or, without one, the role of the project's key.
    func token(of request: ServerRequest) throws(RESTFailure) -> SupabaseToken {
        guard let text = Self.bearer(of: request) ?? Self.key(of: request) else {
            throw RESTFailure(401, "PGRST302", "Anonymous access is disabled")
        }
        do throws(SupabaseToken.Refusal) {
            return try token(text)
        } catch {
            throw RESTFailure(error)
        }
    }

    /// The identity of a token or key.
    func token(_ text: String) throws(SupabaseToken.Refusal) -> SupabaseToken {
        try SupabaseToken(text, secret: secret, now: now(), firebase: firebase)
    }

    /// Whether this is one of the project's own keys.
    func isKey(_ text: String) -> Bool { (try? SupabaseToken(text, secret: secret, now: now())) != nil }

    func key(role: String) -> String {
        let claims: JSONObject = [
            "iss": "supabase-local", "role": .string(role), "iat": .integer(keysSince),
            "exp": .integer(keysSince + 10 * 365 * 86_400),
        ]
        return SupabaseToken(claims: claims).text(secret: secret)
    }

    func userToken(_ userID: String, validFor seconds: Int64) -> String {
        let claims: JSONObject = [
            "aud": "authenticated", "sub": .string(userID), "role": "authenticated", "iat": .integer(now()),
            "exp": .integer(now() + seconds),
        ]
        return SupabaseToken(claims: claims).text(secret: secret)
    }
}
