public import Foundation
public import Switchyard
import SwitchyardBytes
import Synchronization

/// The accounts on a project's server.
///
/// It also simulates what happens outside the app: reading emails, filling in pages, and changes by an administrator.
///
/// ```swift
/// try await auth.sendPasswordReset(to: "alice@example.com")
/// let mail = backend.accounts.mails.last
/// ```
public final class MockAccounts: Sendable {
    struct Code: Sendable, Codable {
        let kind: String
        let recipient: String
        let code: String
        let expiresAt: Int64
        var isUsed = false
        var failures = 0
    }

    /// A completed page of a browser sign-in, until its code is exchanged.
    struct Grant: Sendable {
        let provider: IdentityProvider
        let subject: String
        let email: String?
        let challenge: String
    }

    /// A sign-in that waits for its second factor.
    struct HalfSignIn: Sendable {
        let userID: String
        let expiresAt: Timestamp
        let claims: MockClaims?
    }

    struct Enrollment: Sendable {
        let userID: String
        let kind: SecondFactor.Kind
        let key: [UInt8]
    }

    struct State: Sendable {
        var accounts: [String: MockAccount] = [:]
        var sessions: [String: MockSession] = [:]
        var codes: [String: Code] = [:]
        var grants: [String: Grant] = [:]
        var halfSignIns: [String: HalfSignIn] = [:]
        var enrollments: [String: Enrollment] = [:]
        var key = Array(RandomID.make(length: 32).utf8)
        var version = 0
    }

    private let state = Mutex(State())
    private let outbox = Mutex<[MockMail]>([])
    private let lifetimes = Mutex(Lifetimes())
    private let asks = Mutex(false)
    let now: @Sendable () -> Timestamp
    let changed = Mutex<(@Sendable () -> Void)?>(nil)

    /// How long tokens, sessions and codes are valid.
    public struct Lifetimes: Sendable, Hashable {
        public var accessToken: Duration = .seconds(3600)
        /// `nil` for sessions that never expire.
        public var session: Duration?
        public var code: Duration = .seconds(600)
        /// How recently a user must have authenticated to change the password or address, or to delete the account.
        public var recentSignIn: Duration = .seconds(300)
    }

    init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    public var lifetime: Lifetimes {
        get { lifetimes.withLock { $0 } }
        set { lifetimes.withLock { $0 = newValue } }
    }

    /// Whether a new account must confirm its address before it can sign in, and a changed address takes effect only when
    /// confirmed. Hosted projects require this by default; here it is off.
    ///
    /// ```swift
    /// backend.accounts.asksForConfirmation = true
    /// try await auth.signUp(email: "alice@example.com", password: "long enough")      // confirmationSent
    /// backend.accounts.confirmEmail("alice@example.com")
    /// ```
    public var asksForConfirmation: Bool {
        get { asks.withLock { $0 } }
        set { asks.withLock { $0 = newValue } }
    }

    /// All emails and text messages sent, oldest first.
    public var mails: [MockMail] { outbox.withLock { $0 } }

    /// The latest email or text message of `kind` to `recipient`.
    public func mail(_ kind: MockMail.Kind, to recipient: String) -> MockMail? {
        let address = recipient.lowercased()
        return mails.last { $0.kind == kind && $0.recipient == address }
    }

    public var users: [AuthUser] { state.withLock { $0.accounts.values.map(\.user).sorted { $0.id < $1.id } } }

    // MARK: Outside the app

    /// A custom token for this user, as signed by the app's own server.
    public func customToken(for userID: String) -> Secret {
        SignedToken("custom", ["sub": userID]).secret(key: state.withLock { $0.key })
    }

    /// An identity token as `provider` would issue it; `nonce` is the raw nonce that the app will pass.
    public func identityToken(
        of provider: IdentityProvider, subject: String, email: String?, nonce: String? = nil
    ) -> Secret {
        var claims = ["iss": provider.rawValue, "sub": subject]
        claims["email"] = email
        claims["nonce"] = nonce.map(MockAccounts.digest)
        return SignedToken("identity", claims).secret(key: state.withLock { $0.key })
    }

