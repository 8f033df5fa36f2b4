// Auth here, documents there, files somewhere else — and a move while streams run.
import Foundation
import Switchyard

let factory = InfrastructureFactory(CompanyModule<Doorman>(), CompanyModule<Library>(), CompanyModule<Attic>())

var selection = InfrastructureSelection(default: .library)
selection.auth = .doorman
selection.files = .attic
selection.omit(.messaging)
let backend = try await factory.make(selection)

let user = try await backend.auth.signUp(email: "alice@example.com", password: "correct horse battery")

func provider(of service: InfrastructureService) async -> String {
    await backend.selection.provider(for: service)?.rawValue ?? "nobody"
}
print(
    "auth on \(await provider(of: .auth)), documents on \(await provider(of: .storage)), files on \(await provider(of: .files))"
)

// The domain clients live in the storage, with the session of the other company.
try await backend.users.updateProfile(ProfileChanges(displayName: "Alice"))
try await backend.users.setProfileImage(Data("a picture".utf8), contentType: "image/png")
print("profile of \(user.id == (try await backend.users.currentUser().id) ? "the signed-in user" : "somebody else")")

// A choice that cannot be kept is an error, and nothing has changed.
do throws(InfrastructureError) {
    try await backend.use(.doorman, for: .storage)
} catch {
    print("refused: \(error.message)")
}

// A stream that does not notice that its backend is exchanged.
let notes = Query(in: "notes")
try await backend.storage.setDocument("notes/1", ["text": "in the library"])
var step = 0
for try await snapshot in backend.storage.snapshots(of: notes) {
    let texts = snapshot.documents.compactMap { $0["text"]?.stringValue }
    print("\(await provider(of: .storage)): \(texts.isEmpty ? "no notes" : texts.joined(separator: ", "))")
    step += 1
    if step == 1 {
        let report = try await backend.use(.attic, for: .storage)
        let moves = report.moves.map { "\($0.service) from \($0.from?.rawValue ?? "–") to \($0.to?.rawValue ?? "–")" }
        print("moved: \(moves.joined(separator: ", "))")
        try await backend.storage.setDocument("notes/1", ["text": "in the attic"])
    } else if texts == ["in the attic"] {
        break
    }
}
print("still signed in: \(await backend.auth.currentUser != nil)")
await backend.shutDown()
