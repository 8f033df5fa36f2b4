import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Users of identity providers.
///
/// Signatures of identity providers are not checked: a test writes their statement as a JSON object or an unsigned token.
/// Everything else is checked as at the vendor's.
extension LocalSupabaseAuth {
    /// An identity provider's statement about a user.
    struct Assertion: Sendable {
        let provider: String
        let subject: String
        let claims: JSONObject
        var accessToken: String?

        var email: String? { claims["email"]?.string.flatMap { $0.isEmpty ? nil : $0.lowercased() } }
        /// If the provider does not say, the address counts as verified.
        var isEmailVerified: Bool {
            switch claims["email_verified"] {
            case .bool(let isVerified)?: isVerified
            case .string(let text)?: text == "true"
            default: true
            }
        }
    }

    /// The providers whose tokens apps may pass directly.
    private static let issuers = ["apple", "google", "azure", "facebook", "keycloak", "kakao", "snapchat"]

    func grantIdentity(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> JSONObject {
        guard let provider = call.text("provider"), let token = call.text("id_token") else {
            throw .oauth("id_token and provider required")
        }
        guard Self.issuers.contains(provider) || provider.hasPrefix("custom:") else {
            throw AuthRefusal(400, "provider_disabled", "Custom OIDC provider \"\(provider)\" not allowed")
        }
        guard let claims = TestToken.claims(token), let subject = claims["sub"]?.string, !subject.isEmpty else {
            throw .oauth("Bad ID token")
        }
        if let end = claims["exp"]?.int64, end <= call.seconds { throw .oauth("Bad ID token") }
        let expected = claims["nonce"]?.string
        let given = call.text("nonce").map { Hex.encode(SHA256.digest(of: Array($0.utf8))) }
        guard (expected == nil) == (given == nil) else {
            throw .oauth("Passed nonce and nonce in id_token should either both exist or not.")
        }
        guard expected == given else { throw .oauth("Nonces mismatch") }
        var assertion = Assertion(provider: provider, subject: subject, claims: claims)
        assertion.accessToken = call.text("access_token")
        if call.fields["link_identity"]?.bool == true {
            try requireManualLinking()
            let caller = try await caller(call)
            let person = try await link(assertion, to: caller.person, call)
            return try await signIn(person, by: "oauth", call)
        }
        return try await signIn(try await person(of: assertion, call), by: "oauth", call)
    }

    /// The user of an identity: its owner, the user with the same address, or a new one.
    func person(of assertion: Assertion, _ call: SupabaseAuthCall) async throws(AuthRefusal) -> LocalSupabaseAccount {
        let tables = call.tables
        if let owner = try await owner(of: assertion, call) {
            return try await tables.add(
                identity: assertion.subject, of: assertion.provider, assertion.claims, to: owner)
        }
        var person: LocalSupabaseAccount
        if let email = assertion.email, assertion.isEmailVerified, let known = try await tables.person(withEmail: email)
        {
            person = known
            if !known.isEmailConfirmed {
                // The user who chose the password has not proved ownership of the address.
                try await tables.delete("identities", where: ["user_id": .string(known.id)])
                person = try await tables.change(known, ["encrypted_password": .null])
            }
        } else {
            guard options.allowsSignUp else {
                throw AuthRefusal(422, "signup_disabled", "Signups not allowed for this instance")
            }
            var row: JSONObject = ["raw_user_meta_data": .object(Self.ownData(assertion.claims))]
            if let email = assertion.email, try await tables.person(withEmail: email) == nil {
                row["email"] = .string(email)
            }
            person = try await tables.makePerson(row)
        }
        person = try await tables.add(identity: assertion.subject, of: assertion.provider, assertion.claims, to: person)
        guard assertion.isEmailVerified, person.email != nil else { return person }
        return try await confirmEmail(of: person, call)
    }

    /// Adds an identity to an account.
    func link(
        _ assertion: Assertion, to person: LocalSupabaseAccount, _ call: SupabaseAuthCall
    ) async throws(AuthRefusal) -> LocalSupabaseAccount {
        let tables = call.tables
        if let owner = try await owner(of: assertion, call) {
            throw AuthRefusal(
                422, "identity_already_exists",
                owner.id == person.id ? "Identity is already linked" : "Identity is already linked to another user")
        }
        var person = try await tables.add(
            identity: assertion.subject, of: assertion.provider, assertion.claims, to: person)
        var changes: JSONObject = [:]
        if person.email == nil, let email = assertion.email, assertion.isEmailVerified,
            try await tables.person(withEmail: email) == nil
        {
            changes = ["email": .string(email), "email_confirmed_at": tables.time]
        }
        if person.isAnonymous { changes["is_anonymous"] = false }
        if !changes.isEmpty { person = try await tables.change(person, changes) }
        return person
    }

    func requireManualLinking() throws(AuthRefusal) {
        guard options.allowsManualLinking else {
            throw .disabled("Manual linking is disabled", "manual_linking_disabled")
        }
    }

    func unlink(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        try requireManualLinking()
        let person = try await caller(call).person
        let id = call.request.parameters["identity"] ?? ""
        guard let identity = person.identities.first(where: { $0["id"]?.string == id }) else {
            throw AuthRefusal(404, "identity_not_found", "Identity doesn't exist")
        }
        guard person.identities.count > 1 else {
            throw AuthRefusal(
                422, "single_identity_not_deletable", "User must have at least 1 identity after unlinking")
        }
        try await call.tables.delete("identities", where: ["id": identity["id"] ?? .null])
        _ = try await call.tables.nameProviders(of: person)
        return Self.ok([:])
    }

    private func owner(of assertion: Assertion, _ call: SupabaseAuthCall) async throws(AuthRefusal)
        -> LocalSupabaseAccount?
    {
        let identity = try await call.tables.first(
            "identities",
            where: ["provider": .string(assertion.provider), "provider_id": .string(assertion.subject)])
        guard let id = identity?["user_id"]?.string else { return nil }
        return try await call.tables.person(id)
    }

    /// The part of a provider's claims that becomes the user's own data.
    private static func ownData(_ claims: JSONObject) -> JSONObject {
        var data: JSONObject = [:]
        for name in ["name", "full_name", "avatar_url", "picture", "email", "email_verified"] {
            data[name] = claims[name]
        }
        if data["full_name"] == nil { data["full_name"] = claims["name"] }
        return data
    }
}
