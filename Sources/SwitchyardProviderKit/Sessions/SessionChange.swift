package import Switchyard

/// A change of the stored session, and its conditions.
///
/// Stores apply it in an atomic read and write across processes. This makes it safe if a slow answer arrives after a
/// sign-out, or after another process was faster.
package struct SessionChange: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// A sign-in replaces whatever is stored.
        case begin(AuthSession)
        /// New tokens, made from those of `revision`, and the user if the server returned it.
        case renew(SessionTokens, AuthUser?, revision: Int)
        /// The server refused the refresh token of `revision`.
        case expire(revision: Int)
        /// The account's current state on the server. Included tokens replace all earlier ones, also those of `revision`.
        case update(AuthUser, SessionTokens?, revision: Int)
        case signOut(SignOut)
    }

    package let kind: Kind
    /// The session it is bound to; `nil` only for a sign-in, and for a sign-out while no user is signed in.
    package let sessionID: String?

    package init(_ kind: Kind, in sessionID: String?) {
        self.kind = kind
        self.sessionID = sessionID
    }

    /// Whether the user requested it, so that it applies whatever is stored; other changes come from the server and concern
    /// one session.
    package var isPersonal: Bool {
        switch kind {
        case .begin: true
        case .signOut(let end): end.reason != .byServer
        case .renew, .expire, .update: false
        }
    }

    /// Whether it ends a session, so that the device must not keep it.
    package var endsSession: Bool { if case .signOut = kind { true } else { false } }

    /// The replacement for `record`; `nil` if another change came first.
    package func applied(to record: SessionRecord) -> SessionRecord? {
        if case .begin(let session) = kind { return .session(session) }
        guard var session = record.session else {
            // A user's request applies even if no user is signed in any more; a server's answer about a session does not.
            if isPersonal, case .signOut(let end) = kind { return .signedOut(end) }
            return nil
        }
        guard session.id == sessionID else { return nil }
        switch kind {
        case .begin: return nil
        case .renew(let tokens, let user, let revision):
            guard session.revision <= revision, session.tokens != nil else { return nil }
            session.tokens = tokens
            session.revision = revision + 1
            if let user { session.user = user }
        case .expire(let revision):
            guard session.revision <= revision else { return nil }
            session.tokens = nil
        case .update(let user, let tokens, let revision):
            session.user = user
            if let tokens {
                session.tokens = tokens
                session.revision = max(session.revision, revision) + 1
            }
        case .signOut(let end): return .signedOut(end)
        }
        return .session(session)
    }
}

/// The outcome of a change.
package enum SessionChangeResult: Sendable, Hashable {
    /// It was applied; this is the new record.
    case kept(SessionRecord)
    /// Another change came first; this is the current record.
    case overtaken(SessionRecord)

    package var record: SessionRecord {
        switch self {
        case .kept(let record), .overtaken(let record): record
        }
    }
}
