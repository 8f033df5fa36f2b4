import SwitchyardBytes
import SwitchyardServerKit

/// Codes sent to a phone. Nothing is actually sent: `GET /emulator/v1/projects/…/verificationCodes` shows them.
extension AccountDatabase {
    mutating func sendPhoneCode(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        guard let number = call.text("phoneNumber") else { throw .badPhoneNumber }
        return ["sessionInfo": .string(try send(to: number, call))]
    }

    /// - Returns: The ID of the code's session.
    mutating func send(to number: String, _ call: AuthCall) throws(AuthFailure) -> String {
        _ = try AccountDatabase.number(number)
        let digits = String(Int.random(in: 0..<1_000_000))
        let sent = PhonedCode(
            session: RandomID.make(length: 64), phoneNumber: number,
            code: String(repeating: "0", count: 6 - digits.count) + digits, sentAt: call.seconds)
        phonedCodes.append(sent)
        return sent.session
    }

    /// The number to which the session's code was sent; uses up the code.
    mutating func redeem(_ call: AuthCall) throws(AuthFailure) -> String {
        let session = try call.required("sessionInfo", or: "MISSING_SESSION_INFO")
        let code = try call.required("code", or: "MISSING_CODE")
        guard let sent = phonedCodes.first(where: { $0.session == session }) else {
            throw AuthFailure("INVALID_SESSION_INFO")
        }
        guard sent.sentAt + AccountDatabase.phoneCodeLifetime > call.seconds else {
            throw AuthFailure("SESSION_EXPIRED")
        }
        guard sent.code == code else { throw AuthFailure("INVALID_CODE") }
        phonedCodes.removeAll { $0.session == session }
        return try AccountDatabase.number(sent.phoneNumber)
    }

    mutating func signInWithPhone(_ call: AuthCall) throws(AuthFailure) -> JSONObject {
        let linked = call.text("idToken") == nil ? nil : try signedIn(call).account
        let number: String
        if let proof = call.text("temporaryProof") {
            let given = try call.required("phoneNumber", or: "MISSING_PHONE_NUMBER")
            guard let content = call.seal.open(proof, as: .temporaryProof), let proved = content["number"]?.string,
                proved == given, (content["until"]?.int64 ?? 0) > call.seconds
            else { throw AuthFailure("INVALID_TEMPORARY_PROOF") }
            number = proved
        } else {
            number = try redeem(call)
        }
        let owner = account(phoneNumber: number)
        if let linked, let owner, owner.id != linked.id {
            guard call.text("temporaryProof") == nil else { throw AuthFailure("PHONE_NUMBER_EXISTS") }
            let proof = call.seal.close(
                ["number": .string(number), "until": .integer(call.seconds + 3600)], as: .temporaryProof)
            return [
                "temporaryProof": .string(proof), "temporaryProofExpiresIn": "3600", "phoneNumber": .string(number),
            ]
        }
        if linked == nil, owner == nil, call.text("operation") == "REAUTH" { throw AuthFailure("USER_NOT_FOUND") }
        var account = linked ?? owner ?? newAccount(call)
        guard !account.isDisabled else { throw AuthFailure("USER_DISABLED") }
        account.phoneNumber = number
        accounts[account.id] = account
        return try signIn(
            account.id, AuthSignIn(provider: "phone", at: call.seconds), call,
            adding: ["phoneNumber": .string(number), "isNewUser": .bool(linked == nil && owner == nil)])
    }
}
