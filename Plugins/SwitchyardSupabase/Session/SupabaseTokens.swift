import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire

/// The tokens for requests to a project: those of the signed-in user, of any provider, or none.
struct SupabaseTokens: Sendable {
    /// Returns the current token, or `nil` if no user is signed in; with `isRefused`, a new one.
    typealias Source = @Sendable (_ isRefused: Bool) async throws(AuthError) -> AccessToken?

    /// Returns the signed-in user, if any, without waiting for the network if possible.
    typealias Person = @Sendable () async throws(AuthError) -> AuthUser.ID?

    /// The project's public key.
    let key: Secret
    /// Used on servers while no user is signed in.
    let serviceKey: Secret?
    /// Reports sign-ins; `nil` if there is no auth client.
    let states: SnapshotStream<AuthState, Never>?
    /// The only user whose tokens are used; `nil` for the current user of each call.
    private(set) var owner: CallOwner?
    private let currentIssuer: @Sendable () -> InfrastructureProvider?
    private let source: Source
    private let person: Person?
    private let earlier = EarlierToken()

    /// The tokens for one request.
    struct RequestCredentials: Sendable {
        let key: Secret
        /// `nil` when no user is signed in.
        let user: AccessToken?

        /// Current keys are not tokens: without a session they are sent alone.
        var bearer: Secret? { user?.value ?? (key.reveal().hasPrefix("sb_") ? nil : key) }

        func sign(_ headers: inout HTTPHeaders) {
            headers.nameClient()
            headers["apikey"] = key.reveal()
            headers["Authorization"] = bearer.map { "Bearer \($0.reveal())" }
        }
    }

    enum Failure: Error {
        case auth(AuthError)
        case problem(SupabaseTokenProblem, issuer: InfrastructureProvider)
        /// Another user has signed in since the call, or the series of calls, began.
        case otherUser

        /// Whether the same call may succeed later.
        var isTemporary: Bool {
            guard case .auth(let error) = self else { return false }
            // For example, a locked device refuses to read its session, but only until it is unlocked.
            return error.isRetryable
                || [.unavailable, .deadlineExceeded, .rateLimited, .sessionChanged].contains(error.code)
        }
        var problem: SupabaseTokenProblem? { if case .problem(let problem, _) = self { problem } else { nil } }
        var code: ErrorCode? { if case .auth(let error) = self { error.code } else { nil } }
        /// The error for a call that needed tokens, with the same text for all services.
        var meaning: ErrorDetails {
            let meaning: ErrorCode =
                switch code {
                case .cancelled?: .cancelled
                case .overloaded?: .overloaded
                case .shutDown?: .shutDown
                default: isOtherUser ? .sessionChanged : isTemporary ? .unavailable : .unauthenticated
                }
            return ErrorDetails(meaning, message, isRetryable: isTemporary, underlying: cause)
        }
        var isOtherUser: Bool { if case .otherUser = self { true } else { false } }
        var message: String {
            switch self {
            case .auth(let error): "No token is available: \(error.message)"
            case .problem(let problem, let issuer): problem.message(issuer)
            case .otherUser:
                "The call was stopped because the user who began it is no longer signed in. Begin it again."
            }
        }
        var cause: any Error {
            switch self {
            case .auth(let error): error
            case .problem(let problem, _): problem
            case .otherUser: self
            }
        }
    }

    init(
        key: Secret, serviceKey: Secret? = nil, issuer: @autoclosure @escaping @Sendable () -> InfrastructureProvider?,
        states: SnapshotStream<AuthState, Never>? = nil, person: Person? = nil, source: @escaping Source
    ) {
        self.key = key
        self.serviceKey = serviceKey
        currentIssuer = issuer
        self.states = states
        self.source = source
        self.person = person
    }

