import SwitchyardBytes

/// What is known about the session: unknown, locked, signed out, expired or signed in.
public enum AuthState: Sendable, Hashable {
    /// The stored session is still being read. Show neither a sign-in form nor the user's data.
    case unknown
    /// There may be a session, but this device cannot read it now: it is protected until the first unlock, or another process
    /// holds it.
    case locked
    case signedOut(SignOut)
    /// There is a user, but the server no longer accepts the session. The user must sign in again.
    case expired(AuthUser)
    case signedIn(AuthUser)

    /// The user whose data this device shows: the one who is signed in, or whose session expired.
    public var user: AuthUser? {
        switch self {
        case .signedIn(let user), .expired(let user): user
        case .unknown, .locked, .signedOut: nil
        }
    }

    public var isSignedIn: Bool { if case .signedIn = self { true } else { false } }
}

/// Why no user is signed in.
public struct SignOut: Sendable, Hashable {
    public enum Reason: String, Sendable, Hashable {
        /// No user has signed in on this device yet.
        case never
        case byUser
        case accountDeleted
        /// The server reported that the account is disabled, or was deleted elsewhere. A session that it has ended for another
        /// reason is ``AuthState/expired(_:)``.
        case byServer
    }

    public let reason: Reason
    /// Whether other clients should also delete what they keep on this device for the user.
    public let wipesLocalData: Bool

    public init(_ reason: Reason, wipesLocalData: Bool = false) {
        self.reason = reason
        self.wipesLocalData = wipesLocalData
    }
}

/// A user's request to delete their data from this device: a sign-out with `wipesLocalData`, or a deleted account.
public struct WipeRequest: Sendable, Hashable, Identifiable {
    /// Different for each request.
    public let id: String
    /// The user who signed out; `nil` if that is unknown.
    public let userID: AuthUser.ID?

    public init(id: String, userID: AuthUser.ID?) {
        self.id = id
        self.userID = userID
    }
}

extension AuthState {
    var wipesLocalData: Bool { if case .signedOut(let signOut) = self { signOut.wipesLocalData } else { false } }

    /// Adds the request that the transition from this state to `next` implies, if any.
    package func recordWipeRequest(to next: AuthState, in requests: inout [WipeRequest]) {
        guard next != self, next.wipesLocalData else { return }
        requests.append(WipeRequest(id: RandomID.make(), userID: user?.id))
        // A client that missed this many has seen most of them through the state.
        if requests.count > 100 { requests.removeFirst() }
    }
}

/// A token that proves the session to other services.
public struct AccessToken: Sendable, Hashable {
    public let value: Secret
    public let expiresAt: Timestamp
    /// The user of the token. A token never outlives the session it was issued for.
    public let userID: AuthUser.ID

    public init(value: Secret, expiresAt: Timestamp, userID: AuthUser.ID) {
        self.value = value
        self.expiresAt = expiresAt
        self.userID = userID
    }
}
