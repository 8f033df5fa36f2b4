import Foundation
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// The project's secret, and the verification of tokens with it.
struct SupabaseAccess: Sendable {
    let secret: [UInt8]
    /// The Firebase project whose tokens are also accepted.
    let firebase: FirebaseProject?
    /// In seconds since 1970.
    let now: @Sendable () -> Int64

    /// The bearer token in the `Authorization` header.
    static func bearer(of request: ServerRequest) -> String? {
        request.headers["Authorization"].flatMap { field in
            let parts = field.split(separator: " ", maxSplits: 1)
            return parts.count == 2 && parts[0].lowercased() == "bearer" ? String(parts[1]) : nil
        }
    }

    /// The caller: the bearer or, without one, the role of the project's key.
    func token(of request: ServerRequest) throws(RESTFailure) -> SupabaseToken {
        guard let text = Self.bearer(of: request) ?? request.headers["apikey"] else {
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
            "iss": "supabase-local", "role": .string(role), "iat": .integer(now()),
            "exp": .integer(now() + 10 * 365 * 86_400),
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
