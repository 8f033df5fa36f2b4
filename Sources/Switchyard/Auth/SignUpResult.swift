/// What signing up has come to.
///
/// ```swift
/// switch try await auth.signUp(email: email, password: password) {
/// case .signedIn(let user): show(user)
/// case .confirmationSent(let address): show("We sent a link to \(address).")
/// }
/// ```
public enum SignUpResult: Sendable, Hashable {
    /// The account is there, and signed in.
    case signedIn(AuthUser)
    /// The project asks for addresses to be confirmed, and a mail is on its way to this one. Its link signs in, as
    /// ``AuthCredential/emailLink(email:_:)``; after that the password does too. The session of this device is as it was.
    case confirmationSent(to: String)

    /// Who is signed in now; `nil` while the address waits for its mail.
    public var user: AuthUser? { if case .signedIn(let user) = self { user } else { nil } }

    /// Who is signed in now, for programs whose project asks for no confirmation.
    ///
    /// - Throws: `.emailNotConfirmed` while the address waits for its mail.
    @discardableResult
    public func get() throws(AuthError) -> AuthUser {
        guard case .signedIn(let user) = self else {
            throw AuthError(
                .emailNotConfirmed,
                "The account was made, and its address has to be confirmed. Open the link in the mail.")
        }
        return user
    }
}

/// What asking for another address has come to.
public enum EmailChangeResult: Sendable, Hashable {
    /// The account has the address.
    case changed(AuthUser)
    /// A mail is on its way to the new address, which takes effect when the link is opened. Until then the old one counts.
    case confirmationSent(to: String)
}

extension SignUpResult: CustomStringConvertible {
    /// Addresses of people stay out of logs.
    public var description: String {
        if case .signedIn(let user) = self { "signedIn(\(user))" } else { "confirmationSent" }
    }
}

extension EmailChangeResult: CustomStringConvertible {
    /// Addresses of people stay out of logs.
    public var description: String {
        if case .changed(let user) = self { "changed(\(user))" } else { "confirmationSent" }
    }
}
