// What people write who come from another library. `.ci/names` type-checks it: each line must get the message beside it.
import Foundation
import Switchyard

func uses(storage: any StorageClient, auth: any AuthClient, files: any FileStorageClient) async throws {
    let users = storage.collection("users")
    let alice = users.document("alice")
    let adults = users.where("age", .greaterThan, 17)
    let path = "users/alice"
    let fields: [String: Any] = ["name": "Alice", "age": 40]

    // Documents
    storage.setData(["name": "Alice", "age": 40], at: path)  // use setDocument(_:_:), or mergeDocument(_:_:)
    storage.setData(fields, at: "users/alice", merge: true)  // use setDocument(_:_:), or mergeDocument(_:_:)
    _ = storage.getDocument(path)  // use document(_:), or
    _ = storage.getDocument(at: "users/alice")  // use document(_:), or
    _ = storage.getDocuments(adults)  // use documents(_:) with a Query
    _ = storage.getDocuments(in: "users")  // use documents(_:) with a Query
    storage.documentStream(path)  // use snapshots(of:) with a path
    storage.documentStream(at: path)  // use snapshots(of:) with a path
    storage.listenToCollection("users")  // use snapshots(of:) with a Query
    storage.listenToCollection(at: "users")  // use snapshots(of:) with a Query
    alice.setData(["name": "Alice", "age": 40])  // use set(_:), or merge(_:)
    alice.setData(fields, merge: true)  // use set(_:), or merge(_:)
    alice.setData(from: path)  // use set(_:) of a typed document
    alice.updateData(["name": "Alice"])  // use update(_:)
    _ = alice.getDocument()  // use get()
    _ = alice.getDocument(as: String.self)  // use get(as:)
    alice.addSnapshotListener { snapshot, error in  // use stream(): for try await
    }
    _ = users.getDocuments()  // use documents()
    _ = adults.getDocuments()  // use documents()
    adults.addSnapshotListener(includeMetadataChanges: true) { snapshot, error in  // use stream(): for try await
    }
    _ = users.addDocument(data: ["name": "Bob"])  // use add(_:)
    _ = users.addDocument(from: path)  // use add(_:) of a typed collection

    // Accounts
    auth.signIn(withEmail: "a@example.com", password: "secret")  // use signIn(email:password:)
    auth.createUser(withEmail: "a@example.com", password: "secret")  // use signUp(email:password:)
    auth.createUser(email: "a@example.com", password: "secret")  // use signUp(email:password:)
    auth.updatePassword(to: "secret")  // use changePassword(to:)
    auth.updatePassword("secret")  // use changePassword(to:)
    auth.updateEmail(to: "a@example.com")  // use changeEmail(to:)
    auth.updateEmail("a@example.com")  // use changeEmail(to:)
    auth.updateProfile(displayName: "Alice")  // use updateAccount(_:)
    auth.resetPassword(email: "a@example.com")  // use sendPasswordReset(to:)
    auth.resetPasswordForEmail("a@example.com")  // use sendPasswordReset(to:)
    auth.sendPasswordReset(withEmail: "a@example.com")  // use sendPasswordReset(to:)

    // Files
    files.putData(Data(), at: "a.txt")  // use put(_:at:)
    files.putData(Data(), metadata: nil)  // use put(_:at:)
    files.putFile(from: URL(fileURLWithPath: "/tmp/a"))  // use upload(_:to:)
    _ = files.getData(maxSize: 1 << 20)  // use data(at:limit:)
    _ = files.getData(at: "a.txt")  // use data(at:limit:)
    _ = files.downloadURL()  // use downloadURL(of:)
}
