import Foundation
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@Suite struct `Access to a local Firebase` {
    @Test func `What lies below a person is that person's`() async throws {
        let client = try LocalClient()
        let ada = client.firebase.idToken(for: "ada")
        let bob = client.firebase.idToken(for: "bob")
        let note = LocalClient.set("users/ada/notes/1", ["t": ["stringValue": "secret"]])
        #expect(try await client.commit(note, as: bob).status == 403)
        #expect(try await client.commit(note).status == 403)
        #expect(try await client.commit(note, as: ada).status == 200)
        #expect(try await client.firestore(.get, "users/ada/notes/1", as: ada).status == 200)
        #expect(try await client.firestore(.get, "users/ada/notes/1", as: bob).errorStatus == "PERMISSION_DENIED")
        #expect(try await client.firestore(.get, "users/ada/notes/1", as: "owner").status == 200)
        let notes: JSON = ["from": [["collectionId": "notes"]]]
        #expect(try await client.query(notes, below: "users/ada", as: ada) == ["users/ada/notes/1"])
        #expect(try await client.query(notes, below: "users/ada", as: bob) == ["PERMISSION_DENIED"])
        let everywhere: JSON = ["from": [["collectionId": "notes", "allDescendants": true]]]
        #expect(try await client.query(everywhere, as: ada) == ["PERMISSION_DENIED"])
        await client.stop()
    }

    @Test func `Profiles are for all who are signed in, and documents with an owner are the owner's to write`()
        async throws
    {
        let client = try LocalClient()
        let ada = client.firebase.idToken(for: "ada")
        let bob = client.firebase.idToken(for: "bob")
        #expect(try await client.commit(LocalClient.set("users/ada", [:]), as: ada).status == 200)
        #expect(try await client.firestore(.get, "users/ada", as: bob).status == 200)
        #expect(try await client.firestore(.get, "users/ada").status == 403)
        #expect(try await client.commit(LocalClient.set("users/ada", [:]), as: bob).status == 403)
        let owned = LocalClient.set("posts/1", ["owner": ["stringValue": "ada"]])
        #expect(try await client.commit(owned, as: bob).status == 403)
        #expect(try await client.commit(owned, as: ada).status == 200)
        #expect(try await client.firestore(.get, "posts/1", as: bob).status == 200)
        #expect(try await client.commit(["delete": LocalClient.name("posts/1")], as: bob).status == 403)
        #expect(try await client.commit(LocalClient.set("posts/2", [:]), as: bob).status == 200)
        await client.stop()
    }

    @Test func `A forged token is refused, an expired one too, and neither is taken for no one's`() async throws {
        let time = LocalTime()
        let client = try LocalClient(time: time, isOpen: true)
        let token = client.firebase.idToken(for: "ada")
        #expect(try await client.firestore(.get, "c/a", as: token).status == 404)
        let forged = try await client.firestore(.get, "c/a", as: token + "x")
        #expect(forged.status == 401)
        #expect(forged.errorStatus == "UNAUTHENTICATED")
        let header = Base64.encode(JSON.object(["alg": "none"]).bytes(), alphabet: .url)
        let claims = Base64.encode(JSON.object(["sub": "ada"]).bytes(), alphabet: .url)
        #expect(try await client.firestore(.get, "c/a", as: "\(header).\(claims).").status == 401)
        time.advance(by: 3600)
        #expect(try await client.firestore(.get, "c/a", as: token).status == 401)
        let elsewhere = "/v1/projects/other/databases/(default)/documents/c/a"
        let fresh = client.firebase.idToken(for: "ada")
        #expect(try await client.send(.get, elsewhere, authorization: "Bearer \(fresh)").status == 401)
        await client.stop()
    }

    @Test func `A token of another project is refused with both projects and what to do`() async throws {
        var options = LocalFirebaseOptions()
        options.project = "mine"
        let other = try LocalClient(options)
        let foreign = other.firebase.idToken(for: "ada")
        await other.stop()
        let client = try LocalClient()
        let away = try await client.firestore(.get, "c/a", as: foreign).json["error"]?["message"]?.string ?? ""
        #expect(away.contains("to the project “mine”, and the call is for “demo-switchyard”. Sign in again"))
        let asked =
            try await client.send(
                .get, "/v1/projects/mine/databases/(default)/documents/c/a",
                authorization: "Bearer \(client.firebase.idToken(for: "ada"))"
            ).json["error"]?["message"]?.string ?? ""
        #expect(asked.contains("Set project to “demo-switchyard” in Firebase's configuration"))
        let file = try await client.send(.get, "/v0/b/photos/o/a", authorization: "Firebase \(foreign)")
        #expect(file.status == 401)
        #expect(file.json["error"]?["message"]?.string == away)
        let damaged = try await client.firestore(.get, "c/a", as: "x.y.z").json["error"]?["message"]?.string ?? ""
        #expect(damaged.contains("for the project “demo-switchyard”") && damaged.contains("Sign in again."))
        await client.stop()
    }

    @Test func `Documents outlive the server, whatever was being written when it ended`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("local-\(RandomID.make())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let time = LocalTime()
        let first = try LocalClient(time: time, folder: folder, isOpen: true)
        for index in 0..<20 {
            _ = try await first.commit(LocalClient.set("c/d\(index)", ["n": LocalClient.integer(index)]))
        }
        _ = try await first.commit(["delete": LocalClient.name("c/d3")])
        let version = try await first.firestore(.get, "c/d4").json["updateTime"]
        await first.stop()
        let file = folder.appendingPathComponent("documents.jsonl")
        let whole = try Data(contentsOf: file)
        try (whole + Data(#"{"project":"demo-switch"#.utf8)).write(to: file)

        let second = try LocalClient(time: time, folder: folder, isOpen: true)
        #expect(try await second.query(["from": [["collectionId": "c"]]]).count == 19)
        #expect(try await second.firestore(.get, "c/d4").json["updateTime"] == version)
        let later = try await second.commit(LocalClient.set("c/d4", [:])).json["commitTime"]?.string ?? ""
        #expect(later > (version?.string ?? ""))
        await second.stop()
    }
}
