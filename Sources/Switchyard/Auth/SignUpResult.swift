/// The result of signing up.
///
/// ```swift
/// switch try await auth.signUp(email: email, password: password) {
/// case .signedIn(let user): show(user)
/// case .confirmationSent(let address): show("We sent a link to \(address).")
/// }
/// ```
public enum SignUpResult: Sendable, Hashable {
    /// The account exists and is signed in.
    case signedIn(AuthUser)
    /// The project requires addresses to be confirmed, and an email is on its way to this one. Its link signs in, as
    /// ``AuthCredential/emailLink(email:_:)``; after that the password does, too. The session of this device is unchanged.
    case confirmationSent(to: String)

    /// The user who is signed in now; `nil` until the address is confirmed.
    public var user: AuthUser? { if case .signedIn(let user) = self { user } else { nil } }

    /// The user who is signed in now, for projects that need no confirmation.
    ///
    /// - Throws: `.emailNotConfirmed` until the address is confirmed.
    @discardableResult
    public func get() throws(AuthError) -> AuthUser {
        guard case .signedIn(let user) = self else {
            throw AuthError(
                .emailNotConfirmed,
                "The account was created, but its address must be confirmed. Open the link in the email.")
        }
        return user
    }
}

/// The result of changing the address.
public enum EmailChangeResult: Sendable, Hashable {
    /// The account has the address.
    case changed(AuthUser)
    /// An email is on its way to the new address, which takes effect when its link is opened. Until then the old one is
    /// valid.
    case confirmationSent(to: String)
}

extension SignUpResult: CustomStringConvertible {
    /// Keeps email addresses out of logs.
    public var description: String {
        if case .signedIn(let user) = self { "signedIn(\(user))" } else { "confirmationSent" }
    }
}

extension EmailChangeResult: CustomStringConvertible {
    /// Keeps email addresses out of logs.
    public var description: String {
        if case .changed(let user) = self { "changed(\(user))" } else { "confirmationSent" }
    }
}
