public import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire

/// Verifies the App Check tokens of requests to a server: whether a genuine app of the project sent them.
///
/// Apps send theirs in the header field `X-Firebase-AppCheck`. It says nothing about the user; that is what `tokenVerifier()`
/// of an infrastructure is for.
///
/// ```swift
/// let verifier = try FirebaseAppCheckVerifier(FirebaseConfiguration(project: "demo"))
/// let app = try await verifier.verify(header: request.headers["X-Firebase-AppCheck"])
/// ```
/// Signatures are checked with published keys, which are fetched for the first token and kept for at most six hours. Make one
/// verifier for a program, and shut it down with the program.
public final class FirebaseAppCheckVerifier: Sendable {
    private static let issuer = "https://firebaseappcheck.googleapis.com"

    private let context: FirebaseContext
    private let keys: PublishedKeys
    private let calls: CallPolicy

    /// - Parameters:
    ///   - configuration: Names the project. If it has the project's number, ``FirebaseConfiguration/senderID``, tokens must be
    ///     issued for that number, too. ``consume(_:)`` needs its credential.
    ///   - observer: Observes each call, with the ID of the request that it was made for.
    /// - Throws: `.invalidConfiguration` without a project, or for settings that cannot be used.
    public convenience init(
        _ configuration: FirebaseConfiguration, observer: any InfrastructureObserver = SilentObserver()
    ) throws(InfrastructureError) {
        try self.init(
            FirebaseModule(configuration).clientContext(ModuleContext(observer: observer)), observer: observer)
    }

    init(_ context: FirebaseContext, observer: any InfrastructureObserver = SilentObserver()) {
        self.context = context
        keys = PublishedKeys(
            Self.issuer + "/v1/jwks", .keySet, longest: .seconds(6 * 3600), transport: context.transport,
            clock: context.module.clock)
        calls = CallPolicy(
            .auth, { .firebase }, observer: observer, clock: context.module.clock, hasDeadline: true, namesErrors: true)
    }

    /// Verifies the header field `X-Firebase-AppCheck` of a request.
    ///
    /// - Throws: `.unauthenticated` without one; otherwise as ``verify(_:)``.
    public func verify(header: String?) async throws(TokenError) -> FirebaseAppCheckToken {
        guard let header, !header.isEmpty else {
            throw TokenError(.unauthenticated, "The request has no App Check token. Send one as X-Firebase-AppCheck.")
        }
        return try await verify(Secret(header))
    }

    /// - Throws: A code that says why the token is not valid, as for tokens of users: `.invalidSignature`, `.wrongProject`,
    ///   `.tokenExpired` and so on; `.unavailable` if the keys cannot be fetched.
    public func verify(_ token: Secret) async throws(TokenError) -> FirebaseAppCheckToken {
        try await calls("verify App Check token") { () throws(TokenError) in try await check(token) }
    }

    /// Verifies a token and marks it as used, with a request to the service: a token that an attacker has recorded is worth
    /// nothing.
    ///
    /// For calls that are worth the time, with limited-use tokens that the app fetches for each of them. Needs the
    /// configuration's ``FirebaseConfiguration/credential``, whose account has the role “Firebase App Check Token Verifier”.
    ///
    /// - Throws: `.tokenAlreadyUsed` for a token that was consumed before; `.unsupported` without a credential;
    ///   `.failedPrecondition` if the service refuses it; otherwise as ``verify(_:)``.
    public func consume(_ token: Secret) async throws(TokenError) -> FirebaseAppCheckToken {
        try await calls("consume App Check token") { () throws(TokenError) in
            let verified = try await check(token)
            try await markAsUsed(token)
            return verified
        }
    }

    /// Closes the connections. Later calls throw `.shutDown`.
    public func shutDown() async { await context.transport.shutDown() }

    // MARK: Checks

    private func check(_ token: Secret) async throws(TokenError) -> FirebaseAppCheckToken {
        let web = try JSONWebToken(token, expected: "the App Check token of an app")
        // Check the project and the expiry first, so that tokens of other projects cause no key requests.
        let appID = try appID(web.claims)
        guard web.header["typ"]?.string == "JWT" else {
            throw TokenError(.malformedToken, "The token's header does not say that it is a JSON web token.")
        }
        guard web.algorithm == "RS256" else {
            throw TokenError(.invalidSignature, "The token is not signed with RS256, as every App Check token is.")
        }
        guard TokenKey.isAvailable else { throw .noCryptography }
        let key = try await keys.key(web.keyID)
        guard key.algorithm == .rs256, key.verifies(web.signature, of: web.signed) else {
            throw TokenError(.invalidSignature, "App Check did not sign the token.")
        }
        return FirebaseAppCheckToken(appID: appID, web.claims)
    }