    init(key: Secret, serviceKey: Secret? = nil, auth: (any AuthClient)?) {
        self.init(
            key: key, serviceKey: serviceKey, issuer: auth?.provider, states: auth?.authStateStream(),
            person: { () async throws(AuthError) in
                guard let auth else { return nil }
                return try await auth.currentUserID()
            }
        ) { isRefused throws(AuthError) in
            guard let auth else { return nil }
            do throws(AuthError) {
                return try await auth.usableToken(refreshing: isRefused)
            } catch {
                // Without a user, the request is unauthenticated, and the policies decide.
                guard error.code == .notSignedIn else { throw error }
                return nil
            }
        }
    }

    /// The current issuer of tokens; `nil` if there is none.
    var issuer: InfrastructureProvider? { currentIssuer() }

    /// Whether requesting a new token could help.
    var canRefresh: Bool { issuer != nil }

    /// These tokens for a series of calls of the current user. Calls fail once another user signs in.
    func bound() async throws(Failure) -> SupabaseTokens { bound(to: CallOwner(try await userID())) }

    func bound(to owner: CallOwner) -> SupabaseTokens {
        var tokens = self
        tokens.owner = owner
        return tokens
    }

    /// - Parameters:
    ///   - refused: The credentials that the server refused. A new token is requested, which must belong to the same user.
    ///   - isRefused: The same if the refused credentials are no longer known.
    ///   - last: The credentials of an earlier attempt at the same call, which must belong to the same user.
    func credentials(
        replacing refused: RequestCredentials? = nil, isRefused: Bool = false, after last: RequestCredentials? = nil
    ) async throws(Failure) -> RequestCredentials {
        let credentials = try await currentCredentials(isRefused || refused != nil)
        if let owner = owner ?? (refused ?? last).map({ CallOwner($0.user?.userID) }), issuer != nil,
            owner != CallOwner(credentials.user?.userID)
        {
            throw .otherUser
        }
        return RequestCredentials(key: credentials.key, user: credentials.user.map { earlier.token(for: $0) })
    }

    /// Takes back a token that the database considers to be from the future.
    ///
    /// - Returns: Whether the user's previous token is valid for a while yet, so that the next credentials contain that one.
    func isSpared(_ premature: AccessToken, at now: Timestamp) -> Bool { earlier.stands(in: premature, at: now) }

    /// For calls that carry no token and still belong to a user.
    func checkOwner() async throws(Failure) {
        guard let owner else { return }
        guard CallOwner(try await userID()) == owner else { throw .otherUser }
    }

    private func currentCredentials(_ isRefused: Bool) async throws(Failure) -> RequestCredentials {
        guard let token = try await token(isRefused) else {
            return RequestCredentials(key: serviceKey ?? key, user: nil)
        }
        if let issuer, issuer != .supabase, let problem = SupabaseTokenProblem(token.value) {
            // A token's claims are fixed when it is issued; the issuer may have been configured since to add more.
            guard !isRefused, let next = try await renewed(after: problem, of: issuer) else {
                throw .problem(problem, issuer: issuer)
            }
            if let problem = SupabaseTokenProblem(next.value) { throw .problem(problem, issuer: issuer) }
            return RequestCredentials(key: key, user: next)
        }
        return RequestCredentials(key: key, user: token)
    }

    /// Requests a new token. A caller of a server cannot get one, and gets the problem as an error.
    private func renewed(
        after problem: SupabaseTokenProblem, of issuer: InfrastructureProvider
    ) async throws(Failure) -> AccessToken? {
        do throws(Failure) { return try await token(true) } catch {
            throw error.code == .sessionExpired ? .problem(problem, issuer: issuer) : error
        }
    }

    /// The current user of this device; `nil` if no user is signed in.
    func userID() async throws(Failure) -> AuthUser.ID? {
        guard let person else { return try await token(false)?.userID }
        do throws(AuthError) { return try await person() } catch { throw .auth(error) }
    }

    private func token(_ isRefused: Bool) async throws(Failure) -> AccessToken? {
        do throws(AuthError) { return try await source(isRefused) } catch { throw .auth(error) }
    }
}
