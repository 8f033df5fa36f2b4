import SwitchyardBytes
import SwitchyardServerKit

/// Second factors: enrolling, verifying and removing them.
extension AccountDatabase {
    /// How long a sign-in waits for its second factor.
    static let pendingLifetime: Int64 = 600

    // MARK: Enrolling

    mutating func startEnrollment(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let account = try enrolling(call)
        if call.fields["totpEnrollmentInfo"] != nil {
            guard !account.factors.contains(where: { $0.key != nil }) else { throw AuthFailure("SECOND_FACTOR_EXISTS") }
            let pending = PendingTOTP(
                session: RandomID.make(length: 64), userID: account.id,
                key: Array(ServerSigningKey.makeKey().prefix(20)),
                startedAt: call.seconds)
            pendingTOTPs.append(pending)
            return [
                "totpSessionInfo": [
                    "sharedSecretKey": .string(Base32.encode(pending.key)), "verificationCodeLength": 6,
                    "hashingAlgorithm": "SHA1", "periodSec": 30, "sessionInfo": .string(pending.session),
                    "finalizeEnrollmentTime": .string(
                        AccountDatabase.time(milliseconds: (call.seconds + AccountDatabase.pendingLifetime) * 1000)),
                ]
            ]
        }
        guard call.fields["phoneEnrollmentInfo"] != nil else {
            throw AuthFailure("INVALID_ARGUMENT : ((Missing phoneEnrollmentInfo.))")
        }
        guard let given = call.object("phoneEnrollmentInfo").text("phoneNumber") else { throw .badPhoneNumber }
        let number = try AccountDatabase.number(given)
        guard !account.factors.contains(where: { $0.phoneNumber == number }) else {
            throw AuthFailure("SECOND_FACTOR_EXISTS : Phone number already enrolled as second factor for this account.")
        }
        return ["phoneSessionInfo": ["sessionInfo": .string(try send(to: number, call))]]
    }

    mutating func finishEnrollment(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        var account = try enrolling(call)
        let (_, token) = try signedIn(call)
        var factor = LocalAccount.SecondFactor(
            id: RandomID.make(length: 28), displayName: call.text("displayName"), enrolledAt: call.milliseconds)
        var info: (name: String, value: JSON)?
        if call.fields["totpVerificationInfo"] != nil {
            let given = call.object("totpVerificationInfo")
            let session = try given.required("sessionInfo", or: "MISSING_SESSION_INFO")
            let code = try given.required("verificationCode", or: "MISSING_CODE")
            guard let pending = pendingTOTPs.first(where: { $0.session == session && $0.userID == account.id }) else {
                throw AuthFailure("INVALID_SESSION_INFO")
            }
            guard pending.startedAt + AccountDatabase.pendingLifetime > call.seconds else {
                throw AuthFailure("SESSION_EXPIRED")
            }
            guard let step = OneTimeCode.step(of: code, key: pending.key, at: call.seconds) else {
                throw AuthFailure("INVALID_CODE")
            }
            pendingTOTPs.removeAll { $0.session == session }
            factor.key = pending.key
            factor.lastStep = step
            info = ("totpAuthInfo", [:])
        } else {
            guard call.fields["phoneVerificationInfo"] != nil else {
                throw AuthFailure("INVALID_ARGUMENT : ((Missing phoneVerificationInfo.))")
            }
            factor.phoneNumber = try redeem(call.object("phoneVerificationInfo"))
            info = nil
        }
        account.factors.append(factor)
        account.revokeSessions(at: call.seconds)
        accounts[account.id] = account
        var signIn = continued(token)
        signIn.factor = AccountDatabase.claim(factor)
        var answer = tokens(of: account, signIn, call)
        answer["expiresIn"] = nil
        if let info { answer[info.name] = info.value }
        return answer
    }

    mutating func withdrawFactor(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        var (account, token) = try signedIn(call)
        let id = try call.required("mfaEnrollmentId", or: "MISSING_MFA_ENROLLMENT_ID")
        guard account.factors.contains(where: { $0.id == id }) else { throw AuthFailure("MFA_ENROLLMENT_NOT_FOUND") }
        account.factors.removeAll { $0.id == id }
        account.revokeSessions(at: call.seconds)
        accounts[account.id] = account
        var signIn = continued(token)
        if signIn.factor?.id == id { signIn.factor = nil }
        return tokens(of: account, signIn, call)
    }

