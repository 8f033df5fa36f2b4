public import Switchyard

extension IdentityProvider {
    /// X, formerly Twitter.
    public static let twitter: IdentityProvider = "twitter.com"
}

extension AuthCredential {
    /// A credential from X. Its token has two halves (OAuth 1.0a); neither proves anything alone.
    public static func twitter(token: Secret, secret: Secret) -> AuthCredential {
        // The portable credential's second token is otherwise unused for X.
        .identityToken(.twitter, token, accessToken: secret)
    }
}
