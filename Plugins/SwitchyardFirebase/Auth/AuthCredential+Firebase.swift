public import Switchyard

extension IdentityProvider {
    /// X, which was Twitter.
    public static let twitter: IdentityProvider = "twitter.com"
}

extension AuthCredential {
    /// What X gave the app: its tokens come in two halves (OAuth 1.0a), of which neither proves anything alone.
    public static func twitter(token: Secret, secret: Secret) -> AuthCredential {
        // The portable credential's second token is free: there is no other of X's.
        .identityToken(.twitter, token, accessToken: secret)
    }
}
