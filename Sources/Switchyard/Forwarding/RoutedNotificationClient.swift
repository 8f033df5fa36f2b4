/// Forwards every call along the route.
extension Routed: NotificationClient where Client == any NotificationClient {
    package func notifications() async throws(NotificationError) -> [NotificationModel] {
        try await route.call(.repeatable("notifications")) { notifications throws(NotificationError) in
            try await notifications.notifications()
        }
    }
    package func notificationsStream() -> SnapshotStream<[NotificationModel], NotificationError> {
        route.snapshots("notifications stream") { $0.notificationsStream() }
    }
    package func notificationsSnapshots() -> SnapshotStream<DomainSnapshot<[NotificationModel]>, NotificationError> {
        route.snapshots("notifications snapshots") { $0.notificationsSnapshots() }
    }
    package func unreadCount() async throws(NotificationError) -> Int {
        try await route.call(.repeatable("unread count")) { notifications throws(NotificationError) in
            try await notifications.unreadCount()
        }
    }
    package func unreadCountStream() -> SnapshotStream<Int, NotificationError> {
        route.snapshots("unread count stream") { $0.unreadCountStream() }
    }
    package func unreadCountSnapshots() -> SnapshotStream<DomainSnapshot<Int>, NotificationError> {
        route.snapshots("unread count snapshots") { $0.unreadCountSnapshots() }
    }
    package func markAsRead(_ id: NotificationModel.ID) async throws(NotificationError) {
        try await route.call(.repeatable("mark as read")) { notifications throws(NotificationError) in
            try await notifications.markAsRead(id)
        }
    }
    package func markAllAsRead() async throws(NotificationError) {
        try await route.call(.repeatable("mark all as read")) { notifications throws(NotificationError) in
            try await notifications.markAllAsRead()
        }
    }
    package func delete(_ id: NotificationModel.ID) async throws(NotificationError) {
        try await route.call("delete") { notifications throws(NotificationError) in try await notifications.delete(id) }
    }
}
