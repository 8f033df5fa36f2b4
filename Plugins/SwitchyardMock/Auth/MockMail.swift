public import Foundation
public import Switchyard

/// An email or text message sent by the mock.
public struct MockMail: Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable, Hashable {
        case signInLink, passwordReset
        /// For the address of a new account, or a changed one; its link signs in.
        case addressConfirmation
        /// A code sent to a phone.
        case phoneCode
    }

    public let kind: Kind
    /// The email address or phone number.
    public let recipient: String
    public let code: Secret
    /// The link to tap, if the email has one.
    public let link: URL?
    public let sentAt: Timestamp

    /// Only the kind, since addresses and codes must not be logged.
    public var description: String { "MockMail(\(kind.rawValue))" }
}
