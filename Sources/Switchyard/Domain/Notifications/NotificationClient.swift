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
    /// As ``notificationsStream()``, with where the notifications come from.
    func notificationsSnapshots() -> SnapshotStream<DomainSnapshot<[NotificationModel]>, NotificationError>
    /// How many are neither read nor deleted.
    func unreadCount() async throws(NotificationError) -> Int
    func unreadCountStream() -> SnapshotStream<Int, NotificationError>
    /// As ``unreadCountStream()``, with where the number comes from.
    func unreadCountSnapshots() -> SnapshotStream<DomainSnapshot<Int>, NotificationError>
    /// - Throws: `.notFound`.
    func markAsRead(_ id: NotificationModel.ID) async throws(NotificationError)
    func markAllAsRead() async throws(NotificationError)
    /// - Throws: `.notFound`.
    func delete(_ id: NotificationModel.ID) async throws(NotificationError)
}

/// For clients that do not tell where notifications come from.
extension NotificationClient {
    public func notificationsSnapshots() -> SnapshotStream<DomainSnapshot<[NotificationModel]>, NotificationError> {
        notificationsStream().asDomainSnapshots()
    }
    public func unreadCountSnapshots() -> SnapshotStream<DomainSnapshot<Int>, NotificationError> {
        unreadCountStream().asDomainSnapshots()
    }
}