    /// Completes the page of a browser sign-in: agrees as the user with this address.
    ///
    /// - Returns: The address to which the browser returns.
    public func authorize(_ signIn: BrowserSignIn, as subject: String, email: String?) throws(AuthError) -> URL {
        let query = URLQuery(signIn.url)
        guard let challenge = query["code_challenge"], query["code_challenge_method"] == "S256",
            let redirect = query["redirect_uri"], let stateText = query["state"], let name = query["provider"]
        else { throw AuthError(.invalidArgument, "This is not a page of the mock.") }
        let code = RandomID.make(length: 32)
        let grant = Grant(
            provider: IdentityProvider(rawValue: name), subject: subject, email: email, challenge: challenge)
        state.withLock { $0.grants[code] = grant }
        return try URLQuery.url(redirect, ["code": code, "state": stateText])
    }

    /// The address to which the browser returns if the user cancels.
    public func decline(_ signIn: BrowserSignIn) throws(AuthError) -> URL {
        try URLQuery.url(signIn.redirectURL.absoluteString, ["error": "access_denied", "state": signIn.state])
    }

    /// The code that an authenticator app shows for a key; with `stepsAhead`, a later one.
    public func oneTimeCode(for sharedKey: Secret, stepsAhead: Int = 0) -> Secret? {
        Base32.decode(sharedKey.reveal()).map {
            Secret(OneTimeCode.code(key: $0, step: OneTimeCode.step(at: now().seconds) + Int64(stepsAhead)))
        }
    }

    /// Confirms an address like the link in an email, but without signing in.
    public func confirmEmail(_ email: String) {
        let address = email.lowercased()
        change { _ = $0.confirm(address) }
    }

    /// Disables an account; its devices notice at their next call.
    public func setDisabled(_ isDisabled: Bool, _ userID: AuthUser.ID) {
        change { $0.accounts[userID]?.isDisabled = isDisabled }
    }

    /// Ends all sessions of an account.
    public func endSessions(of userID: AuthUser.ID) {
        change { state in state.sessions = state.sessions.filter { $0.value.userID != userID } }
    }

    /// Whether the token was issued here and is still valid, as a server of the app would check it.
    public func accepts(_ token: AccessToken) -> Bool {
        (try? verify(token.value, checksRevocation: false))?.userID == token.userID
    }

    /// Verifies a token of this project.
    func verify(_ token: Secret, checksRevocation: Bool) throws(TokenError) -> VerifiedToken {
        let (key, now) = (state.withLock { $0.key }, now())
        guard token.reveal().hasPrefix("mock.") else {
            throw TokenError(.malformedToken, "The text is not a token of a mock.")
        }
        guard let signed = SignedToken(token, "access", key: key), case let claims = signed.claims,
            let userID = claims["sub"],
            let end = claims["exp"].flatMap({ Int64($0) }).map({ Timestamp(microseconds: $0) })
        else { throw TokenError(.invalidSignature, "The project did not sign the token.") }
        guard now < end else {
            throw TokenError(.tokenExpired, "The token has expired. Refresh it and send the request again.")
        }
        let account = state.withLock { $0.accounts[userID] }
        if checksRevocation {
            guard account?.isDisabled != true else { throw TokenError(.userDisabled, "The account is disabled.") }
            guard account != nil, state.withLock({ $0.sessions.values.contains { $0.userID == userID } }) else {
                throw TokenError(.tokenRevoked, "The session was ended. Sign in again.")
            }
        }
        let user = account?.user
        return VerifiedToken(
            token: token, provider: .mock, userID: userID, issuer: "mock", expiresAt: end.date, email: user?.email,
            isEmailVerified: user?.isEmailVerified ?? false, phoneNumber: user?.phoneNumber,
            isAnonymous: user?.isAnonymous ?? false, role: signed.custom.values["role"]?.stringValue,
            claims: claims.mapValues { .string($0) }.merging(signed.custom.values) { own, _ in own })
    }

    // MARK: Internal

    func read<Result: Sendable>(_ body: (State) -> Result) -> Result { state.withLock { body($0) } }

    @discardableResult
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = try state.withLock { (state) throws(Failure) -> Result in
            state.version += 1
            return try body(&state)
        }
        changed.withLock { $0 }?()
        return result
    }

    func send(_ mail: MockMail) { outbox.withLock { $0.append(mail) } }

    /// The encoding of proof keys and nonces.
    static func digest(_ text: String) -> String {
        Base64.encode(SHA256.digest(of: text.utf8), alphabet: .url)
    }
}
