public import Switchyard

/// A notification client for the tests of one feature: you set the calls that the feature makes, and every other one refuses by name.
///
/// ```swift
/// let notifications = StubNotificationClient(unreadCountStream: { .just(3) })
/// ```
///
/// Where only the plain stream of two is set, the one that tells more is derived from it.
public struct StubNotificationClient: NotificationClient {
    /// What the stub answers by itself; `nil` for what it leaves to the client that it was made over.
    public struct Calls: Sendable {
        public var notifications: (@Sendable () async throws -> [NotificationModel])?
        public var notificationsStream: (@Sendable () -> SnapshotStream<[NotificationModel], NotificationError>)?
        public var notificationsSnapshots:
            (@Sendable () -> SnapshotStream<DomainSnapshot<[NotificationModel]>, NotificationError>)?
        public var unreadCount: (@Sendable () async throws -> Int)?
        public var unreadCountStream: (@Sendable () -> SnapshotStream<Int, NotificationError>)?
        public var unreadCountSnapshots: (@Sendable () -> SnapshotStream<DomainSnapshot<Int>, NotificationError>)?
        public var markAsRead: (@Sendable (NotificationModel.ID) async throws -> Void)?
        public var markAllAsRead: (@Sendable () async throws -> Void)?
        public var delete: (@Sendable (NotificationModel.ID) async throws -> Void)?
    }

    public var calls = Calls()
    private let base: any NotificationClient

    /// - Parameters:
    ///   - base: Answers what is not set: a mock, or by default a client that refuses everything by name. `UnsetClients` has one
    ///     that also records a failure of the test.
    ///   - set: Sets the calls.
    public init(
        over base: any NotificationClient = UnsetClients.stubs.notifications, _ set: (inout Calls) -> Void = { _ in }
    ) {
        self.base = base
        set(&calls)
    }

    /// A stub that answers these calls and refuses every other one by name.
    public init(
        notifications: (@Sendable () async throws -> [NotificationModel])? = nil,
        notificationsStream: (@Sendable () -> SnapshotStream<[NotificationModel], NotificationError>)? = nil,
        notificationsSnapshots: (
            @Sendable () -> SnapshotStream<DomainSnapshot<[NotificationModel]>, NotificationError>
        )? = nil,
        unreadCount: (@Sendable () async throws -> Int)? = nil,
        unreadCountStream: (@Sendable () -> SnapshotStream<Int, NotificationError>)? = nil,
        unreadCountSnapshots: (@Sendable () -> SnapshotStream<DomainSnapshot<Int>, NotificationError>)? = nil,
        markAsRead: (@Sendable (NotificationModel.ID) async throws -> Void)? = nil,
        markAllAsRead: (@Sendable () async throws -> Void)? = nil,
        delete: (@Sendable (NotificationModel.ID) async throws -> Void)? = nil
    ) {
        self.init {
            $0.notifications = notifications
            $0.notificationsStream = notificationsStream
            $0.notificationsSnapshots = notificationsSnapshots
            $0.unreadCount = unreadCount
            $0.unreadCountStream = unreadCountStream
            $0.unreadCountSnapshots = unreadCountSnapshots
            $0.markAsRead = markAsRead
            $0.markAllAsRead = markAllAsRead
            $0.delete = delete
        }
    }

    // MARK: Requirements

    public func notifications() async throws(NotificationError) -> [NotificationModel] {
        try await stubbed(NotificationError.self) { try await (calls.notifications ?? base.notifications)() }
    }
    public func notificationsStream() -> SnapshotStream<[NotificationModel], NotificationError> {
        (calls.notificationsStream ?? base.notificationsStream)()
    }
    public func notificationsSnapshots() -> SnapshotStream<DomainSnapshot<[NotificationModel]>, NotificationError> {
        if calls.notificationsSnapshots == nil, let notificationsStream = calls.notificationsStream {
            return notificationsStream().asDomainSnapshots()
        }
        return (calls.notificationsSnapshots ?? base.notificationsSnapshots)()
    }
    public func unreadCount() async throws(NotificationError) -> Int {
        try await stubbed(NotificationError.self) { try await (calls.unreadCount ?? base.unreadCount)() }
    }
    public func unreadCountStream() -> SnapshotStream<Int, NotificationError> {
        (calls.unreadCountStream ?? base.unreadCountStream)()
    }
    public func unreadCountSnapshots() -> SnapshotStream<DomainSnapshot<Int>, NotificationError> {
        if calls.unreadCountSnapshots == nil, let unreadCountStream = calls.unreadCountStream {
            return unreadCountStream().asDomainSnapshots()
        }
        return (calls.unreadCountSnapshots ?? base.unreadCountSnapshots)()
    }
    public func markAsRead(_ id: NotificationModel.ID) async throws(NotificationError) {
        try await stubbed(NotificationError.self) { try await (calls.markAsRead ?? base.markAsRead)(id) }
    }
    public func markAllAsRead() async throws(NotificationError) {
        try await stubbed(NotificationError.self) { try await (calls.markAllAsRead ?? base.markAllAsRead)() }
    }
    public func delete(_ id: NotificationModel.ID) async throws(NotificationError) {
        try await stubbed(NotificationError.self) { try await (calls.delete ?? base.delete)(id) }
    }
}
