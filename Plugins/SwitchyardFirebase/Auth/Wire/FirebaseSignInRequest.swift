import Foundation
import Switchyard
import SwitchyardBytes

/// A call that proves the identity of a user.
struct FirebaseSignInRequest: Sendable {
    enum Purpose: Sendable {
        case signIn
        /// Adds the credential to the account of this ID token.
        case link(Secret)
        /// Like a sign-in, but creates no account where the call has such an option.
        case reauthenticate
    }

    let path: String
    let body: JSONObject

    init(_ credential: AuthCredential, for purpose: Purpose) throws(FirebaseAuthFailure) {
        var body: JSONObject = ["returnSecureToken": true]
        if case .link(let token) = purpose { body["idToken"] = .string(token.reveal()) }
        switch credential.kind {
        case .anonymous:
            guard case .signIn = purpose else {
                throw .own(AuthError(.invalidArgument, "An anonymous credential proves nothing. Use another one."))
            }
            path = "/v1/accounts:signUp"
        case .password(let email, let password):
            body["email"] = .string(email)
            body["password"] = .string(password.reveal())
            // A password is linked by signing up with a token: `accounts:update` is refused by projects with email enumeration
            // protection.
            if case .link = purpose { path = "/v1/accounts:signUp" } else { path = "/v1/accounts:signInWithPassword" }
        case .customToken(let token):
            if case .link = purpose {
                throw .own(AuthError(.invalidArgument, "A custom token cannot be linked. Sign in with it instead."))
            }
            body["token"] = .string(token.reveal())
            path = "/v1/accounts:signInWithCustomToken"
        case .identityToken(let provider, let token, let accessToken, let nonce):
            path = "/v1/accounts:signInWithIdp"
            // The fixed value for clients that already have the credential.
            body["requestUri"] = "http://localhost"
            body["postBody"] = .string(try Self.form(provider, token, accessToken, nonce))
            if case .reauthenticate = purpose { body["autoCreate"] = false }
        case .browser(let signIn, let callback):
            path = "/v1/accounts:signInWithIdp"
            body["requestUri"] = .string(try Self.checked(callback, signIn))
            body["sessionId"] = .string(signIn.session ?? signIn.verifier)
            body["returnIdpCredential"] = true
            if case .reauthenticate = purpose { body["autoCreate"] = false }
        case .phoneCode(let verification, let code):
            path = "/v1/accounts:signInWithPhoneNumber"
            body["sessionInfo"] = .string(verification.id)
            body["code"] = .string(code.reveal())
            if case .reauthenticate = purpose { body["operation"] = "REAUTH" }
        case .emailLink(let email, let link):
            guard let action = FirebaseActionLink(link), action.mode == "signIn" else {
                throw .own(
                    AuthError(
                        .invalidCredential,
                        "This is not a sign-in link. Pass the whole link of the mail."))
            }
            path = "/v1/accounts:signInWithEmailLink"
            body["email"] = .string(email)
            body["oobCode"] = .string(action.code)
        }
        self.body = body
    }

    /// The identity provider's tokens, as a form within the JSON.
    private static func form(
        _ provider: IdentityProvider, _ token: Secret, _ accessToken: Secret?, _ nonce: String?
    ) throws(FirebaseAuthFailure) -> String {
        if provider == .twitter {
            guard let secret = accessToken else {
                throw .own(
                    AuthError(
                        .invalidArgument, "A token of \(provider) comes with a secret: use twitter(token:secret:)."))
            }
            return FormCoding.encode(
                [
                    (name: "access_token", value: token.reveal()),
                    (name: "oauth_token_secret", value: secret.reveal()),
                    (name: "providerId", value: provider.rawValue),
                ], space: .percent)
        }
        // These providers issue identity tokens only if a nonce was used.
        let isAccessToken = ["facebook.com", "github.com"].contains(provider.rawValue) && nonce == nil
        var items = [(name: isAccessToken ? "access_token" : "id_token", value: token.reveal())]
        if let accessToken, !isAccessToken { items.append((name: "access_token", value: accessToken.reveal())) }
        items.append((name: "providerId", value: provider.rawValue))
        if let nonce { items.append((name: "nonce", value: nonce)) }
        return FormCoding.encode(items, space: .percent)
    }

    /// The address to which the browser returned, if it belongs to this sign-in.
    private static func checked(_ callback: URL, _ signIn: BrowserSignIn) throws(FirebaseAuthFailure) -> String {
        let text = callback.absoluteString
        func place(_ text: String) -> Substring { text.prefix { $0 != "?" && $0 != "#" } }
        guard place(text) == place(signIn.redirectURL.absoluteString) else {
            throw .own(
                AuthError(
                    .invalidArgument,
                    "This is not the sign-in's redirect URL. Pass the one that the browser came back to."))
        }
        let parts = text.split(whereSeparator: { $0 == "?" || $0 == "#" }).dropFirst()
        let items = parts.flatMap { FormCoding.decode($0) ?? [] }
        if items.contains(where: { $0.name == "error" }) {
            throw .own(
                AuthError(.invalidCredential, "The sign-in was cancelled or refused in the browser. Begin it again."))
        }
        let states = items.filter { $0.name == "state" }
        guard states.allSatisfy({ $0.value.utf8.elementsEqual(signIn.state.utf8) }),
            !states.isEmpty || state(of: signIn.url) == nil
        else { throw .own(AuthError(.invalidCredential, "The URL answers another sign-in. Begin this one again.")) }
        return text
    }

    /// The state that the page of a browser sign-in gives back; not every identity provider's has one.
    static func state(of page: URL) -> String? {
        let query = page.absoluteString.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        return FormCoding.decode(query)?.first { $0.name == "state" && !$0.value.isEmpty }?.value
    }
}
