// Accounts on one backend, documents and files on another, and a switch while streams run.
import Foundation
import LocalProjects
import Switchyard

let projects = try await LocalProjects.start()
print("running on \(projects.description)")
let backend = try await projects.makeDevice()

let user = try await backend.auth.signUp(email: "alice@example.com", password: "correct horse battery").get()

func provider(of service: InfrastructureService) async -> String {
    await backend.selection.provider(for: service)?.rawValue ?? "none"
}
print(
    "auth on \(await provider(of: .auth)), documents on \(await provider(of: .storage)), files on \(await provider(of: .files))"
)

// The domain clients use the storage, with the session of the other backend.
try await backend.users.updateProfile(ProfileChanges(displayName: "Alice"))
try await backend.users.setProfileImage(Data("a picture".utf8), contentType: "image/png")
print("profile of \(user.id == (try await backend.users.currentUser().id) ? "the signed-in user" : "somebody else")")

// An invalid choice is an error, and changes nothing.
do throws(InfrastructureError) {
    try await backend.use("unknown", for: .storage)
} catch {
    print("refused: \(error.message)")
}

// A stream survives the switch of its backend: documents move to the backend with the accounts.
let notes = Query(in: "notes")
try await backend.storage.setDocument("notes/1", ["text": "at the first place"])
var isMoved = false
for try await snapshot in backend.storage.snapshots(of: notes) {
    let texts = snapshot.documents.compactMap { $0["text"]?.stringValue }
    print("\(await provider(of: .storage)): \(texts.isEmpty ? "no notes" : texts.joined(separator: ", "))")
    if !isMoved {
        isMoved = true
        let report = try await backend.use(projects.auth, for: .storage)
        print("moved: \(report)")
        try await backend.storage.setDocument("notes/1", ["text": "at the second place"])
    } else if texts == ["at the second place"] {
        break
    }
}
print("still signed in: \(await backend.auth.currentUser != nil)")
await backend.shutDown()
await projects.stop()
