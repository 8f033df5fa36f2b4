import Switchyard
import SwitchyardProviderHTTP
import Synchronization

/// Tokens for requests: the signed-in user's, and the app's.
struct FirebaseTokens: Sendable {
    /// `nil` while no token can be sent: no auth was chosen, or another provider's, whose tokens mean nothing here and
    /// are nothing that Firebase is to get. Which it is may change with every switch.
    var auth: (any AuthClient)? { people?.provider == .firebase ? people : nil }
    let appCheck: FirebaseAppCheck?
    /// What proves the project, in whose name is asked while nobody is signed in; `nil` where rules decide about nobody.
    let credential: ProjectTokens?
    /// Whose tokens are good; `nil` for any project's.
    let project: String?
    /// Says who uses this device, whoever signed them in.
    private let people: (any AuthClient)?
    /// The only user whose tokens are handed out; `nil` for the user who is signed in at that moment.
    private(set) var owner: CallOwner?
    private let fitting = FittingToken()

    /// What goes along with one request.
    struct Proof: Sendable {
        /// `nil` when nobody is signed in.
        var user: AccessToken?
        /// The project's own, in place of a user's.
        var project: Secret?
        var app: Secret?
    }

    enum Failure: Error {
        /// The address is plain HTTP to another machine.
        case unsafeAddress
        case auth(AuthError)
        case appCheck(any Error)
        /// The token is of another project: the API key is, with which people sign in.
        case otherProject(String, expected: String)
        /// Somebody else has signed in since the call, or the series of calls, began.
        case otherUser

        /// What it means for a call that was to carry tokens, in the words that the errors of all services share. Never a
        /// refusal of what was asked for, so that nothing that waits in a queue is given up.
        var meaning: ErrorDetails {
            switch self {
            case .unsafeAddress:
                ErrorDetails(.unauthenticated, PlainHTTP.refusal(of: "token"), isRetryable: false)
            case .auth(let error):
                switch error.code {
                case .cancelled, .shutDown:
                    ErrorDetails(error.code, error.message, isRetryable: false, underlying: error)
                case .overloaded:
                    ErrorDetails(error.code, error.message, isRetryable: true, underlying: error)
                case .unavailable, .deadlineExceeded, .rateLimited, .sessionChanged:
                    ErrorDetails(
                        .unavailable, "No token is available: \(error.message)", isRetryable: true, underlying: error)
                default:
                    ErrorDetails(
                        .unauthenticated, "No token is available: \(error.message)", isRetryable: false,
                        underlying: error)
                }
            case .appCheck(let error):
                ErrorDetails(
                    .unauthenticated, "The source of App Check tokens failed.", isRetryable: true, underlying: error)
            case .otherProject(let project, let expected):
                ErrorDetails(
                    .unauthenticated,
                    "The session is of the project “\(project)”, and “\(expected)” is asked. The API key belongs to the "
                        + "former: copy apiKey and project from one project's settings, then sign in again.",
                    isRetryable: false)
            case .otherUser:
                ErrorDetails(
                    .sessionChanged,
                    "The call was stopped because the user who began it is no longer signed in. Begin it again.",
                    isRetryable: false)
            }
        }
    }

    init(
        auth: (any AuthClient)?, appCheck: FirebaseAppCheck?, project: String? = nil, credential: ProjectTokens? = nil
    ) {
        self.project = project
        self.credential = credential
        self.appCheck = appCheck
        people = auth
    }

    /// Who uses this device now; `nil` when nobody is signed in.
    func userID() async throws(Failure) -> AuthUser.ID? {
        guard let people else { return nil }
        do throws(AuthError) { return try await people.presentUserID() } catch { throw .auth(error) }
    }

    /// These tokens for a series of calls of the user who is signed in now. It ends once another user is.
    func bound() async throws(Failure) -> FirebaseTokens { bound(to: CallOwner(try await userID())) }

    func bound(to owner: CallOwner) -> FirebaseTokens {
        var tokens = self
        tokens.owner = owner
        return tokens
    }

    /// The same for services that know people only, not the project itself.
    var ofPeople: FirebaseTokens {
        var tokens = FirebaseTokens(auth: people, appCheck: appCheck, project: project)
        tokens.owner = owner
        return tokens
    }

    /// For calls that carry no token and still belong to a user.
    func checkOwner() async throws(Failure) {
        guard let owner else { return }
        guard CallOwner(try await userID()) == owner else { throw .otherUser }
    }

    /// Why a request that the rules refuse was unauthenticated.
    var remarkOnNobody: String? {
        if credential != nil { return "The project's credential was sent: does its account have the role for this?" }
        guard auth == nil, let people else { return "Nobody was signed in." }
        return "Sessions of “\(people.provider)” mean nothing to Firebase's rules, so nobody was signed in."
    }

    /// Whether asking for new tokens could help.
    var canRefresh: Bool { auth != nil || appCheck != nil || credential != nil }

    /// - Parameters:
    ///   - refused: What the server did not take. New tokens are asked for, and only those of the same person will do.
    ///   - isRefused: The same where it is no longer known what was sent.
    func proof(
        for endpoint: FirebaseEndpoint, replacing refused: Proof? = nil, isRefused: Bool = false
    ) async throws(Failure) -> Proof {
        let isRefused = isRefused || refused != nil
        var proof = Proof()
        if let auth {
            do throws(AuthError) {
                proof.user = try await auth.accessToken(refreshing: isRefused)
            } catch {
                // Whoever is not signed in asks in nobody's name; rules decide about that.
                guard error.code == .notSignedIn else { throw .auth(error) }
            }
            // Whoever was asked may have left in the meantime, and the token be somebody else's.
            guard self.auth != nil else { throw .otherUser }
        }
        if let owner = owner ?? refused.map({ CallOwner($0.user?.userID) }), auth != nil,
            owner != CallOwner(proof.user?.userID)
        {
            throw .otherUser
        }
        if !endpoint.isEmulator, let project, let user = proof.user, !fitting.is(user.value) {
            if let found = FirebaseIDToken(user.value.reveal())?.project, found != project {
                throw .otherProject(found, expected: project)
            }
            fitting.remember(user.value)
        }
        // Whoever is signed in, be it elsewhere, never asks in the project's name.
        if let credential, proof.user == nil, try await userID() == nil {
            do throws(AuthError) {
                proof.project = try await credential.token(for: endpoint, replacing: refused?.project)
            } catch {
                throw .auth(error)
            }
        }
        if let appCheck {
            do {
                proof.app = try await appCheck.token(isRefused)
            } catch {
                throw .appCheck(error)
            }
        }
        guard endpoint.mayCarryTokens || (proof.user == nil && proof.app == nil) else { throw .unsafeAddress }
        return proof
    }
}

/// The token last found to be of the right project, so that each is looked at once.
private final class FittingToken: Sendable {
    private let token = Mutex<Secret?>(nil)

    func `is`(_ other: Secret) -> Bool { token.withLock { $0 == other } }
    func remember(_ fitting: Secret) { token.withLock { $0 = fitting } }
}
