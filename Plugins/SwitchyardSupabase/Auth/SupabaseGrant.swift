import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardProviderKit
import SwitchyardWire

/// A session as returned by the server.
struct SupabaseGrant: Sendable {
    let tokens: SessionTokens
    let user: AuthUser
    /// Factors that are enrolled, but not yet verified in this session.
    let openFactors: [SecondFactor]

    /// - Throws: For a success without a session, such as the first of two confirmations.
    init(session answer: JSON, at now: Timestamp) throws(SupabaseAuthFailure) {
        guard let access = answer["access_token"]?.string, let refresh = answer["refresh_token"]?.string,
            !refresh.isEmpty, let json = answer["user"], let user = AuthUser(supabase: json)
        else { throw SupabaseAuthFailure.unreadable }
        let claims = SupabaseGrant.claims(of: access)
        let stated =
            answer["expires_in"]?.int64
            ?? claims?["exp"]?.int64.flatMap { end -> Int64? in
                let (seconds, overflows) = end.subtractingReportingOverflow(now.seconds)
                return overflows ? nil : seconds
            }
        guard let lifetime = stated, lifetime > 0, lifetime < 1 << 40 else { throw SupabaseAuthFailure.unreadable }
        tokens = SessionTokens(
            refresh: Secret(refresh), access: Secret(access), issuedAt: now, lifetime: .seconds(lifetime))
        self.user = user
        openFactors = claims?["aal"]?.string == "aal1" ? user.secondFactors : []
    }

    /// The claims of a token. Verifying it is left to servers.
    static func claims(of token: String) -> JSON? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decode(parts[1], alphabet: .url) else { return nil }
        return try? JSON(parsing: bytes)
    }

    /// Who an identity provider's token is about. A local server also accepts the claims alone.
    static func subject(of identityToken: Secret) -> String? {
        let text = identityToken.reveal()
        return (claims(of: text) ?? (try? JSON(parsing: Array(text.utf8))))?["sub"]?.string
    }
}

extension AuthUser {
    /// `nil` if the JSON is not an account. Unset values are empty text here.
    init?(supabase json: JSON) {
        guard let id = json["id"]?.string, !id.isEmpty else { return nil }
        func text(_ value: JSON?) -> String? { value?.string.flatMap { $0.isEmpty ? nil : $0 } }
        let own = json["user_metadata"]
        let identities = (json["identities"]?.array ?? []).compactMap { $0["provider"]?.string }
        let kinds = json["app_metadata"]?["providers"]?.array?.compactMap(\.string) ?? []
        var names: [IdentityProvider] = []
        for name in (identities.isEmpty ? kinds : identities).map(IdentityProvider.init(supabase:))
        where !names.contains(name) { names.append(name) }
        let factors = (json["factors"]?.array ?? []).filter { $0["status"]?.string == "verified" }
        self.init(
            id: id, email: text(json["email"]),
            isEmailVerified: text(json["email_confirmed_at"]) != nil,
            phoneNumber: text(json["phone"]).map { $0.hasPrefix("+") ? $0 : "+\($0)" },
            displayName: text(own?["full_name"]) ?? text(own?["name"]) ?? text(own?["display_name"]),
            photoURL: (text(own?["avatar_url"]) ?? text(own?["picture"])).flatMap { URL(string: $0) },
            isAnonymous: json["is_anonymous"]?.bool ?? false, identities: names,
            secondFactors: factors.compactMap { SecondFactor(supabase: $0, names: own?[SecondFactor.namesKey]) },
            createdAt: AuthUser.date(json["created_at"]), lastSignInAt: AuthUser.date(json["last_sign_in_at"]))
    }

    /// Rounded down to microseconds, as the server stores it: only its first answer has more digits, and a later one would look
    /// like a change.
    private static func date(_ json: JSON?) -> Date? {
        json?.string.flatMap { RFC3339.parse($0) }.map {
            Date(timeIntervalSince1970: Double($0.seconds) + Double($0.nanoseconds / 1000) / 1e6)
        }
    }
}

