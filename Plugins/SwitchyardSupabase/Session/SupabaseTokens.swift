import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire

/// The tokens of requests to a project: those of the signed-in user, of any provider, or none.
struct SupabaseTokens: Sendable {
    /// The present token, `nil` when nobody is signed in; with `isRefused` a new one.
    typealias Source = @Sendable (_ isRefused: Bool) async throws(AuthError) -> AccessToken?

    /// Who is signed in, `nil` for nobody; waits for no network if it can.
    typealias Person = @Sendable () async throws(AuthError) -> AuthUser.ID?

    /// The project's public key.
    let key: Secret
    /// What stands for nobody on a server.
    let serviceKey: Secret?
    /// Says when somebody else is signed in; `nil` when nobody ever is.
    let states: SnapshotStream<AuthState, Never>?
    /// The only user whose tokens are handed out; `nil` for the user who is signed in at that moment.
    private(set) var owner: CallOwner?
    private let presentIssuer: @Sendable () -> InfrastructureProvider?
    private let source: Source
    private let person: Person?

    /// What goes along with one request.
    struct Proof: Sendable {
        let key: Secret
        /// `nil` when nobody is signed in.
        let user: AccessToken?

        /// Keys of the present form are no tokens: without a session they travel alone.
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
        /// Somebody else has signed in since the call, or the series of calls, began.
        case otherUser

        /// Whether the same call may succeed later.
        var isTemporary: Bool {
            guard case .auth(let error) = self else { return false }
            // A device that is locked, for one, does not let its session be read, and will.
            return error.isRetryable
                || [.unavailable, .deadlineExceeded, .rateLimited, .sessionChanged].contains(error.code)
        }
        var problem: SupabaseTokenProblem? { if case .problem(let problem, _) = self { problem } else { nil } }
        var code: ErrorCode? { if case .auth(let error) = self { error.code } else { nil } }
        /// What it means for a call that was to carry tokens, in the words that the errors of all services share.
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
        presentIssuer = issuer
        self.states = states
        self.source = source
        self.person = person
    }

    init(key: Secret, serviceKey: Secret? = nil, auth: (any AuthClient)?) {
        self.init(
            key: key, serviceKey: serviceKey, issuer: auth?.provider, states: auth?.authStateStream(),
            person: { () async throws(AuthError) in
                guard let auth else { return nil }
                return try await auth.presentUserID()
            }
        ) { isRefused throws(AuthError) in
            guard let auth else { return nil }
            do throws(AuthError) {
                return try await auth.accessToken(refreshing: isRefused)
            } catch {
                // Whoever is not signed in asks in nobody's name; policies decide about that.
                guard error.code == .notSignedIn else { throw error }
                return nil
            }
        }
    }

    /// Who makes the tokens at present; `nil` when there never is one.
    var issuer: InfrastructureProvider? { presentIssuer() }

    /// Whether asking for a new token could help.
    var canRefresh: Bool { issuer != nil }

    /// These tokens for a series of calls of the user who is signed in now. It ends once another user is.
    func bound() async throws(Failure) -> SupabaseTokens { bound(to: CallOwner(try await userID())) }

    func bound(to owner: CallOwner) -> SupabaseTokens {
        var tokens = self
        tokens.owner = owner
        return tokens
    }

    /// - Parameters:
    ///   - refused: What the server did not take. New tokens are asked for, and only those of the same person will do.
    ///   - isRefused: The same where it is no longer known what was sent.
    func proof(replacing refused: Proof? = nil, isRefused: Bool = false) async throws(Failure) -> Proof {
        let proof = try await presentProof(isRefused || refused != nil)
        if let owner = owner ?? refused.map({ CallOwner($0.user?.userID) }), issuer != nil,
            owner != CallOwner(proof.user?.userID)
        {
            throw .otherUser
        }
        return proof
    }

    /// For calls that carry no token and still belong to a user.
    func checkOwner() async throws(Failure) {
        guard let owner else { return }
        guard CallOwner(try await userID()) == owner else { throw .otherUser }
    }

    private func presentProof(_ isRefused: Bool) async throws(Failure) -> Proof {
        guard let token = try await token(isRefused) else { return Proof(key: serviceKey ?? key, user: nil) }
        if let issuer, issuer != .supabase, let problem = SupabaseTokenProblem(token.value) {
            // What a token says is fixed when it is made: the issuer may have been told meanwhile to say more.
            guard !isRefused, let next = try await renewed(lacking: problem, of: issuer) else {
                throw .problem(problem, issuer: issuer)
            }
            if let problem = SupabaseTokenProblem(next.value) { throw .problem(problem, issuer: issuer) }
            return Proof(key: key, user: next)
        }
        return Proof(key: key, user: token)
    }

    /// Whoever cannot get another token, as a caller of a server, is told what this one lacks.
    private func renewed(
        lacking problem: SupabaseTokenProblem, of issuer: InfrastructureProvider
    ) async throws(Failure) -> AccessToken? {
        do throws(Failure) { return try await token(true) } catch {
            throw error.code == .sessionExpired ? .problem(problem, issuer: issuer) : error
        }
    }

    /// Who uses this device now; `nil` when nobody is signed in.
    func userID() async throws(Failure) -> AuthUser.ID? {
        guard let person else { return try await token(false)?.userID }
        do throws(AuthError) { return try await person() } catch { throw .auth(error) }
    }

    private func token(_ isRefused: Bool) async throws(Failure) -> AccessToken? {
        do throws(AuthError) { return try await source(isRefused) } catch { throw .auth(error) }
    }
}
