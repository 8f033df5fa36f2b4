/// Why a call to a ``NotificationClient`` failed.
public typealias NotificationError = DomainError

/// A notification to a user: the document `users/{id}/notifications/{notification}`.
public struct NotificationModel: Sendable, Hashable, Identifiable {
    public let id: String
    public var title: String
    public var body: String
    /// The app's own name for the kind of notification.
    public var kind: String?
    public var sentAt: Timestamp
    public var isRead: Bool

    public init(id: String, title: String, body: String, kind: String? = nil, sentAt: Timestamp, isRead: Bool = false) {
        self.id = id
        self.title = title
        self.body = body
        self.kind = kind
        self.sentAt = sentAt
        self.isRead = isRead
    }

    init?(_ document: DocumentSnapshot) {
        guard let data = document.data, let sentAt = data["sentAt"]?.timestampValue else { return nil }
        self.init(
            id: document.id, title: data["title"]?.stringValue ?? "", body: data["body"]?.stringValue ?? "",
            kind: data["kind"]?.stringValue, sentAt: sentAt, isRead: data["isRead"]?.boolValue ?? false)
    }

    /// The fields of a new notification, for the sender.
    public var fields: WriteFields {
        [
            "title": .of(title), "body": .of(body), "kind": .of(kind), "sentAt": .of(sentAt), "isRead": .of(isRead),
            "isDeleted": false,
        ]
    }
}

extension NotificationModel: CustomStringConvertible {
    /// The ID only, to keep contents out of logs.
    public var description: String { "NotificationModel(\(id))" }
}

/// The notifications of the signed-in user. Deleted notifications are marked, not removed, so that no device shows one
/// again.
public protocol NotificationClient: Sendable {
    /// Those not deleted, newest first.
    func notifications() async throws(NotificationError) -> [NotificationModel]
    /// Those not deleted, newest first, now and after every change.
    func notificationsStream() -> SnapshotStream<[NotificationModel], NotificationError>
    /// How many are neither read nor deleted.
    func unreadCount() async throws(NotificationError) -> Int
    func unreadCountStream() -> SnapshotStream<Int, NotificationError>
    /// - Throws: `.notFound`.
    func markAsRead(_ id: NotificationModel.ID) async throws(NotificationError)
    func markAllAsRead() async throws(NotificationError)
    /// - Throws: `.notFound`.
    func delete(_ id: NotificationModel.ID) async throws(NotificationError)
}
