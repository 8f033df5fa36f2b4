import SwitchyardBytes
import Synchronization

/// Emails and text messages that would have been sent; kept in memory, newest last.
final class AuthOutbox: Sendable {
    private static let limit = 1000
    private let sent = Mutex<[JSONObject]>([])

    func add(_ message: JSONObject) {
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
