public import Foundation

/// An auth client that forwards every call along its route.
///
/// A call may be repeated if it does not use up a code, send anything or create an account.
public protocol RoutedAuthClient: AuthClient {
    var route: Route<any AuthClient> { get }
}

extension RoutedAuthClient {
    public var provider: InfrastructureProvider { route.client?.provider ?? .unavailable }
    public var capabilities: AuthCapabilities { route.client?.capabilities ?? AuthCapabilities() }
    public var state: AuthState { get async { await route.readyClient?.state ?? .unknown } }
    public func authStateStream() -> SnapshotStream<AuthState, Never> {
        route.states("state stream", absent: .unknown) { $0.authStateStream() }
    }
    public var wipeRequests: [WipeRequest]? { route.client?.wipeRequests }
    public var session: SessionSnapshot {
        get async { await route.readyClient?.session ?? SessionSnapshot(issuer: .unavailable, state: .unknown) }
    }

    @discardableResult
    public func signUp(email: String, password: Secret) async throws(AuthError) -> SignUpResult {
        try await route.call(.personal("sign up", "Signing up")) { auth throws(AuthError) in
            try await auth.signUp(email: email, password: password)
        }
    }
    public func resendConfirmation(to email: String) async throws(AuthError) {
        try await route.call(.personal("resend confirmation", "Sending the confirmation again")) {
            auth throws(AuthError) in
            try await auth.resendConfirmation(to: email)
        }
    }
    @discardableResult
    public func signIn(with credential: AuthCredential) async throws(AuthError) -> AuthUser {
        let operation = ClientOperation.personal("sign in", "Signing in", isRepeatable: credential.isReusable)
        return try await route.call(operation) { auth throws(AuthError) in try await auth.signIn(with: credential) }
    }
    @discardableResult
    public func answer(
        _ challenge: SecondFactorChallenge, with answer: SecondFactorAnswer
    ) async throws(AuthError) -> AuthUser {
        try await route.call(.personal("answer challenge", "Answering the second factor")) { auth throws(AuthError) in
            try await auth.answer(challenge, with: answer)
        }
    }
    public func beginBrowserSignIn(
        with provider: IdentityProvider, redirectURL: URL, scopes: [String]
    ) async throws(AuthError) -> BrowserSignIn {
        try await route.call(
            .repeatable("begin browser sign-in", "Beginning to sign in with", provider.rawValue)
        ) { auth throws(AuthError) in
            try await auth.beginBrowserSignIn(with: provider, redirectURL: redirectURL, scopes: scopes)
        }
    }
    public func sendPhoneCode(to phoneNumber: String) async throws(AuthError) -> PhoneVerification {
        try await route.call(.personal("send phone code", "Sending a code to a phone")) { auth throws(AuthError) in
            try await auth.sendPhoneCode(to: phoneNumber)
        }
    }
    public func sendEmailLink(to email: String, redirectURL: URL) async throws(AuthError) {
        try await route.call(.personal("send email link", "Sending a sign-in link")) { auth throws(AuthError) in
            try await auth.sendEmailLink(to: email, redirectURL: redirectURL)
        }
    }
    public func sendPasswordReset(to email: String) async throws(AuthError) {
        try await route.call(.personal("send password reset", "Sending a password reset")) { auth throws(AuthError) in
            try await auth.sendPasswordReset(to: email)
        }
    }
    public func resetPassword(code: Secret, newPassword: Secret) async throws(AuthError) {
        try await route.call(.personal("reset password", "Resetting the password")) { auth throws(AuthError) in
            try await auth.resetPassword(code: code, newPassword: newPassword)
        }
    }
    @discardableResult
    public func link(_ credential: AuthCredential) async throws(AuthError) -> AuthUser {
        try await route.call(.personal("link", "Linking a sign-in method")) { auth throws(AuthError) in
            try await auth.link(credential)
        }
    }
    @discardableResult
    public func unlink(_ provider: IdentityProvider) async throws(AuthError) -> AuthUser {
        try await route.call(ClientOperation("unlink", "Unlinking", provider.rawValue)) {
            auth throws(AuthError) in try await auth.unlink(provider)
        }
    }
    /// Not repeated, because it concerns the current session, which may have changed by then.
    public func reauthenticate(with credential: AuthCredential) async throws(AuthError) {
        try await route.call(.personal("reauthenticate", "Signing in again")) { auth throws(AuthError) in
            try await auth.reauthenticate(with: credential)
        }
    }
    public func beginSecondFactor(_ kind: SecondFactor.Kind) async throws(AuthError) -> SecondFactorEnrollment {
        try await route.call(.personal("begin second factor", "Adding a second factor")) { auth throws(AuthError) in
            try await auth.beginSecondFactor(kind)
        }
    }
    @discardableResult
    public func confirmSecondFactor(
        _ enrollment: SecondFactorEnrollment, code: Secret, displayName: String?
    ) async throws(AuthError) -> AuthUser {
        try await route.call(.personal("confirm second factor", "Confirming a second factor")) {
            auth throws(AuthError) in
            try await auth.confirmSecondFactor(enrollment, code: code, displayName: displayName)
        }
    }
    @discardableResult
    public func removeSecondFactor(_ id: SecondFactor.ID) async throws(AuthError) -> AuthUser {
        try await route.call(.personal("remove second factor", "Removing a second factor")) { auth throws(AuthError) in
            try await auth.removeSecondFactor(id)
        }
    }
    @discardableResult
    public func updateAccount(_ changes: AccountChanges) async throws(AuthError) -> AuthUser {
        try await route.call(.personal("update account", "Changing the account")) { auth throws(AuthError) in
            try await auth.updateAccount(changes)
        }
    }
    @discardableResult
    public func reloadUser() async throws(AuthError) -> AuthUser {
        try await bound(.personal("reload user", "Reloading the account"), to: \.id) { auth throws(AuthError) in
            try await auth.reloadUser()
        }
    }
    public func deleteAccount() async throws(AuthError) {
        try await route.call(.personal("delete account", "Deleting the account")) { auth throws(AuthError) in
            try await auth.deleteAccount()
        }
    }
    public func signOut(_ scope: SignOutScope, wipesLocalData: Bool) async throws(AuthError) {
        try await route.call(.personal("sign out", "Signing out")) { auth throws(AuthError) in
            try await auth.signOut(scope, wipesLocalData: wipesLocalData)
        }
    }
    public func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        try await bound("access token", to: \.userID) { auth throws(AuthError) in
            try await auth.accessToken(refreshing: refreshing)
        }
    }

    public func shutDown() async { await route.client?.shutDown() }
    public func unwrapped<Client>(as type: Client.Type) -> Client? {
        self as? Client ?? route.client?.unwrapped(as: type)
    }
}

