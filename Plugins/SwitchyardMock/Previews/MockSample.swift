public import Foundation
public import Switchyard

/// A small sample project for previews and demos: three people with contacts, check-ins, notifications and a picture.
public enum MockSample {
    /// The signed-in user of preview clients.
    public static let email = "alice@example.com"
    public static let password: Secret = "preview"
    public static let userID: AuthUser.ID = "alice"

    /// The documents, by path. Times count back from `now`.
    public static func documents(now: Timestamp) -> [(path: StoragePath, data: DocumentData)] {
        func ago(_ hours: Int64) -> DocumentValue {
            .timestamp(Timestamp(microseconds: now.microseconds - hours * 3_600_000_000))
        }
        func person(_ id: String, _ name: String, _ hours: Int64) -> DocumentData {
            [
                "displayName": .string(name), "email": .string("\(id)@example.com"), "createdAt": ago(2_000),
                "lastCheckInAt": ago(hours), "checkInInterval": 86_400, "reminderInterval": 7_200,
            ]
        }
        func contact(_ id: String, _ name: String, isResponder: Bool) -> DocumentData {
            [
                "name": .string(name), "email": .string("\(id)@example.com"), "isResponder": .bool(isResponder),
                "isDependent": .bool(!isResponder), "addedAt": ago(900),
            ]
        }
        func checkIn(_ id: String, _ hours: Int64) -> DocumentData {
            ["userID": .string(id), "checkedInAt": ago(hours), "recordedAt": ago(hours)]
        }
        func notification(_ title: String, _ body: String, _ hours: Int64, isRead: Bool) -> DocumentData {
            [
                "title": .string(title), "body": .string(body), "kind": "sample", "sentAt": ago(hours),
                "isRead": .bool(isRead), "isDeleted": false,
            ]
        }
        return [
            ("users/alice", person("alice", "Alice Example", 3)),
            ("users/bob", person("bob", "Bob Sample", 20)),
            ("users/carol", person("carol", "Carol Specimen", 30)),
            ("users/alice/contacts/bob", contact("bob", "Bob Sample", isResponder: true)),
            ("users/alice/contacts/carol", contact("carol", "Carol Specimen", isResponder: false)),
            ("users/bob/contacts/alice", contact("alice", "Alice Example", isResponder: false)),
            ("checkIns/sample-1", checkIn("alice", 3)),
            ("checkIns/sample-2", checkIn("alice", 27)),
            ("checkIns/sample-3", checkIn("bob", 20)),
            (
                "users/alice/notifications/sample-1",
                notification("Carol has not checked in", "The last time was yesterday.", 2, isRead: false)
            ),
            ("users/alice/notifications/sample-2", notification("Bob added you", "", 900, isRead: true)),
        ]
    }

    /// Adds the missing parts of the sample to `backend`.
    static func fill(_ backend: MockBackend) throws(InfrastructureError) {
        do throws(StorageError) {
            try backend.seed(documents(now: backend.database.now()))
        } catch {
            throw InfrastructureError.wrapping(error)
        }
        let now = backend.accounts.now()
        backend.accounts.change { state in
            guard state.accounts[userID] == nil else { return }
            var account = MockAccount(id: userID, at: now.date)
            account.email = email
            account.isEmailVerified = true
            account.displayName = "Alice Example"
            account.setPassword(password)
            state.accounts[userID] = account
        }
        do throws(FileStorageError) {
            guard backend.files.read({ $0.files.isEmpty }) else { return }
            _ = try backend.files.store(Data(picture.utf8), at: "avatars/alice.svg", UploadOptions())
        } catch {
            throw InfrastructureError.wrapping(error)
        }
    }

    private static let picture =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 8 8\"><circle cx=\"4\" cy=\"4\" r=\"4\"/></svg>"
}

extension MockBackend {
    /// Creates a project that starts with ``MockSample``.
    public static func sample(now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }) -> MockBackend {
        let backend = MockBackend(now: now)
        // The sample has only valid values; a test checks that.
        try? backend.addSample()
        return backend
    }

    /// Adds the missing parts of ``MockSample``.
    public func addSample() throws(InfrastructureError) { try MockSample.fill(self) }

    /// Adds documents directly, without a client: for tests and demos.
    ///
    /// Existing documents stay. Live streams are updated.
    public func seed(_ documents: [(path: StoragePath, data: DocumentData)]) throws(StorageError) {
        var writes: [DocumentWrite] = []
        for (path, data) in documents where !database.withState({ $0.documents[path] != nil }) {
            writes.append(try .set(path, WriteFields(data)))
        }
        guard !writes.isEmpty else { return }
        let now = database.now()
        try database.change { [writes] state throws(StorageError) in
            let (_, actions) = try state.commit(writes, id: "seed-\(state.version)", at: now, by: MockDevice())
            return ((), actions)
        }
        save()
    }
}
