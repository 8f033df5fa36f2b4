import Foundation
package import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// The project's secret, and the verification of tokens with it.
struct SupabaseAccess: Sendable {
    let secret: [UInt8]
    /// From when on the project's keys are valid, in seconds since 1970.
    let keysSince: Int64
    /// The Firebase project whose tokens are also accepted.
    let firebase: FirebaseProject?
    /// Whether requests pass a gateway that demands a key.
    let hasGateway: Bool
    /// The key that signs users' tokens; `nil` if the secret does. The project's own keys are always signed with the secret.
    var signingKey: RSAPrivateKey?
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

    /// The key that the gateway passes on as a token, where a request has none.
    func keyAsToken(of request: ServerRequest) -> String? { hasGateway ? Self.key(of: request) : nil }

    func checkKey(of request: ServerRequest) throws(MissingKey) {
        guard hasGateway else { return }
        guard let key = Self.key(of: request) else {
            throw MissingKey(message: "No API key found in request")
        }
        guard isKey(key) else { throw MissingKey(message: "Invalid API key") }
    }

    /// The caller: the bearer or, without one, the role of the project's key.
    func token(of request: ServerRequest) throws(RESTFailure) -> SupabaseToken {
        guard let text = Self.bearer(of: request) ?? keyAsToken(of: request) else {
            guard hasGateway else { return .anonymous }
            throw RESTFailure(401, "PGRST302", "Anonymous access is disabled")
        }
        do throws(SupabaseToken.Refusal) {
            return try token(text, ofAnyRole: true)
        } catch {
            throw RESTFailure(error, of: text)
        }
    }

    /// The identity of a token or key.
    ///
    /// - Parameter ofAnyRole: Whether a token may name a role of the project's own. Which it may take is for the database to
    ///   say: those that are granted to `authenticator`.
    func token(_ text: String, ofAnyRole: Bool = false) throws(SupabaseToken.Refusal) -> SupabaseToken {
        let token = try SupabaseToken(text, secret: secret, now: now(), key: signingKey?.publicKey, firebase: firebase)
        guard ofAnyRole || SupabaseToken.roles.contains(token.role) else { throw .unknownRole(token.role) }
        return token
    }

    /// Whether this is one of the project's own keys.
    func isKey(_ text: String) -> Bool {
        (try? SupabaseToken(text, secret: secret, now: now())).map { SupabaseToken.roles.contains($0.role) } ?? false
    }

    func key(role: String) -> String {
        let claims: JSONObject = [
            "iss": "supabase-local", "role": .string(role), "iat": .integer(keysSince),
            "exp": .integer(keysSince + 10 * 365 * 86_400),
        ]
        return SupabaseToken(claims: claims).text(secret: secret)
    }

    /// A user's token.
    func sign(_ claims: JSONObject) -> String {
        guard let signingKey else { return SupabaseToken(claims: claims).text(secret: secret) }
        let header: JSONObject = ["alg": "RS256", "kid": .string(signingKey.publicKey.id), "typ": "JWT"]
        let signed = [header, claims].map { Base64.encode(JSON.object($0).bytes(), alphabet: .url) }
            .joined(separator: ".")
        return signed + "." + Base64.encode(signingKey.signature(of: signed), alphabet: .url)
    }

    func userToken(_ userID: String, validFor seconds: Int64) -> String {
        let claims: JSONObject = [
            "aud": "authenticated", "sub": .string(userID), "role": "authenticated", "iat": .integer(now()),
            "exp": .integer(now() + seconds),
        ]
        return SupabaseToken(claims: claims).text(secret: secret)
    }
}

/// A JWT of the project: the caller and the database role.
package struct SupabaseToken: Sendable {
    package let claims: JSONObject

    enum Refusal: Error, Hashable {
        case undecodable
        case wrongSignature
        case expired
        case notYetValid
        case fromTheFuture
        /// A required claim has the wrong type.
        case malformedClaim(String)
        case unknownRole(String)
    }

    /// The roles that every project has, and the only ones for accounts, files and live changes.
    static let roles: Set<String> = ["anon", "authenticated", "service_role"]

    /// The tolerated difference between the clocks of issuers and servers.
    static let leeway: Int64 = 30

    package init(claims: JSONObject) { self.claims = claims }

    /// - Parameters:
    ///   - now: In seconds.
    ///   - key: The project's public key, if it has one.
    ///   - firebase: The project whose tokens are accepted in addition to those signed with the secret.
    init(
        _ text: String, secret: [UInt8], now: Int64, key: RSAPublicKey? = nil, firebase: FirebaseProject? = nil
    ) throws(Refusal) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.decode(parts[0]), let claims = Self.decode(parts[1]) else {
            throw .undecodable
        }
        if header["alg"]?.string == "HS256" {
            guard let signature = Base64.decode(parts[2], alphabet: .url) else { throw .undecodable }
            let code = HMACSHA256.code(for: Array("\(parts[0]).\(parts[1])".utf8), key: secret)
            guard HMACSHA256.areEqual(signature, code) else { throw .wrongSignature }
            self.claims = claims
        } else if let key, header["alg"]?.string == "RS256", header["kid"]?.string == key.id {
            guard let signature = Base64.decode(parts[2], alphabet: .url) else { throw .undecodable }
            guard key.verifies(signature, of: "\(parts[0]).\(parts[1])") else { throw .wrongSignature }
            self.claims = claims
        } else {
            guard let claims = firebase?.claims(parts, header, claims) else { throw .wrongSignature }
            // Anyone can write a token of a project that does not sign. What it says of rights counts for users only.
            if let role = claims["role"], role.string != FirebaseProject.role {
                throw .unknownRole(role.string ?? role.text())
            }
            self.claims = claims
        }
        try Self.check(claims, now: now)
    }

    /// Refuses invalid times, and tokens that are expired or not yet valid.
    private static func check(_ claims: JSONObject, now: Int64) throws(Refusal) {
        for name in ["exp", "nbf", "iat"] {
            guard let value = claims[name], !value.isNull else { continue }
            guard value.double != nil else { throw .malformedClaim(name) }
            // As with the vendor, what is no whole number of seconds counts as none.
            let seconds = value.int64 ?? 0
            switch name {
            case "exp": if seconds < now - leeway { throw .expired }
            case "nbf": if seconds > now + leeway { throw .notYetValid }
            default: if seconds > now + leeway { throw .fromTheFuture }
            }
        }
        switch claims["aud"] {
        case nil, .null?, .string?: break
        case .array(let all)? where all.allSatisfy({ $0.string != nil }): break
        default: throw .malformedClaim("aud")
        }
    }

    func text(secret: [UInt8]) -> String {
        let header: JSON = ["alg": "HS256", "typ": "JWT"]
        let signed = [header, .object(claims)].map { Base64.encode($0.bytes(), alphabet: .url) }.joined(separator: ".")
        return signed + "." + Base64.encode(HMACSHA256.code(for: Array(signed.utf8), key: secret), alphabet: .url)
    }

    package var role: String {
        guard let role = claims["role"], !role.isNull else { return "anon" }
        return role.string ?? role.text()
    }

    /// The algorithm that the first part of a token names.
    static func algorithm(of header: some StringProtocol) -> String? { decode(header)?["alg"]?.string }

    private static func decode(_ part: some StringProtocol) -> JSONObject? {
        Base64.decode(part, alphabet: .url).flatMap { try? JSON(parsing: $0) }?.object
    }
}
