package import Switchyard

/// A change of what is kept, and the conditions under which it may happen.
///
/// Stores carry it out between a read and a write that no other process can come between; that alone makes it safe for a
/// slow answer to arrive after a sign-out, or after another process was quicker.
package struct SessionChange: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// A sign-in takes the place of whatever is there.
        case begin(AuthSession)
        /// New tokens, made from those of `revision`; the user too, where the server told about them.
        case renew(SessionTokens, AuthUser?, revision: Int)
        /// The server refused the refresh token of `revision`.
        case expire(revision: Int)
        /// The account as the server has it now. Tokens that come with it replace all earlier ones, those of `revision` too.
        case update(AuthUser, SessionTokens?, revision: Int)
        case signOut(SignOut)
    }

    package let kind: Kind
    /// The session it is bound to; only a sign-in, and a sign-out where nobody is signed in, are bound to none.
    package let sessionID: String?

    package init(_ kind: Kind, in sessionID: String?) {
        self.kind = kind
        self.sessionID = sessionID
    }

    /// Whether it is a person's wish, which holds whatever is kept now; all else is a server's word about a session.
    package var isPersonal: Bool {
        switch kind {
        case .begin: true
        case .signOut(let end): end.reason != .byServer
        case .renew, .expire, .update: false
        }
    }

    /// What is to be kept instead of `record`; `nil` if something else came first.
    package func applied(to record: SessionRecord) -> SessionRecord? {
        if case .begin(let session) = kind { return .session(session) }
        guard var session = record.session else {
            // A person's wish counts also where nobody is signed in any more; a server's word about a session does not.
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

/// What became of a change.
package enum SessionChangeResult: Sendable, Hashable {
    /// It has happened: this is what there is now.
    case kept(SessionRecord)
    /// Something else came first: this is what there is.
    case overtaken(SessionRecord)

    package var record: SessionRecord {
        switch self {
        case .kept(let record), .overtaken(let record): record
        }
    }
}