    private func appID(_ claims: JSONObject) throws(TokenError) -> String {
        // All projects' tokens have the same keys: only issuer and audience tell them apart.
        let (issuer, prefix) = (claims["iss"]?.string ?? "", Self.issuer + "/")
        let number = issuer.hasPrefix(prefix) ? String(issuer.dropFirst(prefix.count)) : ""
        guard !number.isEmpty, number.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else {
            throw TokenError(
                .wrongProject, "App Check did not issue the token. Send the App Check token as X-Firebase-AppCheck.")
        }
        if let ours = context.configuration.senderID, number != ours {
            throw TokenError(
                .wrongProject,
                "App Check issued the token for another project: its number is not \(ours). Check project and senderID in this "
                    + "server's configuration, or send a token of an app of that project.")
        }
        guard claims["sub"]?.string?.isEmpty == false else {
            throw TokenError(.malformedToken, "The token does not name an app.")
        }
        let rules = { (audience: String) in
            TokenRules(issuers: [issuer], audience: "projects/\(audience)")
        }
        let now = context.module.now().seconds
        _ = try rules(context.configuration.project).check(claims, now: now)
        return try rules(number).check(claims, now: now)
    }

    // MARK: Use

    private func markAsUsed(_ token: Secret) async throws(TokenError) {
        guard let credential = context.tokens.credential else {
            throw TokenError(
                .unsupported,
                "Marking a token as used requires a credential. Set credential in Firebase's configuration to the path of a "
                    + "service account's key file, or to applicationDefault; never in an app.")
        }
        var refused: Secret?
        while true {
            let access: Secret
            let endpoint: FirebaseEndpoint
            do {
                endpoint = try FirebaseEndpoint(host: Self.issuer)
                access = try await credential.token(for: endpoint, replacing: refused)
            } catch let error as AuthError {
                throw TokenError(lookingUp: error)
            } catch {
                throw TokenError(.failedPrecondition, "\(error)", underlying: error)
            }
            let response = try await ask(endpoint, token, access, credential)
            switch response.status {
            case 200...299:
                guard let answer = try? JSON(parsing: response.body), answer.object != nil else {
                    throw TokenError(.unavailable, "App Check's response cannot be read.", isRetryable: true)
                }
                guard answer["alreadyConsumed"]?.bool != true else {
                    throw TokenError(.tokenAlreadyUsed, "The App Check token was used before. Fetch a new one.")
                }
                return
            case 401 where refused == nil: refused = access
            case 429, 500...599:
                throw TokenError(
                    .unavailable, "App Check answered with status \(response.status).", isRetryable: true)
            default:
                throw TokenError(
                    .failedPrecondition,
                    "App Check refused to mark the token as used, with status \(response.status). Give the credential's account "
                        + "the role “Firebase App Check Token Verifier”, and use tokens of a provider that supports it."
                )
            }
        }
    }

    private func ask(
        _ endpoint: FirebaseEndpoint, _ token: Secret, _ access: Secret, _ credential: ProjectTokens
    ) async throws(TokenError) -> HTTPResponse {
        let project = context.configuration.project
        // Not idempotent: a second attempt would find the token used.
        var request = HTTPRequest(
            .post, "\(endpoint.address)/v1beta/projects/\(PercentCoding.encode(project)):verifyAppCheckToken",
            body: JSON.object(["appCheckToken": .string(token.reveal())]).bytes(), isIdempotent: false)
        request.redirects = .surface
        request.maximumBodySize = 1 << 20
        request.headers["Content-Type"] = "application/json"
        for (name, value) in credential.headers(with: access, for: project) { request.headers[name] = value }
        do throws(TransportError) {
            return try await context.transport.send(request, within: .seconds(10), clock: context.module.clock)
        } catch {
            throw TokenError(error)
        }
    }
}

/// A valid App Check token: a genuine app of the project sent the request.
public struct FirebaseAppCheckToken: Sendable, Hashable {
    /// The ID of the app in the project, such as `1:123:ios:abc`.
    public let appID: String
    public let issuedAt: Date?
    public let expiresAt: Date

    init(appID: String, _ claims: JSONObject) {
        func date(_ name: String) -> Date? {
            (claims[name]?.double ?? claims[name]?.int64.map(Double.init)).map { Date(timeIntervalSince1970: $0) }
        }
        self.appID = appID
        issuedAt = date("iat")
        expiresAt = date("exp") ?? .distantPast
    }
}

extension ErrorCode {
    /// The token may be used once, and was used before.
    public static let tokenAlreadyUsed = ErrorCode(rawValue: "tokenAlreadyUsed")
}
