public import Foundation
public import Switchyard

/// An auth client for the tests of one feature: you set the calls that the feature makes, and every other one refuses by name.
///
/// ```swift
/// let auth = StubAuthClient(signIn: { _ in throw AuthError(.invalidCredential, "Try again.") })
/// ```
public struct StubAuthClient: AuthClient {
    /// What the stub answers by itself; `nil` for what it leaves to the client that it was made over.
    public struct Calls: Sendable {
        public var state: (@Sendable () async -> AuthState)?
        public var session: (@Sendable () async -> SessionSnapshot)?
        public var authStateStream: (@Sendable () -> SnapshotStream<AuthState, Never>)?
        public var signUp: (@Sendable (String, Secret) async throws -> SignUpResult)?
        public var resendConfirmation: (@Sendable (String) async throws -> Void)?
        public var signIn: (@Sendable (AuthCredential) async throws -> AuthUser)?
        public var answer: (@Sendable (SecondFactorChallenge, SecondFactorAnswer) async throws -> AuthUser)?
        public var beginBrowserSignIn: (@Sendable (IdentityProvider, URL, [String]) async throws -> BrowserSignIn)?
        public var sendPhoneCode: (@Sendable (String) async throws -> PhoneVerification)?
        public var sendEmailLink: (@Sendable (String, URL) async throws -> Void)?
        public var sendPasswordReset: (@Sendable (String) async throws -> Void)?
        public var resetPassword: (@Sendable (Secret, Secret) async throws -> Void)?
        public var link: (@Sendable (AuthCredential) async throws -> AuthUser)?
        public var unlink: (@Sendable (IdentityProvider) async throws -> AuthUser)?
        public var reauthenticate: (@Sendable (AuthCredential) async throws -> Void)?
        public var beginSecondFactor: (@Sendable (SecondFactor.Kind) async throws -> SecondFactorEnrollment)?
        public var confirmSecondFactor: (@Sendable (SecondFactorEnrollment, Secret, String?) async throws -> AuthUser)?
        public var removeSecondFactor: (@Sendable (SecondFactor.ID) async throws -> AuthUser)?
        public var updateAccount: (@Sendable (AccountChanges) async throws -> AuthUser)?
        public var reloadUser: (@Sendable () async throws -> AuthUser)?
        public var deleteAccount: (@Sendable () async throws -> Void)?
        public var signOut: (@Sendable (SignOutScope, Bool) async throws -> Void)?
        public var accessToken: (@Sendable (Bool) async throws -> AccessToken)?
    }

    public var calls = Calls()
    private let base: any AuthClient

    /// - Parameters:
    ///   - base: Answers what is not set: a mock, or by default a client that refuses everything by name. `UnsetClients` has one
    ///     that also records a failure of the test.
    ///   - set: Sets the calls.
    public init(over base: any AuthClient = UnsetClients.stubs.auth, _ set: (inout Calls) -> Void = { _ in }) {
        self.base = base
        set(&calls)
    }

    /// A stub that answers these calls and refuses every other one by name.
    public init(
        state: (@Sendable () async -> AuthState)? = nil,
        session: (@Sendable () async -> SessionSnapshot)? = nil,
        authStateStream: (@Sendable () -> SnapshotStream<AuthState, Never>)? = nil,
        signUp: (@Sendable (String, Secret) async throws -> SignUpResult)? = nil,
        resendConfirmation: (@Sendable (String) async throws -> Void)? = nil,
        signIn: (@Sendable (AuthCredential) async throws -> AuthUser)? = nil,
        answer: (@Sendable (SecondFactorChallenge, SecondFactorAnswer) async throws -> AuthUser)? = nil,
        beginBrowserSignIn: (@Sendable (IdentityProvider, URL, [String]) async throws -> BrowserSignIn)? = nil,
        sendPhoneCode: (@Sendable (String) async throws -> PhoneVerification)? = nil,
        sendEmailLink: (@Sendable (String, URL) async throws -> Void)? = nil,
        sendPasswordReset: (@Sendable (String) async throws -> Void)? = nil,
        resetPassword: (@Sendable (Secret, Secret) async throws -> Void)? = nil,
        link: (@Sendable (AuthCredential) async throws -> AuthUser)? = nil,
        unlink: (@Sendable (IdentityProvider) async throws -> AuthUser)? = nil,
        reauthenticate: (@Sendable (AuthCredential) async throws -> Void)? = nil,
        beginSecondFactor: (@Sendable (SecondFactor.Kind) async throws -> SecondFactorEnrollment)? = nil,
        confirmSecondFactor: (@Sendable (SecondFactorEnrollment, Secret, String?) async throws -> AuthUser)? = nil,
        removeSecondFactor: (@Sendable (SecondFactor.ID) async throws -> AuthUser)? = nil,
        updateAccount: (@Sendable (AccountChanges) async throws -> AuthUser)? = nil,
        reloadUser: (@Sendable () async throws -> AuthUser)? = nil,
        deleteAccount: (@Sendable () async throws -> Void)? = nil,
        signOut: (@Sendable (SignOutScope, Bool) async throws -> Void)? = nil,
        accessToken: (@Sendable (Bool) async throws -> AccessToken)? = nil
    ) {
        self.init {
            $0.state = state
            $0.session = session
            $0.authStateStream = authStateStream
            $0.signUp = signUp
            $0.resendConfirmation = resendConfirmation
            $0.signIn = signIn
            $0.answer = answer
            $0.beginBrowserSignIn = beginBrowserSignIn
            $0.sendPhoneCode = sendPhoneCode
            $0.sendEmailLink = sendEmailLink
            $0.sendPasswordReset = sendPasswordReset
            $0.resetPassword = resetPassword
            $0.link = link
            $0.unlink = unlink
            $0.reauthenticate = reauthenticate
            $0.beginSecondFactor = beginSecondFactor
            $0.confirmSecondFactor = confirmSecondFactor
            $0.removeSecondFactor = removeSecondFactor
            $0.updateAccount = updateAccount
            $0.reloadUser = reloadUser
            $0.deleteAccount = deleteAccount
            $0.signOut = signOut
            $0.accessToken = accessToken
        }
    }

