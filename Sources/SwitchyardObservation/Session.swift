public import Observation
public import Switchyard

/// The session for a screen: the signed-in user, and actions for buttons.
///
/// ```swift
/// @State private var session = Session(backend.auth)
///
/// switch session.state {
/// case .signedIn(let user): Home(user)
/// default: SignIn(session)
/// }
/// ```
@MainActor @Observable
public final class Session {
    private var known = AuthState.unknown
    /// Whether a sign-in, sign-up or sign-out is in progress.
    public private(set) var isWorking = false
    /// Why the last of them failed; `nil` again with the next one.
    public private(set) var error: AuthError?
    /// The address to which signing up has sent a link that signs in, if the project requires confirmation; `nil` again with
    /// the next attempt.
    public private(set) var confirmationSentTo: String?
    @ObservationIgnored public let auth: any AuthClient
    @ObservationIgnored private var following: Following?

    public init(_ auth: any AuthClient) { self.auth = auth }

    public var state: AuthState {
        if following == nil { follow() }
        return known
    }
    /// Also set for an expired session, so the app can greet the user and ask for the password.
    public var user: AuthUser? { state.user }
    public var isSignedIn: Bool { state.isSignedIn }
    /// The request for a second factor during a sign-in; answer it with ``answer(with:)``.
    public var challenge: SecondFactorChallenge? { error?.challenge }

    /// - Returns: Whether it succeeded; ``error`` says why not.
    @discardableResult
    public func signIn(email: String, password: Secret) async -> Bool {
        await work { auth throws(AuthError) in _ = try await auth.signIn(email: email, password: password) }
    }

    @discardableResult
    public func signIn(with credential: AuthCredential) async -> Bool {
        await work { auth throws(AuthError) in _ = try await auth.signIn(with: credential) }
    }

    /// - Returns: Whether it succeeded; then either the user is signed in, or ``confirmationSentTo`` has the address.
    @discardableResult
    public func signUp(email: String, password: Secret) async -> Bool {
        var address: String?
        let hasSucceeded = await work { auth throws(AuthError) in
            if case .confirmationSent(let sent) = try await auth.signUp(email: email, password: password) {
                address = sent
            }
        }
        confirmationSentTo = address
        return hasSucceeded
    }

    /// Sends the confirmation to ``confirmationSentTo`` again.
    @discardableResult
    public func resendConfirmation() async -> Bool {
        guard let address = confirmationSentTo else { return false }
        let hasSucceeded = await work { auth throws(AuthError) in try await auth.resendConfirmation(to: address) }
        confirmationSentTo = address
        return hasSucceeded
    }

    /// Completes a sign-in that required a second factor.
    @discardableResult
    public func answer(with answer: SecondFactorAnswer) async -> Bool {
        guard let challenge else { return false }
        return await work { auth throws(AuthError) in _ = try await auth.answer(challenge, with: answer) }
    }

    @discardableResult
    public func signOut(wipesLocalData: Bool = false) async -> Bool {
        await work { auth throws(AuthError) in try await auth.signOut(.local, wipesLocalData: wipesLocalData) }
    }

    private func work(_ body: (any AuthClient) async throws(AuthError) -> Void) async -> Bool {
        isWorking = true
        error = nil
        confirmationSentTo = nil
        defer { isWorking = false }
        do throws(AuthError) {
            try await body(auth)
        } catch {
            self.error = error
            return false
        }
        // The caller reads the state next.
        known = await auth.state
        return true
    }

    private func follow() {
        let states = auth.authStateStream()
        following = Following(
            Task { [weak self] in
                for await state in states {
                    guard !Task.isCancelled, let self else { return }
                    self.known = state
                }
            })
    }
}