extension Routed: AuthClient, RoutedAuthClient where Client == any AuthClient {}

extension RoutedAuthClient {
    /// A call that is repeated only while the session is unchanged, and whose answer is never for another session.
    fileprivate func bound<Result>(
        _ operation: ClientOperation, to user: (Result) -> AuthUser.ID,
        _ body: (any AuthClient) async throws(AuthError) -> Result
    ) async throws(AuthError) -> Result {
        try await route.leased(operation) { connection throws(AuthError) in
            guard connection.policy?.retry != nil, let owner = await connection.client.state.user?.id else {
                return try await connection.run(operation, body)
            }
            return try await connection.run(operation.repeatable(true)) { auth throws(AuthError) in
                let result = try await body(auth)
                guard user(result) == owner else {
                    throw AuthError(.sessionChanged, "The session changed while the call was running.")
                }
                return result
            }
        }
    }
}

/// An auth client around another. Calls that it does not implement itself go to its ``base``, streams included.
public protocol AuthClientWrapper: RoutedAuthClient {
    /// The wrapped client, to which calls are forwarded. It should stay the same for as long as the wrapper lives.
    var base: any AuthClient { get }
}

extension AuthClientWrapper {
    public var route: Route<any AuthClient> { Route(to: base) }
}

extension ClientOperation {
    /// An operation that concerns a user, whom no error message names.
    ///
    /// - Parameters:
    ///   - name: The operation's name, such as `sign in`.
    ///   - doing: Its name in error messages, such as `Signing in`.
    ///   - isRepeatable: Whether a repetition after a failure is harmless.
    static func personal(_ name: String, _ doing: String, isRepeatable: Bool = false) -> ClientOperation {
        ClientOperation(name, doing, isRepeatable: isRepeatable)
    }
}

extension AuthCredential {
    /// Whether it can be used twice. Codes and links cannot, and each anonymous sign-in creates an account.
    fileprivate var isReusable: Bool {
        switch kind {
        case .password, .customToken, .identityToken: true
        case .anonymous, .browser, .phoneCode, .emailLink: false
        }
    }
}
