import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import Synchronization

/// An email with a code and a link, as a person would receive it, with the parts that tests need.
struct AuthMail {
    let occasion: LocalSupabaseAuth.Occasion
    let receiver: String
    let code: AuthTables.Code
    let link: String

    /// The subject, as in the vendor's templates.
    private var subject: String {
        switch occasion {
        case .signUp: "Confirm your email address"
        case .magicLink: "Your sign-in link"
        case .recovery: "Reset your password"
        case .invitation: "You've been invited"
        case .emailChange: "Confirm your new email address"
        case .reauthentication, .message, .phoneChange: "\(code.digits) is your verification code"
        }
    }

    var json: JSONObject {
        var json: JSONObject = [
            "to": .string(receiver), "code": .string(code.digits), "subject": .string(subject),
            "token_hash": .string(occasion == .reauthentication ? "" : code.hash),
        ]
        var text = "\(subject)\n\nEnter the code \(code.digits)"
        if occasion == .reauthentication {
            text += ".\n"
        } else {
            json["occasion"] = .string(occasion.rawValue)
            json["link"] = .string(link)
            text += ", or open this link:\n\(link)\n"
        }
        json["text"] = .string(text)
        return json
    }
}

/// Emails and text messages that would have been sent; held in memory, newest last.
final class AuthOutbox: Sendable {
    private static let limit = 1000
    private let sent = Mutex<[JSONObject]>([])
    private let shown: SentMessages
    private let now: @Sendable () -> Timestamp

    /// - Parameter shown: Gets each message as well, for a page.
    init(_ shown: SentMessages, now: @escaping @Sendable () -> Timestamp) {
        self.shown = shown
        self.now = now
    }

    func add(_ message: JSONObject) {
        let link = message["link"]?.string
        var item = SentMessages.Message(
            at: now().microseconds / 1000, kind: message["subject"] == nil ? .sms : .mail,
            to: message["to"]?.string ?? "", subject: message["subject"]?.string ?? "",
            text: message["text"]?.string ?? "")
        item.links = link.map { [$0] } ?? []
        item.code = message["code"]?.string
        shown.add(item)
        sent.withLock { sent in
            sent.append(message)
            if sent.count > AuthOutbox.limit { sent.removeFirst() }
        }
    }

    /// - Parameter receiver: An address or a number; `nil` for all.
    func messages(to receiver: String? = nil) -> [JSONObject] {
        sent.withLock { sent in sent.filter { receiver == nil || $0["to"]?.string == receiver } }
    }
}
