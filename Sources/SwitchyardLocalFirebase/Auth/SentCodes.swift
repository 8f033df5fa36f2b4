import SwitchyardServerKit

extension AccountDatabase.MailedCode {
    /// The mail, as a person would have received it.
    func message(at milliseconds: Int64) -> SentMessages.Message {
        let (subject, text) =
            switch purpose {
            case .passwordReset: ("Reset your password", "Open this link to choose a new password:")
            case .emailSignIn: ("Sign in", "Open this link to sign in:")
            case .verifyEmail: ("Verify your email address", "Open this link to verify your address:")
            case .changeEmail: ("Verify your new email address", "Open this link to verify your new address:")
            case .recoverEmail: ("Your email address was changed", "If this was not you, open this link:")
            }
        var message = SentMessages.Message(
            at: milliseconds, kind: .mail, to: newEmail ?? email, subject: subject, text: "\(text)\n\(link)\n")
        message.links = [link]
        message.code = code
        return message
    }
}

extension AccountDatabase.PhonedCode {
    func message(at milliseconds: Int64) -> SentMessages.Message {
        var message = SentMessages.Message(
            at: milliseconds, kind: .sms, to: phoneNumber, subject: "", text: "Your code is \(code).")
        message.code = code
        return message
    }
}
