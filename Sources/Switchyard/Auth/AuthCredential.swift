public import Foundation

/// A credential to sign in with: a password, a token, a link or a browser sign-in.
public struct AuthCredential: Sendable, Hashable {
    /// The kind of credential. Providers branch on this.
    public let kind: Kind

    public enum Kind: Sendable, Hashable {
        case anonymous
        case password(email: String, password: Secret)
        /// A token that the app's own server signed.
        case customToken(Secret)
        /// An identity token of Apple, Google or any OpenID provider, obtained by the app.
        case identityToken(IdentityProvider, token: Secret, accessToken: Secret?, rawNonce: String?)
        /// The URL to which the browser returned, and the sign-in that it belongs to.
        case browser(BrowserSignIn, callback: URL)
        case phoneCode(PhoneVerification, code: Secret)
        /// The link from the email.
        case emailLink(email: String, link: URL)
    }

    public init(_ kind: Kind) { self.kind = kind }

    public static let anonymous = AuthCredential(.anonymous)
    public static func password(email: String, _ password: Secret) -> AuthCredential {
        AuthCredential(.password(email: email, password: password))
    }
    public static func customToken(_ token: Secret) -> AuthCredential { AuthCredential(.customToken(token)) }
    public static func identityToken(
        _ provider: IdentityProvider, _ token: Secret, accessToken: Secret? = nil, rawNonce: String? = nil
    ) -> AuthCredential {
        AuthCredential(.identityToken(provider, token: token, accessToken: accessToken, rawNonce: rawNonce))
    }
    public static func browser(_ signIn: BrowserSignIn, callback: URL) -> AuthCredential {
        AuthCredential(.browser(signIn, callback: callback))
    }
    public static func phoneCode(_ verification: PhoneVerification, _ code: Secret) -> AuthCredential {
        AuthCredential(.phoneCode(verification, code: code))
    }
    public static func emailLink(email: String, _ link: URL) -> AuthCredential {
        AuthCredential(.emailLink(email: email, link: link))
    }
}

extension AuthCredential: CustomStringConvertible {
    /// The kind of credential only.
    public var description: String { "AuthCredential(\(name))" }

    package var name: String {
        switch kind {
        case .anonymous: "anonymous"
        case .password: "password"
        case .customToken: "custom token"
        case .identityToken(let provider, _, _, _): "identity token of \(provider)"
        case .browser(let signIn, _): "browser sign-in with \(signIn.identityProvider)"
        case .phoneCode: "phone code"
        case .emailLink: "email link"
        }
    }
}

/// A browser sign-in in progress: open ``url``, then pass the URL to which the browser returns to
/// ``AuthClient/signIn(with:)``, together with this value. You may store it while the app is in the background.
public struct BrowserSignIn: Sendable, Hashable, Codable {
    public let identityProvider: IdentityProvider
    /// The page to open.
    public let url: URL
    /// The URL to which the browser will return.
    public let redirectURL: URL
    /// Ties the response to this request.
    public let state: String
    /// The secret half of the proof key (PKCE); never sent before the answer is exchanged.
    public let verifier: String
    /// The provider's own handle for the flow, if it has one.
    public let session: String?

    /// For providers: the values made by ``AuthClient/beginBrowserSignIn(with:redirectURL:scopes:)``.
    public init(
        identityProvider: IdentityProvider, url: URL, redirectURL: URL, state: String, verifier: String,
        session: String? = nil
    ) {
        self.identityProvider = identityProvider
        self.url = url
        self.redirectURL = redirectURL
        self.state = state
        self.verifier = verifier
        self.session = session
    }
}

extension BrowserSignIn: CustomStringConvertible, CustomReflectable {
    /// The identity provider only, without the page and the proof key.
    public var description: String { "BrowserSignIn(\(identityProvider))" }
    public var customMirror: Mirror { Mirror(self, children: ["identityProvider": identityProvider]) }
}

/// A code that was sent to a phone.
public struct PhoneVerification: Sendable, Hashable, Codable {
    public let phoneNumber: String
    /// The provider's handle for it.
    public let id: String

    public init(phoneNumber: String, id: String) {
        self.phoneNumber = phoneNumber
        self.id = id
    }
}

extension PhoneVerification: CustomStringConvertible {
    /// The handle only, to keep phone numbers out of logs.
    public var description: String { "PhoneVerification(\(id))" }
}

/// The request for a second factor during a sign-in.
public struct SecondFactorChallenge: Sendable, Hashable {
    /// The factors that may answer it.
    public let factors: [SecondFactor]
    /// The provider's handle for the sign-in in progress.
    public let session: Secret

    /// For providers.
    public init(factors: [SecondFactor], session: Secret) {
        self.factors = factors
        self.session = session
    }
}

/// The answer to a ``SecondFactorChallenge``.
public struct SecondFactorAnswer: Sendable, Hashable {
    public let factor: SecondFactor.ID
    public let code: Secret
    public init(factor: SecondFactor.ID, code: Secret) {
        self.factor = factor
        self.code = code
    }
}

/// A second factor that is being set up: show ``uri`` as a QR code, then confirm with a first code.
public struct SecondFactorEnrollment: Sendable, Hashable {
    public let kind: SecondFactor.Kind
    /// For an authenticator app: the shared key in Base32, and the `otpauth:` URL that contains it.
    public let sharedKey: Secret
    public let uri: Secret
    /// The provider's handle for the enrolment in progress.
    public let session: Secret

    /// For providers.
    public init(kind: SecondFactor.Kind, sharedKey: Secret, uri: Secret, session: Secret) {
        self.kind = kind
        self.sharedKey = sharedKey
        self.uri = uri
        self.session = session
    }
}

/// The changes to an account; `nil` properties stay as they are.
public struct AccountChanges: Sendable, Hashable {
    public var displayName: String?
    public var photoURL: URL?
    /// Takes effect at once or after confirmation by email, depending on the provider.
    public var email: String?
    public var password: Secret?

    public init(displayName: String? = nil, photoURL: URL? = nil, email: String? = nil, password: Secret? = nil) {
        self.displayName = displayName
        self.photoURL = photoURL
        self.email = email
        self.password = password
    }
}

public enum SignOutScope: Sendable, Hashable {
    /// This device only.
    case local
    /// Every session of the account.
    case everywhere
    /// Every session except this one.
    case others
}
