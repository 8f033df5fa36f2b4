import Foundation
import Switchyard
import SwitchyardMock
import Testing

/// The models of the domain clients as values that are saved, and as documents.
@Suite struct ModelCodingTests {
    private static let time = Timestamp(Date(timeIntervalSince1970: 1_700_000_000.25))
    private let user = UserModel(
        id: "alice", email: "alice@example.com", displayName: "Alice", phoneNumber: "+49",
        imagePath: "users/alice/profile",
        createdAt: time, lastCheckInAt: time, checkInInterval: .seconds(3600), reminderInterval: .seconds(90))
    private let contact = ContactModel(
        id: "bob", name: "Bob", email: "bob@example.com", phoneNumber: "+1", note: "Next door", isResponder: true,
        isDependent: true, addedAt: time)
    private let checkIn = CheckInRecord(id: "1", userID: "alice", checkedInAt: time, recordedAt: time)
    private let notification = NotificationModel(
        id: "n", title: "Title", body: "Body", kind: "missed", sentAt: time, isRead: true)

    private func savedAndRead<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }

    private func stored(_ fields: WriteFields, _ path: StoragePath) async throws -> DocumentSnapshot {
        let storage = MockStorageClient()
        try await storage.setDocument(path, fields)
        return try await storage.document(path)
    }

    @Test func `What is saved is read back`() throws {
        #expect(try savedAndRead(user) == user)
        #expect(try savedAndRead(UserModel(id: "a")) == UserModel(id: "a"))
        #expect(try savedAndRead(contact) == contact)
        #expect(try savedAndRead(ContactModel(id: "a", name: "A")) == ContactModel(id: "a", name: "A"))
        #expect(try savedAndRead(checkIn) == checkIn)
        #expect(try savedAndRead(notification) == notification)
    }

    @Test func `An estimate stays one`() async throws {
        let storage = MockStorageClient()
        try await storage.disableNetwork()
        try await storage.setDocument(
            "checkIns/1", CheckInRecord(id: "1", userID: "alice", checkedInAt: Self.time).fields)
        let record = try #require(CheckInRecord(try await storage.document("checkIns/1")))
        #expect(record.recordedAt?.isEstimate == true)
        #expect(try savedAndRead(record) == record)
    }

    @Test func `Fields make the document that the model is made of`() async throws {
        #expect(UserModel(try await stored(user.fields, "users/alice")) == user)
        #expect(ContactModel(try await stored(contact.fields, "users/alice/contacts/bob")) == contact)
        #expect(CheckInRecord(try await stored(checkIn.fields, "checkIns/1")) == checkIn)
        #expect(NotificationModel(try await stored(notification.fields, "users/a/notifications/n")) == notification)
        #expect(
            try await stored(UserModel(id: "a").fields, "users/a").data?.names == [
                "checkInInterval", "reminderInterval",
            ])
    }

    @Test func `A missing document is no model, nor is one without what the model needs`() throws {
        #expect(UserModel(.missing("users/a")) == nil && ContactModel(.missing("users/a/contacts/b")) == nil)
        #expect(CheckInRecord(.existing("checkIns/1", ["userID": "a"])) == nil)
        let error = #expect(throws: StorageError.self) {
            try CheckInRecord(document: .existing("checkIns/1", ["userID": "a"]))
        }
        #expect(error?.code == .codingFailed && error?.message.contains("“checkIns/1” is not a CheckInRecord") == true)
    }

    @Test func `A typed collection has models as its values, and their fields are what it writes`() async throws {
        let storage = MockStorageClient()
        let contacts = storage.collection("users/alice/contacts", of: ContactModel.self)
        try await contacts.document("bob").set(contact)
        #expect(try await contacts.where(\.isResponder, .equal, true).documents().map { $0 } == [contact])
        #expect(try await storage.document("users/alice/contacts/bob").data?["id"] == nil)
        #expect(try await contacts.document("bob").get() == contact)
        let users = storage.collection("users", of: UserModel.self)
        try await users.document("alice").merge(user)
        #expect(try await users.document("alice").get() == user)
    }

    @Test func `As other coded types, models are read from documents by name, and written without it`() async throws {
        let storage = MockStorageClient()
        try await storage.setDocument("users/alice/contacts/bob", from: contact)
        #expect(try await storage.document("users/alice/contacts/bob").data?["id"] == nil)
        #expect(try await storage.document("users/alice/contacts/bob", as: ContactModel.self) == contact)
        try await storage.setDocument("users/alice", from: user)
        #expect(try await storage.document("users/alice", as: UserModel.self) == user)
        #expect(UserModel(try await storage.document("users/alice")) == user)
        try await storage.setDocument("checkIns/1", from: checkIn)
        #expect(try await storage.document("checkIns/1", as: CheckInRecord.self) == checkIn)
        try await storage.setDocument("users/alice/notifications/n", from: notification)
        #expect(
            try await storage.document("users/alice/notifications/n", as: NotificationModel.self) == notification)
    }
}
