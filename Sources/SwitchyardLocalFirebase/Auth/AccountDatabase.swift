import Switchyard
import SwitchyardBytes
import SwitchyardServerKit

/// The state of the auth service, and its calls. It is a value, so a failed call changes nothing.
struct AccountDatabase: Codable, Sendable {
    /// A code that was sent by email, or would have been.
    struct MailedCode: Codable, Sendable {
        enum Purpose: String, Codable, Sendable {
            case passwordReset = "PASSWORD_RESET"
            case emailSignIn = "EMAIL_SIGNIN"
            case verifyEmail = "VERIFY_EMAIL"
            case changeEmail = "VERIFY_AND_CHANGE_EMAIL"
            case recoverEmail = "RECOVER_EMAIL"

            /// The mode in links.
            var mode: String {
                switch self {
                case .passwordReset: "resetPassword"
                case .emailSignIn: "signIn"
                case .verifyEmail: "verifyEmail"
                case .changeEmail: "verifyAndChangeEmail"
                case .recoverEmail: "recoverEmail"
                }
            }
        }
        let code: String
        let purpose: Purpose
        let email: String
        var newEmail: String?
        /// The user with that address; `nil` if a link may create the account.
        var userID: String?
        let link: String
        let sentAt: Int64
    }

    /// A code that was sent to a phone.
    struct PhonedCode: Codable, Sendable {
        let session: String
        let phoneNumber: String
        let code: String
        let sentAt: Int64
    }

    /// An authenticator app that has its key but has not confirmed it with a code yet.
    struct PendingTOTP: Codable, Sendable {
        let session: String
        let userID: String
        let key: [UInt8]
        let startedAt: Int64
    }

    struct Settings: Codable, Sendable {
        var allowsDuplicateEmails = false
        /// Whether answers hide which addresses have accounts.
        var protectsEmails = false
    }

    static let codeLifetime: Int64 = 3600
    static let phoneCodeLifetime: Int64 = 600
    /// The maximum age of the sign-in for sensitive changes.
    static let recentSignIn: Int64 = 300

    var accounts: [String: LocalAccount] = [:]
    var mailedCodes: [MailedCode] = []
    var phonedCodes: [PhonedCode] = []
    var pendingTOTPs: [PendingTOTP] = []
    var settings = Settings()
    /// `nil` in a folder of an earlier version.
    private var expiries: Expiries?
    /// What the current call has sent.
    var news: [SentMessages.Message]?

    /// How often ID tokens were expired. Tokens outlive their accounts, and tests have some without any, so accounts cannot say.
    private struct Expiries: Codable, Sendable {
        var ofAll = 0
        var ofUsers: [String: Int] = [:]
    }

    // MARK: Tokens

    func expiries(of userID: String) -> Int { (expiries?.ofAll ?? 0) + (expiries?.ofUsers[userID] ?? 0) }

    func stamp(of account: LocalAccount) -> LocalIDToken.Stamp {
        LocalIDToken.Stamp(expiries: expiries(of: account.id), revocations: account.revocations)
    }

    /// - Parameter userID: `nil` for all users.
    mutating func expireTokens(of userID: String?) {
        var counts = expiries ?? Expiries()
        if let userID { counts.ofUsers[userID, default: 0] += 1 } else { counts.ofAll += 1 }
        expiries = counts
    }

    // MARK: Finding

    func account(email: String) -> LocalAccount? { accounts.values.first { $0.email == email } }

    func account(phoneNumber: String) -> LocalAccount? {
        accounts.values.first { $0.phoneNumber == phoneNumber }
    }

    func account(provider: String, rawID: String) -> LocalAccount? {
        accounts.values.first { $0.links.contains { $0.provider == provider && $0.rawID == rawID } }
    }

    /// The account of the call's ID token.
    func signedIn(_ call: AuthCall) throws(AuthFailure) -> (account: LocalAccount, token: LocalIDToken) {
        let text = try call.required("idToken", or: "MISSING_ID_TOKEN")
        guard let token = LocalIDToken(text, call.signer), token.belongs(to: call.project) else {
            throw AuthFailure("INVALID_ID_TOKEN")
        }
        guard let account = accounts[token.userID] else { throw AuthFailure("USER_NOT_FOUND") }
        let stamp = stamp(of: account)
        guard token.stamp ?? stamp == stamp, !token.isExpired(at: call.seconds) else {
            throw AuthFailure("TOKEN_EXPIRED")
        }
        guard account.isDisabled != true else { throw AuthFailure("USER_DISABLED") }
        return (account, token)
    }

    /// Like ``signedIn(_:)``, for operations that a stolen device must not be able to perform.
    func recentlySignedIn(_ call: AuthCall) throws(AuthFailure) -> (account: LocalAccount, token: LocalIDToken) {
        let (account, token) = try signedIn(call)
        guard token.signedInAt >= call.seconds - AccountDatabase.recentSignIn else {
            throw AuthFailure("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
        }
        return (account, token)
    }

    // MARK: Checks

    static func email(_ text: String) throws(AuthFailure) -> String {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), text.utf8.count < 256,
            !text.contains(where: \.isWhitespace)
        else { throw AuthFailure("INVALID_EMAIL") }
        return text.lowercased()
    }

    /// A phone number in international format. The lengths of countries' numbers are not checked.
    static func number(_ text: String) throws(AuthFailure) -> String {
        let digits = text.filter { !" -().".contains($0) }
        guard digits.first == "+", (5...15).contains(digits.utf8.count - 1),
            digits.utf8.dropFirst().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { throw .badPhoneNumber }
        return digits
    }

    func checkIsFree(phoneNumber: String, for userID: String? = nil) throws(AuthFailure) {
        if let owner = account(phoneNumber: phoneNumber), owner.id != userID {
            throw AuthFailure("PHONE_NUMBER_EXISTS")
        }
    }

    /// Names that tokens use for their own claims.
    private static let reservedClaims: Set = [
        "acr", "amr", "at_hash", "aud", "auth_time", "azp", "c_hash", "cnf", "exp", "iat", "iss", "jti", "nbf", "nonce",
        "sub", "firebase", "user_id",
    ]

    /// Custom claims for tokens, as JSON text.
    static func claims(_ text: String) throws(AuthFailure) -> String {
        guard let claims = (try? JSON(parsing: text))?.object else { throw AuthFailure("INVALID_CLAIMS") }
        try check(claims: claims)
        guard text.utf8.count <= 1000 else { throw AuthFailure("CLAIMS_TOO_LARGE") }
        return text
    }

    static func check(claims: JSONObject) throws(AuthFailure) {
        if let name = claims.keys.first(where: reservedClaims.contains) {
            throw AuthFailure("FORBIDDEN_CLAIM : \(name)")
        }
    }

    static func password(_ text: String) throws(AuthFailure) -> StoredPassword {
        guard text.count >= 6 else {
            throw AuthFailure("WEAK_PASSWORD : Password should be at least 6 characters")
        }
        return StoredPassword(text)
    }

    func checkIsFree(_ email: String, for userID: String? = nil) throws(AuthFailure) {
        if let owner = account(email: email), owner.id != userID { throw AuthFailure("EMAIL_EXISTS") }
    }

    mutating func newAccount(_ call: AuthCall, id: String? = nil) -> LocalAccount {
        var account = LocalAccount(id: id ?? RandomID.make(length: 28), milliseconds: call.milliseconds)
        account.customAttributes = call.claims
        return account
    }
}
