/// A ``NotificationClient`` on any storage and auth.
public struct DocumentNotificationClient: NotificationClient {
    private let storage: any StorageClient
    private let signedIn: SignedInUser

    public init(on core: CoreClients) {
        storage = core.storage
        signedIn = SignedInUser(auth: core.auth)
    }

    public func notifications() async throws(NotificationError) -> [NotificationModel] {
        let id = try await signedIn.id()
        return try await NotificationError.mapping {
            try await storage.documents(Self.present(id)).documents.compactMap { NotificationModel($0) }
        }
    }

    public func notificationsStream() -> SnapshotStream<[NotificationModel], NotificationError> {
        let storage = storage
        return signedIn.stream { id throws(StorageError) in
            storage.snapshots(of: Self.present(id))
                .mapElements { $0.documents.compactMap { NotificationModel($0) } }
        }
    }

    public func notificationsSnapshots() -> SnapshotStream<DomainSnapshot<[NotificationModel]>, NotificationError> {
        let storage = storage
        return signedIn.stream { id throws(StorageError) in
            storage.snapshots(of: Self.present(id), options: .withMetadata)
                .mapElements { .list($0) { NotificationModel($0) } }
        }
    }

    public func unreadCount() async throws(NotificationError) -> Int {
        let id = try await signedIn.id()
        return try await NotificationError.mapping { try await storage.count(Self.unread(id)) }
    }

    public func unreadCountStream() -> SnapshotStream<Int, NotificationError> {
        let storage = storage
        return signedIn.stream { id throws(StorageError) in
            storage.snapshots(of: Self.unread(id)).mapElements { $0.count }
        }
    }

    public func unreadCountSnapshots() -> SnapshotStream<DomainSnapshot<Int>, NotificationError> {
        let storage = storage
        return signedIn.stream { id throws(StorageError) in
            storage.snapshots(of: Self.unread(id), options: .withMetadata)
                .mapElements { DomainSnapshot($0, $0.count) }
        }
    }

    public func markAsRead(_ notification: NotificationModel.ID) async throws(NotificationError) {
        try await update(notification, ["isRead": true])
    }

    public func markAllAsRead() async throws(NotificationError) {
        let id = try await signedIn.id()
        try await NotificationError.mapping {
            let unread = try await storage.documents(Self.unread(id)).documents.map(\.path)
            let size = min(200, storage.capabilities.maximumBatchSize ?? 200)
            for start in stride(from: 0, to: unread.count, by: size) {
                var batch = WriteBatch()
                for path in unread[start..<min(start + size, unread.count)] {
                    try batch.update(path, ["isRead": true])
                }
                _ = try await storage.commit(batch)
            }
        }
    }

    public func delete(_ notification: NotificationModel.ID) async throws(NotificationError) {
        try await update(notification, ["isDeleted": true])
    }

    private func update(
        _ notification: NotificationModel.ID, _ updates: FieldUpdates
    ) async throws(NotificationError) {
        let id = try await signedIn.id()
        try await NotificationError.mapping {
            let path = Self.collection(id).document(notification)
            if try await storage.foresees(path) == false {
                throw NotificationError(.notFound, "The notification does not exist.")
            }
            try await storage.updateDocument(path, updates)
        }
    }

    private static func collection(_ id: AuthUser.ID) -> CollectionPath {
        UserFields.path(id).collection("notifications")
    }

    private static func present(_ id: AuthUser.ID) -> Query {
        Query(in: collection(id)).where("isDeleted", .equal, false).ordered(by: "sentAt", .descending)
    }

    private static func unread(_ id: AuthUser.ID) -> Query {
        Query(in: collection(id)).where("isDeleted", .equal, false).where("isRead", .equal, false)
    }
}
