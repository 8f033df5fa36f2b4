/// A ``CheckInClient`` on any storage and auth.
public struct DocumentCheckInClient: CheckInClient {
    private let storage: any StorageClient
    private let signedIn: SignedInUser
    private let now: @Sendable () -> Timestamp

    private static let collection: CollectionPath = "checkIns"

    public init(on core: CoreClients) {
        storage = core.storage
        signedIn = SignedInUser(auth: core.auth)
        now = core.now
    }

    public func checkIn() async throws(CheckInError) -> Timestamp {
        let id = try await signedIn.id()
        // Backends keep microseconds, so that the returned time is the one that will be read back.
        let time = Timestamp(microseconds: now().microseconds)
        try await CheckInError.mapping {
            var batch = WriteBatch()
            // A set, since the name is new anyway; so the batch can be repeated safely.
            try batch.set(
                storage.newDocument(in: Self.collection),
                CheckInRecord(id: "", userID: id, checkedInAt: time).fields)
            try batch.merge(UserFields.path(id), ["lastCheckInAt": .of(time)])
            _ = try await storage.commit(batch)
        }
        return time
    }

    public func history(limit: Int) async throws(CheckInError) -> [CheckInRecord] {
        let id = try await signedIn.id()
        return try await CheckInError.mapping {
            try await storage.documents(Self.newest(limit, of: id)).documents.compactMap { CheckInRecord($0) }
        }
    }

    public func historyStream(limit: Int) -> SnapshotStream<[CheckInRecord], CheckInError> {
        let storage = storage
        return signedIn.stream { id throws(StorageError) in
            storage.snapshots(of: Self.newest(limit, of: id))
                .mapElements { $0.documents.compactMap { CheckInRecord($0) } }
        }
    }

    public func historySnapshots(limit: Int) -> SnapshotStream<DomainSnapshot<[CheckInRecord]>, CheckInError> {
        let storage = storage
        return signedIn.stream { id throws(StorageError) in
            storage.snapshots(of: Self.newest(limit, of: id), options: .withMetadata)
                .mapElements { .list($0) { CheckInRecord($0) } }
        }
    }

    public func schedule() async throws(CheckInError) -> CheckInSchedule {
        let user = try await user()
        return CheckInSchedule(storedInterval: user.checkInInterval, storedReminder: user.reminderInterval)
    }

    public func setSchedule(_ schedule: CheckInSchedule) async throws(CheckInError) {
        try await store([
            UserFields.checkInInterval: .of(schedule.interval.inSeconds),
            UserFields.reminderInterval: .of(schedule.reminder.inSeconds),
        ])
    }

    public func setInterval(_ interval: Duration) async throws(CheckInError) {
        let valid = try CheckInSchedule(interval: interval)
        try await store([UserFields.checkInInterval: .of(valid.interval.inSeconds)])
    }

    public func setReminder(_ reminder: Duration) async throws(CheckInError) {
        let valid = try CheckInSchedule(interval: try await schedule().interval, reminder: reminder)
        try await store([UserFields.reminderInterval: .of(valid.reminder.inSeconds)])
    }

    public func nextCheckIn() async throws(CheckInError) -> Timestamp? { try await user().nextCheckInAt }

    private func store(_ fields: WriteFields) async throws(CheckInError) {
        let id = try await signedIn.id()
        try await CheckInError.mapping { try await storage.mergeDocument(UserFields.path(id), fields) }
    }

    private func user() async throws(CheckInError) -> UserModel {
        let id = try await signedIn.id()
        return try await CheckInError.mapping {
            UserModel(try await storage.document(UserFields.path(id))) ?? UserModel(id: id)
        }
    }

    private static func newest(_ limit: Int, of id: AuthUser.ID) -> Query {
        Query(in: collection).where("userID", .equal, id).ordered(by: "checkedInAt", .descending).limited(to: limit)
    }
}
