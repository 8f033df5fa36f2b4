public import Foundation
public import Switchyard
import SwitchyardBytes
import Synchronization

/// The accounts of one project as its server has them, and what happens outside of an app: mails that are read, pages that
/// are filled in, an administrator's doings.
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

    /// A browser page that was filled in, until its code is exchanged.
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

    /// How long what the server hands out is good for.
    public struct Lifetimes: Sendable, Hashable {
        public var accessToken: Duration = .seconds(3600)
        /// `nil` for sessions that end only by being ended.
        public var session: Duration?
        public var code: Duration = .seconds(600)
        /// How long ago a person may have proved who they are for changes to password, address and existence.
        public var recentSignIn: Duration = .seconds(300)
    }

    init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    public var lifetime: Lifetimes {
        get { lifetimes.withLock { $0 } }
        set { lifetimes.withLock { $0 = newValue } }
    }

    /// Whether a new account lets somebody in only after its address was confirmed, and a new address counts only then: what
    /// hosted projects begin with. Off by default.
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

    /// Every mail and text message that was sent, oldest first.
    public var mails: [MockMail] { outbox.withLock { $0 } }

    /// The newest of `kind` to `recipient`.
    public func mail(_ kind: MockMail.Kind, to recipient: String) -> MockMail? {
        let address = recipient.lowercased()
        return mails.last { $0.kind == kind && $0.recipient == address }
    }

    public var users: [AuthUser] { state.withLock { $0.accounts.values.map(\.user).sorted { $0.id < $1.id } } }

    // MARK: What happens outside of the app

    /// A token that the app's own server would sign for this person.
    public func customToken(for userID: String) -> Secret {
        SignedToken("custom", ["sub": userID]).secret(key: state.withLock { $0.key })
    }

    /// An identity token as `provider` would issue it; `nonce` is what the app will hand in as raw nonce.
    public func identityToken(
        of provider: IdentityProvider, subject: String, email: String?, nonce: String? = nil
    ) -> Secret {
        var claims = ["iss": provider.rawValue, "sub": subject]
        claims["email"] = email
        claims["nonce"] = nonce.map(MockAccounts.digest)
        return SignedToken("identity", claims).secret(key: state.withLock { $0.key })
    }

    /// Does what a person does on the page of a browser sign-in: agrees, as the one with this address.
    ///
    /// - Returns: Where the browser comes back to.
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

    /// What the browser comes back with when the person calls it off.
    public func decline(_ signIn: BrowserSignIn) throws(AuthError) -> URL {
        try URLQuery.url(signIn.redirectURL.absoluteString, ["error": "access_denied", "state": signIn.state])
    }

    /// The code that an authenticator app shows for a key; with `stepsAhead`, the one that it will show later.
    public func oneTimeCode(for sharedKey: Secret, stepsAhead: Int = 0) -> Secret? {
        Base32.decode(sharedKey.reveal()).map {
            Secret(OneTimeCode.code(key: $0, step: OneTimeCode.step(at: now().seconds) + Int64(stepsAhead)))
        }
    }

    /// Marks an address as confirmed by its owner, as the link in a mail does; nobody is signed in by that.
    public func confirmEmail(_ email: String) {
        let address = email.lowercased()
        change { _ = $0.confirm(address) }
    }

    /// Bars an account; its devices learn of it at their next call.
    public func setDisabled(_ isDisabled: Bool, _ userID: AuthUser.ID) {
        change { $0.accounts[userID]?.isDisabled = isDisabled }
    }

    /// Ends every session of an account.
    public func endSessions(of userID: AuthUser.ID) {
        change { state in state.sessions = state.sessions.filter { $0.value.userID != userID } }
    }

    /// Whether the token was issued here and is still good: what a server of the app's own would ask.
    public func accepts(_ token: AccessToken) -> Bool {
        (try? verify(token.value, checksRevocation: false))?.userID == token.userID
    }

    /// What a token of this project's says, if it is good.
    func verify(_ token: Secret, checksRevocation: Bool) throws(TokenError) -> VerifiedToken {
        let (key, now) = (state.withLock { $0.key }, now())
        guard token.reveal().hasPrefix("mock.") else {
            throw TokenError(.malformedToken, "The text is not a token of a mock.")
        }
        guard let signed = SignedToken(token, "access", key: key), case let claims = signed.claims,
            let userID = claims["sub"],
            let end = claims["exp"].flatMap({ Int64($0) }).map({ Timestamp(microseconds: $0) })
        else { throw TokenError(.invalidSignature, "The project has not signed the token.") }
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

    // MARK: For the rest of the mock

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

    /// In the form in which a proof key and a nonce travel.
    static func digest(_ text: String) -> String {
        Base64.encode(SHA256.digest(of: text.utf8), alphabet: .url)
    }
}
