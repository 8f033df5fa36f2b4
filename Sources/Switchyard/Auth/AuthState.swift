import SwitchyardBytes

/// What is known about the session: unknown, locked, signed out, expired or signed in.
public enum AuthState: Sendable, Hashable {
    /// The stored session is still being read. Show neither a sign-in form nor contents.
    case unknown
    /// There may be a session, but this device cannot read it now: it is protected until the first unlock, or another process
    /// holds it.
    case locked
    case signedOut(SignOut)
    /// There is a user, but the server no longer accepts the session. They must sign in again.
    case expired(AuthUser)
    case signedIn(AuthUser)

    /// The user whose data this device shows: the one signed in, or the one whose session ran out.
    public var user: AuthUser? {
        switch self {
        case .signedIn(let user), .expired(let user): user
        case .unknown, .locked, .signedOut: nil
        }
    }

    public var isSignedIn: Bool { if case .signedIn = self { true } else { false } }
}

/// Why nobody is signed in.
public struct SignOut: Sendable, Hashable {
    public enum Reason: String, Sendable, Hashable {
        /// Nobody has signed in on this device yet.
        case never
        case byUser
        case accountDeleted
        /// The server ended the session: disabled, deleted elsewhere, or signed out everywhere.
        case byServer
    }

    public let reason: Reason
    /// Whether what other clients keep on this device for the user is to go as well.
    public let wipesLocalData: Bool

    public init(_ reason: Reason, wipesLocalData: Bool = false) {
        self.reason = reason
        self.wipesLocalData = wipesLocalData
    }
}

/// Somebody's wish that what is kept of theirs on this device be deleted: a sign-out with that wish, or a deleted account.
public struct WipeRequest: Sendable, Hashable, Identifiable {
    /// Another one for each wish.
    public let id: String
    /// Who left; `nil` where that is not known.
    public let userID: AuthUser.ID?

    public init(id: String, userID: AuthUser.ID?) {
        self.id = id
        self.userID = userID
    }
}

extension AuthState {
    var wipesLocalData: Bool { if case .signedOut(let signOut) = self { signOut.wipesLocalData } else { false } }

    /// Adds the wish that lies in going over from this state to `next`, if one does.
    package func noteWish(to next: AuthState, in requests: inout [WipeRequest]) {
        guard next != self, next.wipesLocalData else { return }
        requests.append(WipeRequest(id: RandomID.make(), userID: user?.id))
        // Whoever has slept through so many has been told by the state of most.
        if requests.count > 100 { requests.removeFirst() }
    }
}

/// A token that proves the session to other services.
public struct AccessToken: Sendable, Hashable {
    public let value: Secret
    public let expiresAt: Timestamp
    /// Whose token it is: it never outlives the session that it was made for.
    public let userID: AuthUser.ID

    public init(value: Secret, expiresAt: Timestamp, userID: AuthUser.ID) {
        self.value = value
        self.expiresAt = expiresAt
        self.userID = userID
    }
}
