/// What an auth provider can do beyond email address and password, access tokens and a stream of states.
public struct AuthCapabilities: Sendable, Hashable {
    public var anonymous = false
    public var customTokens = false
    public var identityTokens = false
    public var browserSignIn = false
    public var phoneCodes = false
    public var emailLinks = false
    public var passwordReset = false
    /// Several ways to sign in for one account.
    public var linking = false
    public var secondFactors = false
    public var accountDeletion = false
    /// Ending the sessions of other devices.
    public var signOutElsewhere = false

    public init() {}

    public static let all: AuthCapabilities = {
        var all = AuthCapabilities()
        all.anonymous = true
        all.customTokens = true
        all.identityTokens = true
        all.browserSignIn = true
        all.phoneCodes = true
        all.emailLinks = true
        all.passwordReset = true
        all.linking = true
        all.secondFactors = true
        all.accountDeletion = true
        all.signOutElsewhere = true
        return all
    }()
}