extension SecondFactor {
    /// The key of the factors' names in the user's own data.
    static let namesKey = "second_factor_names"

    init?(supabase json: JSON, names: JSON?) {
        guard let id = json["id"]?.string, let kind = json["factor_type"]?.string.flatMap(Kind.init(rawValue:)) else {
            return nil
        }
        self.init(id: id, kind: kind, displayName: names?[id]?.string ?? json["friendly_name"]?.string)
    }
}

extension IdentityProvider {
    /// The service's short names and the portable ones.
    private static let names: [(supabase: String, ours: IdentityProvider)] = [
        ("email", .password), ("phone", .phone), ("google", .google), ("apple", .apple),
        ("facebook", "facebook.com"), ("github", "github.com"), ("twitter", "twitter.com"),
    ]

    init(supabase name: String) {
        self = IdentityProvider.names.first { $0.supabase == name }?.ours ?? IdentityProvider(rawValue: name)
    }

    var supabaseName: String {
        self == .emailLink ? "email" : IdentityProvider.names.first { $0.ours == self }?.supabase ?? rawValue
    }
}

/// The calls of Supabase's auth service. Every request and answer goes through here.
struct SupabaseAuthService: Sendable {
    static let deadline = Duration.seconds(30)

    /// Without a trailing slash, such as `https://demo.supabase.co/auth/v1`.
    let address: String
    let apiKey: Secret
    let transport: any Transport
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp
    /// A host in a private network to which secrets may be sent in plain HTTP.
    var plainHost: String?
    /// The largest accepted answer, in bytes.
    var maximumAnswer = 1 << 20

    /// - Parameters:
    ///   - path: The path after the address, including any query.
    ///   - bearer: The user's token. Without one, the header is omitted, since current keys are not tokens.
    func call(
        _ method: HTTPMethod, _ path: String, _ body: JSONObject? = nil, as bearer: Secret? = nil
    ) async throws(SupabaseAuthFailure) -> JSON {
        guard isSafe else { throw SupabaseAuthFailure(.unsafeAddress) }
        var request = HTTPRequest(method, address + path, body: body.map { JSON.object($0).bytes() } ?? [])
        request.headers["apikey"] = apiKey.reveal()
        request.headers["X-Supabase-Api-Version"] = "2024-01-01"
        request.headers.nameClient()
        if body != nil { request.headers["Content-Type"] = "application/json" }
        if let bearer { request.headers["Authorization"] = "Bearer \(bearer.reveal())" }
        request.redirects = .surface
        request.maximumBodySize = maximumAnswer
        return try await Patience(clock: clock).outlasting(\.pauseBeforeRepetition) {
            () throws(SupabaseAuthFailure) in try await send(request)
        }
    }

    private func send(_ request: HTTPRequest) async throws(SupabaseAuthFailure) -> JSON {
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await transport.send(request, within: Self.deadline, clock: clock)
        } catch {
            throw SupabaseAuthFailure(.unanswered(error, status: nil))
        }
        guard response.isSuccess else { throw SupabaseAuthFailure(response, now: now().seconds) }
        if response.body.isEmpty { return [:] }
        guard let answer = try? JSON(parsing: response.body, options: JSONParsingOptions(loneSurrogates: .replace)),
            answer.object != nil
        else { throw SupabaseAuthFailure(.unanswered(nil, status: response.status)) }
        return answer
    }

    func token(
        _ grant: String, _ body: JSONObject, as bearer: Secret? = nil
    ) async throws(SupabaseAuthFailure) -> SupabaseGrant {
        try SupabaseGrant(session: try await call(.post, "/token?grant_type=\(grant)", body, as: bearer), at: now())
    }

    /// Whether secrets may be sent to the address.
    private var isSafe: Bool {
        (try? URLParts(validating: address))?.mayCarrySecrets(plainTo: plainHost) ?? false
    }
}
