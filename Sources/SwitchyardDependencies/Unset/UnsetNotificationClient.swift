import Switchyard

/// Stands for a dependency that nobody set: every operation fails and says which one it was.
struct UnsetNotificationClient: NotificationClient {
    func notifications() async throws(NotificationError) -> [NotificationModel] {
        throw .unset("notificationClient", "notifications")
    }
    func notificationsStream() -> SnapshotStream<[NotificationModel], NotificationError> {
        .failing(.unset("notificationClient", "notificationsStream"))
    }
    func unreadCount() async throws(NotificationError) -> Int { throw .unset("notificationClient", "unreadCount") }
    func unreadCountStream() -> SnapshotStream<Int, NotificationError> {
        .failing(.unset("notificationClient", "unreadCountStream"))
    }
    func markAsRead(_ id: NotificationModel.ID) async throws(NotificationError) {
        throw .unset("notificationClient", "markAsRead")
    }
    func markAllAsRead() async throws(NotificationError) { throw .unset("notificationClient", "markAllAsRead") }
    func delete(_ id: NotificationModel.ID) async throws(NotificationError) {
        throw .unset("notificationClient", "delete")
    }
}
