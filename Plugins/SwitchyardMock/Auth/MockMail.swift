public import Foundation
public import Switchyard

/// A mail or a text message that the mock sent: what a person would find in their inbox.
public struct MockMail: Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable, Hashable {
        case signInLink, passwordReset
        /// For a new account's address, or a new one of an account; its link signs in.
        case addressConfirmation
        /// A code sent to a telephone.
        case phoneCode
    }

    public let kind: Kind
    /// The address, or the telephone number.
    public let recipient: String
    public let code: Secret
    /// What a person would tap on, where the mail has a link.
    public let link: URL?
    public let sentAt: Timestamp

    /// The kind only: addresses and codes stay out of logs.
    public var description: String { "MockMail(\(kind.rawValue))" }
}
