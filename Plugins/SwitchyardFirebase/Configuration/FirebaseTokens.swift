import Switchyard
import SwitchyardProviderHTTP
import Synchronization

/// Tokens for requests: the signed-in user's, and the app's.
struct FirebaseTokens: Sendable {
    /// The auth client whose tokens are sent; `nil` if there is none, or if it is another provider's, whose tokens must not be
    /// sent to Firebase. It may change with every switch.
    var auth: (any AuthClient)? { people?.provider == .firebase ? people : nil }
    let appCheck: FirebaseAppCheck?
    /// The project's credential, used while no user is signed in; `nil` to send such requests unauthenticated.
    let credential: ProjectTokens?
    /// The project whose tokens are accepted; `nil` for any project.
    let project: String?
    /// Knows the user of this device, whichever provider signed them in.
    private let people: (any AuthClient)?
    /// The only user whose tokens are used; `nil` for the current user of each call.
    private(set) var owner: CallOwner?
    private let fitting = CheckedToken()

    /// The tokens for one request.
    struct RequestCredentials: Sendable {
        /// `nil` when no user is signed in.
        var user: AccessToken?
        /// The project's own, instead of a user's.
        var project: Secret?
        var app: Secret?
    }

    enum Failure: Error {
        /// The address is plain HTTP to another machine.
        case unsafeAddress
        case auth(AuthError)
        case appCheck(any Error)
        /// The token belongs to another project, and so does the API key used to sign in.
        case otherProject(String, expected: String)
        /// Another user has signed in since the call, or the series of calls, began.
        case otherUser

        /// The error for a call that needed tokens, with the same text for all services. It is never a refusal, so that queued
        /// writes are not dropped.
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
                    "The session belongs to the project “\(project)”, but the call is for “\(expected)”. The API key belongs to the "
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

    /// The current user of this device; `nil` if no user is signed in.
    func userID() async throws(Failure) -> AuthUser.ID? {
        guard let people else { return nil }
        do throws(AuthError) { return try await people.currentUserID() } catch { throw .auth(error) }
    }

    /// These tokens for a series of calls of the current user. Calls fail once another user signs in.
    func bound() async throws(Failure) -> FirebaseTokens { bound(to: CallOwner(try await userID())) }

    func bound(to owner: CallOwner) -> FirebaseTokens {
        var tokens = self
        tokens.owner = owner
        return tokens
    }

    /// The same for services that accept users only, not the project itself.
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
    var unauthenticatedHint: String? {
        if credential != nil {
            return "The call was made with the project's credential. Does its account have the required role?"
        }
        guard auth == nil, let people else { return "No user was signed in." }
        return "Firebase's rules do not know sessions of “\(people.provider)”, so no user was signed in."
    }

    /// Whether requesting new tokens could help.
    var canRefresh: Bool { auth != nil || appCheck != nil || credential != nil }

    /// - Parameters:
    ///   - refused: The credentials that the server refused. New tokens are requested, which must belong to the same user.
    ///   - isRefused: The same if the refused credentials are no longer known.
    func credentials(
        for endpoint: FirebaseEndpoint, replacing refused: RequestCredentials? = nil, isRefused: Bool = false
    ) async throws(Failure) -> RequestCredentials {
        let isRefused = isRefused || refused != nil
        var credentials = RequestCredentials()
        if let auth {
            do throws(AuthError) {
                credentials.user = try await auth.usableToken(refreshing: isRefused)
            } catch {
                // Without a user, the request is unauthenticated, and the rules decide.
                guard error.code == .notSignedIn else { throw .auth(error) }
            }
            // The client may have been switched meanwhile, so the token may be another user's.
            guard self.auth != nil else { throw .otherUser }
        }
        if let owner = owner ?? refused.map({ CallOwner($0.user?.userID) }), auth != nil,
            owner != CallOwner(credentials.user?.userID)
        {
            throw .otherUser
        }
        if !endpoint.isEmulator, let project, let user = credentials.user, !fitting.is(user.value) {
            if let found = FirebaseIDToken(user.value.reveal())?.project, found != project {
                throw .otherProject(found, expected: project)
            }
            fitting.remember(user.value)
        }
        // A request for a signed-in user, of any provider, is never made in the project's name.
        if let credential, credentials.user == nil, try await userID() == nil {
            do throws(AuthError) {
                credentials.project = try await credential.token(for: endpoint, replacing: refused?.project)
            } catch {
                throw .auth(error)
            }
        }
        if let appCheck {
            do {
                credentials.app = try await appCheck.token(isRefused)
            } catch {
                throw .appCheck(error)
            }
        }
        guard endpoint.mayCarryTokens || (credentials.user == nil && credentials.app == nil) else {
            throw .unsafeAddress
        }
        return credentials
    }
}

/// The last token that was found to belong to the project, so that each token is checked only once.
private final class CheckedToken: Sendable {
    private let token = Mutex<Secret?>(nil)

    func `is`(_ other: Secret) -> Bool { token.withLock { $0 == other } }
    func remember(_ fitting: Secret) { token.withLock { $0 = fitting } }
}
