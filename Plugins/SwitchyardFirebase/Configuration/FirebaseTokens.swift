import Switchyard

/// Tokens for requests: the signed-in user's, and the app's.
struct FirebaseTokens: Sendable {
    /// `nil` when nobody's token can be sent: no auth was chosen, or another provider's, whose tokens mean nothing here.
    let auth: (any AuthClient)?
    let appCheck: FirebaseAppCheck?
    /// Says who uses this device, whoever signed them in.
    private let people: (any AuthClient)?

    /// What goes along with one request.
    struct Proof: Sendable {
        /// `nil` when nobody is signed in.
        var user: AccessToken?
        var app: Secret?
    }

    enum Failure: Error {
        /// The address is plain HTTP to another machine.
        case unsafeAddress
        case auth(AuthError)
        case appCheck(any Error)

        /// What it means for a call that was to carry tokens, in the words that the errors of all services share. Never a
        /// refusal of what was asked for, so that nothing that waits in a queue is given up.
        var meaning: (code: String, message: String, isRetryable: Bool, underlying: (any Error)?) {
            switch self {
            case .unsafeAddress:
                (
                    "unauthenticated", "The address is plain HTTP to another machine; tokens are not sent there.",
                    false,
                    nil
                )
            case .auth(let error):
                switch error.code {
                case .cancelled: ("cancelled", error.message, false, error)
                case .shutDown: ("shutDown", error.message, false, error)
                case .unavailable, .deadlineExceeded, .rateLimited, .sessionChanged:
                    ("unavailable", "There is no token: \(error.message)", true, error)
                default: ("unauthenticated", "There is no token: \(error.message)", false, error)
                }
            case .appCheck(let error): ("unauthenticated", "The source of App Check tokens failed.", true, error)
            }
        }
    }

    init(auth: (any AuthClient)?, appCheck: FirebaseAppCheck?) {
        self.auth = auth.flatMap { $0.provider == .firebase ? $0 : nil }
        self.appCheck = appCheck
        people = auth
    }

    /// Who uses this device now; `nil` when nobody is signed in.
    func userID() async throws(Failure) -> AuthUser.ID? {
        guard let people else { return nil }
        do throws(AuthError) { return try await people.presentUserID() } catch { throw .auth(error) }
    }

    /// Whether asking for new tokens could help.
    var canRefresh: Bool { auth != nil || appCheck != nil }

    /// - Parameter isRefused: Whether the server did not take the last ones.
    func proof(for endpoint: FirebaseEndpoint, isRefused: Bool = false) async throws(Failure) -> Proof {
        var proof = Proof()
        if let auth {
            do throws(AuthError) {
                proof.user = try await auth.accessToken(refreshing: isRefused)
            } catch {
                // Whoever is not signed in asks in nobody's name; rules decide about that.
                guard error.code == .notSignedIn else { throw .auth(error) }
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
