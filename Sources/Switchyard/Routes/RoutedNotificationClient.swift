/// A client for notifications that forwards every call along its route.
public protocol RoutedNotificationClient: NotificationClient {
    var route: any Route<any NotificationClient> { get }
}

extension RoutedNotificationClient {
    public func notifications() async throws(NotificationError) -> [NotificationModel] {
        try await route.call(.repeatable("notifications")) { notifications throws(NotificationError) in
            try await notifications.notifications()
        }
    }
    public func notificationsStream() -> SnapshotStream<[NotificationModel], NotificationError> {
        route.snapshots("notifications stream") { $0.notificationsStream() }
    }
    public func unreadCount() async throws(NotificationError) -> Int {
        try await route.call(.repeatable("unread count")) { notifications throws(NotificationError) in
            try await notifications.unreadCount()
        }
    }
    public func unreadCountStream() -> SnapshotStream<Int, NotificationError> {
        route.snapshots("unread count stream") { $0.unreadCountStream() }
    }
    public func markAsRead(_ id: NotificationModel.ID) async throws(NotificationError) {
        try await route.call(.repeatable("mark as read")) { notifications throws(NotificationError) in
            try await notifications.markAsRead(id)
        }
    }
    public func markAllAsRead() async throws(NotificationError) {
        try await route.call(.repeatable("mark all as read")) { notifications throws(NotificationError) in
            try await notifications.markAllAsRead()
        }
    }
    public func delete(_ id: NotificationModel.ID) async throws(NotificationError) {
        try await route.call("delete") { notifications throws(NotificationError) in try await notifications.delete(id) }
    }
}

extension Routed: NotificationClient, RoutedNotificationClient where Client == any NotificationClient {}