    // MARK: Requirements

    public var provider: InfrastructureProvider { base.provider }
    public var capabilities: AuthCapabilities { base.capabilities }
    public var state: AuthState {
        get async {
            guard let state = calls.state else { return await base.state }
            return await state()
        }
    }
    public var wipeRequests: [WipeRequest]? { base.wipeRequests }
    public var session: SessionSnapshot {
        get async {
            guard let session = calls.session else { return await base.session }
            return await session()
        }
    }
    public func authStateStream() -> SnapshotStream<AuthState, Never> {
        (calls.authStateStream ?? base.authStateStream)()
    }
    @discardableResult
    public func signUp(email: String, password: Secret) async throws(AuthError) -> SignUpResult {
        try await stubbed(AuthError.self) { try await (calls.signUp ?? base.signUp)(email, password) }
    }
    public func resendConfirmation(to email: String) async throws(AuthError) {
        try await stubbed(AuthError.self) { try await (calls.resendConfirmation ?? base.resendConfirmation)(email) }
    }
    @discardableResult
    public func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthUser {
        try await stubbed(AuthError.self) { try await (calls.signIn ?? base.signIn)(credential) }
    }
    @discardableResult
    public func answer(_ challenge: SecondFactorChallenge, with answer: SecondFactorAnswer) async throws(AuthError)
        -> AuthUser
    {
        try await stubbed(AuthError.self) { try await (calls.answer ?? base.answer)(challenge, answer) }
    }
    public func beginBrowserSignIn(with provider: IdentityProvider, redirectURL: URL, scopes: [String])
        async throws(AuthError) -> BrowserSignIn
    {
        try await stubbed(AuthError.self) {
            try await (calls.beginBrowserSignIn ?? base.beginBrowserSignIn)(provider, redirectURL, scopes)
        }
    }
    public func sendPhoneCode(to phoneNumber: String) async throws(AuthError) -> PhoneVerification {
        try await stubbed(AuthError.self) { try await (calls.sendPhoneCode ?? base.sendPhoneCode)(phoneNumber) }
    }
    public func sendEmailLink(to email: String, redirectURL: URL) async throws(AuthError) {
        try await stubbed(AuthError.self) { try await (calls.sendEmailLink ?? base.sendEmailLink)(email, redirectURL) }
    }
    public func sendPasswordReset(to email: String) async throws(AuthError) {
        try await stubbed(AuthError.self) { try await (calls.sendPasswordReset ?? base.sendPasswordReset)(email) }
    }
    public func resetPassword(code: Secret, newPassword: Secret) async throws(AuthError) {
        try await stubbed(AuthError.self) { try await (calls.resetPassword ?? base.resetPassword)(code, newPassword) }
    }
    @discardableResult
    public func link(_ credential: AuthCredential) async throws(AuthError) -> AuthUser {
        try await stubbed(AuthError.self) { try await (calls.link ?? base.link)(credential) }
    }
    @discardableResult
    public func unlink(_ provider: IdentityProvider) async throws(AuthError) -> AuthUser {
        try await stubbed(AuthError.self) { try await (calls.unlink ?? base.unlink)(provider) }
    }
    public func reauthenticate(with credential: AuthCredential) async throws(AuthError) {
        try await stubbed(AuthError.self) { try await (calls.reauthenticate ?? base.reauthenticate)(credential) }
    }
    public func beginSecondFactor(_ kind: SecondFactor.Kind) async throws(AuthError) -> SecondFactorEnrollment {
        try await stubbed(AuthError.self) { try await (calls.beginSecondFactor ?? base.beginSecondFactor)(kind) }
    }
    @discardableResult
    public func confirmSecondFactor(_ enrollment: SecondFactorEnrollment, code: Secret, displayName: String?)
        async throws(AuthError) -> AuthUser
    {
        try await stubbed(AuthError.self) {
            try await (calls.confirmSecondFactor ?? base.confirmSecondFactor)(enrollment, code, displayName)
        }
    }
    @discardableResult
    public func removeSecondFactor(_ id: SecondFactor.ID) async throws(AuthError) -> AuthUser {
        try await stubbed(AuthError.self) { try await (calls.removeSecondFactor ?? base.removeSecondFactor)(id) }
    }
    @discardableResult
    public func updateAccount(_ changes: AccountChanges) async throws(AuthError) -> AuthUser {
        try await stubbed(AuthError.self) { try await (calls.updateAccount ?? base.updateAccount)(changes) }
    }
    @discardableResult
    public func reloadUser() async throws(AuthError) -> AuthUser {
        try await stubbed(AuthError.self) { try await (calls.reloadUser ?? base.reloadUser)() }
    }
    public func deleteAccount() async throws(AuthError) {
        try await stubbed(AuthError.self) { try await (calls.deleteAccount ?? base.deleteAccount)() }
    }
    public func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) {
        try await stubbed(AuthError.self) { try await (calls.signOut ?? base.signOut)(scope, wipesLocalData) }
    }
    public func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        try await stubbed(AuthError.self) { try await (calls.accessToken ?? base.accessToken)(refreshing) }
    }
    public func shutDown() async {
        await base.shutDown()
    }
    public func unwrapped<Client>(as type: Client.Type) -> Client? {
        base.unwrapped(as: type)
    }
}