    private func enrolling(_ call: AuthCall) throws(AuthFailure) -> LocalAccount {
        let (account, token) = try recentlySignedIn(call)
        guard !["phone", "anonymous", "custom"].contains(token.signInProvider) else {
            throw AuthFailure("UNSUPPORTED_FIRST_FACTOR : MFA is not available for the given first factor.")
        }
        guard account.isEmailVerified else {
            throw AuthFailure("UNVERIFIED_EMAIL : Need to verify email first before enrolling second factors.")
        }
        guard account.factors.count < 5 else { throw AuthFailure("SECOND_FACTOR_LIMIT_EXCEEDED") }
        return account
    }

    // MARK: Verifying

    func pendingCredential(_ id: String, _ signIn: AuthSignIn, _ call: AuthCall) -> String {
        var content = AccountDatabase.json(signIn)
        content["user"] = .string(id)
        content["until"] = .integer(call.seconds + AccountDatabase.pendingLifetime)
        content["revocations"] = .integer(Int64(accounts[id]?.revocations ?? 0))
        return call.seal.close(.object(content), as: .pendingSecondFactor)
    }

    private func pending(_ call: AuthCall) throws(AuthFailure) -> (account: LocalAccount, signIn: AuthSignIn) {
        let text = try call.required(
            "mfaPendingCredential",
            or: call.fields["phoneVerificationInfo"] == nil
                ? "MISSING_MFA_PENDING_CREDENTIAL : Request does not have MFA pending credential."
                : "MISSING_CREDENTIAL : Please set MFA Pending Credential.")
        guard let content = call.seal.open(text, as: .pendingSecondFactor), let id = content["user"]?.string,
            let account = accounts[id], content["revocations"]?.int == account.revocations,
            (content["until"]?.int64 ?? 0) > call.seconds
        else { throw AuthFailure("((Invalid phoneVerificationInfo.mfaPendingCredential.))") }
        guard account.isDisabled != true else { throw AuthFailure("USER_DISABLED") }
        return (account, AccountDatabase.signIn(content))
    }

    mutating func startSecondFactor(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        if call.text("mfaPendingCredential") != nil, call.text("mfaEnrollmentId") == nil {
            throw AuthFailure("MISSING_MFA_ENROLLMENT_ID : No second factor identifier is provided.")
        }
        let (account, _) = try pending(call)
        let id = try call.required("mfaEnrollmentId", or: "MISSING_MFA_ENROLLMENT_ID")
        guard let factor = account.factors.first(where: { $0.id == id }), let number = factor.phoneNumber else {
            throw AuthFailure("MFA_ENROLLMENT_NOT_FOUND")
        }
        return ["phoneResponseInfo": ["sessionInfo": .string(try send(to: number, call))]]
    }

    mutating func finishSecondFactor(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        var (account, first) = try pending(call)
        let index: Int
        if call.fields["totpVerificationInfo"] != nil {
            let id = try call.required("mfaEnrollmentId", or: "MISSING_MFA_ENROLLMENT_ID")
            let code = try call.object("totpVerificationInfo").required("verificationCode", or: "MISSING_CODE")
            guard let found = account.factors.firstIndex(where: { $0.id == id }), let key = account.factors[found].key
            else { throw AuthFailure("MFA_ENROLLMENT_NOT_FOUND") }
            guard let step = OneTimeCode.step(of: code, key: key, at: call.seconds),
                step > account.factors[found].lastStep ?? .min
            else { throw AuthFailure("INVALID_CODE") }
            account.factors[found].lastStep = step
            accounts[account.id] = account
            index = found
        } else {
            guard call.fields["phoneVerificationInfo"] != nil else {
                throw AuthFailure("INVALID_ARGUMENT : MFA provider not supported!")
            }
            let number = try redeem(call.object("phoneVerificationInfo"))
            guard let found = account.factors.firstIndex(where: { $0.phoneNumber == number }) else {
                throw AuthFailure("MFA_ENROLLMENT_NOT_FOUND")
            }
            index = found
        }
        first.factor = AccountDatabase.claim(account.factors[index])
        var answer = try signIn(account.id, first, call)
        answer["expiresIn"] = nil
        answer["localId"] = nil
        return answer
    }

    private static func claim(_ factor: LocalAccount.SecondFactor) -> (kind: String, id: String) {
        (factor.key == nil ? "phone" : "totp", factor.id)
    }
}
