import Foundation

// The domain clients of an infrastructure. They are rebuilt, on clients that do not switch, whenever one they stand on does.

struct SwitchableUserClient: UserClient {
    let board: Switchboard<any UserClient>

    func currentUser() async throws(UserError) -> UserModel {
        try await board.run { client throws(UserError) in try await client.currentUser() }
    }
    func user(_ id: AuthUser.ID) async throws(UserError) -> UserModel {
        try await board.run { client throws(UserError) in try await client.user(id) }
    }
    func currentUserStream() -> SnapshotStream<UserModel?, UserError> { board.snapshots { $0.currentUserStream() } }
    func userStream(_ id: AuthUser.ID) -> SnapshotStream<UserModel?, UserError> {
        board.snapshots { $0.userStream(id) }
    }
    func updateProfile(_ changes: ProfileChanges) async throws(UserError) {
        try await board.run { client throws(UserError) in try await client.updateProfile(changes) }
    }
    func updateFields(_ updates: FieldUpdates) async throws(UserError) {
        try await board.run { client throws(UserError) in try await client.updateFields(updates) }
    }
    func setProfileImage(_ image: Data, contentType: String) async throws(UserError) -> FilePath {
        try await board.run { client throws(UserError) in
            try await client.setProfileImage(image, contentType: contentType)
        }
    }
    func profileImage(of id: AuthUser.ID) async throws(UserError) -> Data {
        try await board.run { client throws(UserError) in try await client.profileImage(of: id) }
    }
    func removeProfileImage() async throws(UserError) {
        try await board.run { client throws(UserError) in try await client.removeProfileImage() }
    }
}

struct SwitchableContactsClient: ContactsClient {
    let board: Switchboard<any ContactsClient>

    func contacts() async throws(ContactsError) -> [ContactModel] {
        try await board.run { client throws(ContactsError) in try await client.contacts() }
    }
    func contact(_ id: ContactModel.ID) async throws(ContactsError) -> ContactModel {
        try await board.run { client throws(ContactsError) in try await client.contact(id) }
    }
    func contactsStream() -> SnapshotStream<[ContactModel], ContactsError> { board.snapshots { $0.contactsStream() } }
    func add(_ contact: ContactModel) async throws(ContactsError) {
        try await board.run { client throws(ContactsError) in try await client.add(contact) }
    }
    func addMutually(_ contact: ContactModel, me: ContactModel) async throws(ContactsError) {
        try await board.run { client throws(ContactsError) in try await client.addMutually(contact, me: me) }
    }
    func update(_ contact: ContactModel) async throws(ContactsError) {
        try await board.run { client throws(ContactsError) in try await client.update(contact) }
    }
    func remove(_ id: ContactModel.ID) async throws(ContactsError) {
        try await board.run { client throws(ContactsError) in try await client.remove(id) }
    }
    func removeMutually(_ id: ContactModel.ID) async throws(ContactsError) {
        try await board.run { client throws(ContactsError) in try await client.removeMutually(id) }
    }
}

struct SwitchableCheckInClient: CheckInClient {
    let board: Switchboard<any CheckInClient>

    func checkIn() async throws(CheckInError) -> Timestamp {
        try await board.run { client throws(CheckInError) in try await client.checkIn() }
    }
    func history(limit: Int) async throws(CheckInError) -> [CheckInRecord] {
        try await board.run { client throws(CheckInError) in try await client.history(limit: limit) }
    }
    func historyStream(limit: Int) -> SnapshotStream<[CheckInRecord], CheckInError> {
        board.snapshots { $0.historyStream(limit: limit) }
    }
    func schedule() async throws(CheckInError) -> CheckInSchedule {
        try await board.run { client throws(CheckInError) in try await client.schedule() }
    }
    func setSchedule(_ schedule: CheckInSchedule) async throws(CheckInError) {
        try await board.run { client throws(CheckInError) in try await client.setSchedule(schedule) }
    }
    func nextCheckIn() async throws(CheckInError) -> Timestamp? {
        try await board.run { client throws(CheckInError) in try await client.nextCheckIn() }
    }
}

struct SwitchableNotificationClient: NotificationClient {
    let board: Switchboard<any NotificationClient>

    func notifications() async throws(NotificationError) -> [NotificationModel] {
        try await board.run { client throws(NotificationError) in try await client.notifications() }
    }
    func notificationsStream() -> SnapshotStream<[NotificationModel], NotificationError> {
        board.snapshots { $0.notificationsStream() }
    }
    func unreadCount() async throws(NotificationError) -> Int {
        try await board.run { client throws(NotificationError) in try await client.unreadCount() }
    }
    func unreadCountStream() -> SnapshotStream<Int, NotificationError> { board.snapshots { $0.unreadCountStream() } }
    func markAsRead(_ id: NotificationModel.ID) async throws(NotificationError) {
        try await board.run { client throws(NotificationError) in try await client.markAsRead(id) }
    }
    func markAllAsRead() async throws(NotificationError) {
        try await board.run { client throws(NotificationError) in try await client.markAllAsRead() }
    }
    func delete(_ id: NotificationModel.ID) async throws(NotificationError) {
        try await board.run { client throws(NotificationError) in try await client.delete(id) }
    }
}
