import Foundation
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@Suite struct `Accounts of a local Firebase` {
    private func administer(_ client: LocalClient, _ project: String, _ call: String, _ body: JSON) async throws
        -> LocalClient.Answer
    {
        try await client.send(
            .post, "/identitytoolkit.googleapis.com/v1/projects/\(project)/\(call)", body, authorization: "Bearer owner"
        )
    }

    @Test func `Every project has accounts of its own, also after a restart`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("local-\(RandomID.make())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var options = LocalFirebaseOptions()
        options.folder = folder
        let client = try LocalClient(options)
        for project in ["demo-switchyard", "demo-other"] {
            let made = try await administer(
                client, project, "accounts", ["localId": "ann", "email": "ann@example.com", "password": "s3cret!!"])
            #expect(made.status == 200)
        }
        _ = try await client.send(.delete, "/emulator/v1/projects/demo-switchyard/accounts")
        await client.stop()
        let again = try LocalClient(options)
        for (project, isThere) in [("demo-switchyard", false), ("demo-other", true), ("demo-third", false)] {
            let found = try await administer(again, project, "accounts:lookup", ["localId": ["ann"]])
            #expect(found.status == 200)
            #expect((found.json["users"] != nil) == isThere, "\(project)")
        }
        await again.stop()
    }

    @Test func `A token counts for the documents of its project`() async throws {
        let client = try LocalClient()
        let claims: JSON = [
            "iss": "https://securetoken.google.com/demo-other", "aud": "demo-other", "sub": "ann", "iat": 0,
            "exp": 3600,
        ]
        let token = [JSON.object(["alg": "none", "type": "JWT"]), claims].map {
            Base64.encode($0.bytes(), alphabet: .url) + "."
        }.joined()
        func read(_ project: String) async throws -> Int {
            try await client.send(
                .get, "/v1/projects/\(project)/databases/(default)/documents/c/a", authorization: "Bearer " + token
            ).status
        }
        #expect(try await read("demo-other") == 404)
        #expect(try await read("demo-switchyard") == 401)
        await client.stop()
    }

    @Test func `A taken ID counts before a taken address, and a full page has a token`() async throws {
        let client = try LocalClient()
        let ann: JSON = ["localId": "ann", "email": "ann@example.com"]
        #expect(try await administer(client, "demo-switchyard", "accounts", ann).status == 200)
        #expect(try await administer(client, "demo-switchyard", "accounts", ann).error == "DUPLICATE_LOCAL_ID")
        let list = "/identitytoolkit.googleapis.com/v1/projects/demo-switchyard/accounts:batchGet?maxResults=1"
        let page = try await client.send(.get, list, authorization: "Bearer owner")
        #expect(page.json["nextPageToken"] == "ann")
        let next = try await client.send(.get, list + "&nextPageToken=ann", authorization: "Bearer owner")
        #expect(next.json["users"] == [])
        #expect(next.json["nextPageToken"] == nil)
        await client.stop()
    }

    @Test func `Imported accounts keep their times, and show whether they are disabled`() async throws {
        let client = try LocalClient()
        let users: JSON = [
            [
                "localId": "a", "createdAt": "1500000000000", "lastLoginAt": "1600000000000",
                "validSince": "1550000000", "disabled": true,
            ], ["localId": "b"],
        ]
        _ = try await administer(client, "demo-switchyard", "accounts:batchCreate", ["users": users])
        func look(_ id: String) async throws -> JSON? {
            try await administer(client, "demo-switchyard", "accounts:lookup", ["localId": [.string(id)]])
                .json["users"]?[0]
        }
        let first = try await look("a")
        #expect(first?["createdAt"] == "1500000000000")
        #expect(first?["lastLoginAt"] == "1600000000000")
        #expect(first?["validSince"] == "1550000000")
        #expect(first?["disabled"] == true)
        let second = try await look("b")
        #expect(second?["lastLoginAt"] == nil)
        #expect(second?["disabled"] == false)
        await client.stop()
    }

    @Test func `Somebody who signs up is signed in, is found, and can come back`() async throws {
        let client = try LocalClient()
        let answer = try await client.auth(
            "accounts:signUp", ["email": "Ada@Example.com", "password": "s3cret!!", "displayName": "Ada"])
        let session = try LocalClient.Session(answer)
        #expect(answer.json["expiresIn"] == "3600")
        #expect(answer.json["localId"]?.string == session.id)
        let claims = LocalClient.claims(session.idToken)
        #expect(claims["aud"] == "demo-switchyard")
        #expect(claims["email"] == "ada@example.com")
        #expect(claims["firebase"]?["sign_in_provider"] == "password")

        let user = try await client.auth("accounts:lookup", ["idToken": .string(session.idToken)]).json["users"]?[0]
        #expect(user?["localId"]?.string == session.id)
        #expect(user?["displayName"] == "Ada")
        #expect(user?["emailVerified"] == false)
        #expect(user?["passwordHash"] == "UkVEQUNURUQ=")

        let again = try await client.auth(
            "accounts:signInWithPassword", ["email": "ada@example.com", "password": "s3cret!!"])
        #expect(try LocalClient.Session(again).id == session.id)
        #expect(again.json["registered"] == true)
        await client.stop()
    }

    @Test(
        arguments: [
            (["email": "ada@example.com", "password": "s3cret!!"], "EMAIL_EXISTS"),
            (["email": "bob@example.com", "password": "short"], "WEAK_PASSWORD"),
            (["email": "bob@example.com"], "MISSING_PASSWORD"), (["password": "s3cret!!"], "MISSING_EMAIL"),
            (["email": ""], "INVALID_EMAIL"), (["email": "missing", "password": "s3cret!!"], "INVALID_EMAIL"),
        ] as [(JSON, String)])
    func `A sign-up that cannot be is refused by its code`(_ body: JSON, _ code: String) async throws {
        let client = try LocalClient()
        _ = try await client.signUp()
        let answer = try await client.auth("accounts:signUp", body)
        #expect(answer.status == 400)
        #expect(answer.error == code)
        await client.stop()
    }

    @Test func `Wrong passwords and unknown addresses look alike once addresses are protected`() async throws {
        let client = try LocalClient()
        _ = try await client.signUp()
        let wrong: JSON = ["email": "ada@example.com", "password": "wrong-one"]
        let unknown: JSON = ["email": "eve@example.com", "password": "wrong-one"]
        #expect(try await client.auth("accounts:signInWithPassword", wrong).error == "INVALID_PASSWORD")
        #expect(try await client.auth("accounts:signInWithPassword", unknown).error == "EMAIL_NOT_FOUND")
        _ = try await client.send(
            .patch, "/emulator/v1/projects/demo-switchyard/config",
            ["emailPrivacyConfig": ["enableImprovedEmailPrivacy": true]])
        #expect(try await client.auth("accounts:signInWithPassword", wrong).error == "INVALID_LOGIN_CREDENTIALS")
        #expect(try await client.auth("accounts:signInWithPassword", unknown).error == "INVALID_LOGIN_CREDENTIALS")
        await client.stop()
    }

    @Test func `An anonymous account gets a password and stays the same`() async throws {
        let client = try LocalClient()
        let guest = try LocalClient.Session(await client.auth("accounts:signUp", ["returnSecureToken": true]))
        #expect(LocalClient.claims(guest.idToken)["provider_id"] == "anonymous")
        let linked = try LocalClient.Session(
            await client.auth(
                "accounts:signUp",
                ["idToken": .string(guest.idToken), "email": "ada@example.com", "password": "s3cret!!"]))
        #expect(linked.id == guest.id)
        let old = try await client.auth("accounts:lookup", ["idToken": .string(guest.idToken)])
        #expect(old.error == "TOKEN_EXPIRED")
        await client.stop()
    }

    @Test func `A custom token signs in under its own name, with its claims`() async throws {
        let client = try LocalClient()
        let answer = try await client.auth(
            "accounts:signInWithCustomToken", ["token": #"{"uid":"robot","claims":{"role":"cleaner"}}"#])
        #expect(answer.json["localId"] == nil)
        #expect(answer.json["isNewUser"] == true)
        let session = try LocalClient.Session(answer)
        #expect(session.id == "robot")
        let refreshed = try LocalClient.Session(await client.refresh(session.refreshToken))
        #expect(LocalClient.claims(refreshed.idToken)["role"] == "cleaner")
        #expect(
            try await client.auth("accounts:signInWithCustomToken", ["token": "x.y"]).error == "INVALID_CUSTOM_TOKEN")
        await client.stop()
    }

    @Test func `A changed password ends all other sessions`() async throws {
        let client = try LocalClient()
        let phone = try await client.signUp()
        let tablet = try LocalClient.Session(
            await client.auth("accounts:signInWithPassword", ["email": "ada@example.com", "password": "s3cret!!"]))
        let changed = try LocalClient.Session(
            await client.auth("accounts:update", ["idToken": .string(phone.idToken), "password": "another one"]))
        for old in [phone, tablet] {
            #expect(try await client.refresh(old.refreshToken).error == "TOKEN_EXPIRED")
            #expect(
                try await client.auth("accounts:lookup", ["idToken": .string(old.idToken)]).error == "TOKEN_EXPIRED")
        }
        _ = try LocalClient.Session(await client.refresh(changed.refreshToken))
        await client.stop()
    }

    @Test func `A profile is set and cleared without new tokens`() async throws {
        let client = try LocalClient()
        let ada = try await client.signUp()
        let set = try await client.auth(
            "accounts:update",
            ["idToken": .string(ada.idToken), "displayName": "Ada", "photoUrl": "https://example.com/ada.png"])
        #expect(set.json["displayName"] == "Ada")
        #expect(set.json["idToken"] == nil)
        let cleared = try await client.auth(
            "accounts:update", ["idToken": .string(ada.idToken), "deleteAttribute": ["DISPLAY_NAME", "PHOTO_URL"]])
        #expect(cleared.json["displayName"] == nil)
        #expect(cleared.json["photoUrl"] == nil)
        await client.stop()
    }

    @Test func `What could lock somebody out wants a recent sign-in`() async throws {
        let time = LocalTime()
        let client = try LocalClient(time: time)
        let ada = try await client.signUp()
        time.advance(by: 301)
        let body: JSON = ["idToken": .string(ada.idToken)]
        #expect(try await client.auth("accounts:delete", body).error == "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
        let recent = try LocalClient.Session(
            await client.auth("accounts:signInWithPassword", ["email": "ada@example.com", "password": "s3cret!!"]))
        #expect(try await client.auth("accounts:delete", ["idToken": .string(recent.idToken)]).status == 200)
        #expect(
            try await client.auth("accounts:lookup", ["idToken": .string(recent.idToken)]).error == "USER_NOT_FOUND")
        #expect(try await client.refresh(recent.refreshToken).error == "USER_NOT_FOUND")
        await client.stop()
    }

    @Test func `Only the developer acts on the accounts of others`() async throws {
        let client = try LocalClient()
        let ada = try await client.signUp()
        let barred: JSON = ["localId": .string(ada.id), "disableUser": true]
        #expect(try await client.auth("accounts:update", barred).error == "INVALID_REQ_TYPE")
        #expect(try await client.auth("accounts:update", barred, isAdmin: true).status == 200)
        #expect(try await client.refresh(ada.refreshToken).error == "USER_DISABLED")
        let answer = try await client.auth(
            "accounts:signInWithPassword", ["email": "ada@example.com", "password": "s3cret!!"])
        #expect(answer.error == "USER_DISABLED")
        let path = "/identitytoolkit.googleapis.com/v1/projects/demo-switchyard/accounts:batchGet"
        #expect(try await client.send(.get, path, authorization: "Bearer owner").json["users"]?.array?.count == 1)
        #expect(try await client.send(.get, path).error == "INSUFFICIENT_PERMISSION")
        await client.stop()
    }

    @Test func `Former names, missing keys and unknown calls are answered as the vendor does`() async throws {
        let client = try LocalClient()
        let legacy = "/www.googleapis.com/identitytoolkit/v3/relyingparty/signupNewUser"
        #expect(try await client.send(.post, legacy + "?key=k", [:]).status == 200)
        let keyless = try await client.send(.post, legacy, [:])
        #expect(keyless.status == 403)
        #expect(keyless.errorStatus == "PERMISSION_DENIED")
        #expect(try await client.auth("accounts:unheardOf", [:]).status == 404)
        #expect(try await client.auth("accounts:signUp", "no object").errorStatus == "INVALID_ARGUMENT")
        await client.stop()
    }

    @Test func `Accounts and sessions outlive the server in a folder, and the folder has one server`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("local-\(RandomID.make())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let time = LocalTime()
        let first = try LocalClient(time: time, folder: folder)
        let ada = try await first.signUp()
        #expect(throws: LocalFirebaseError.self) { try LocalClient(time: time, folder: folder) }
        await first.stop()
        try await { () async throws -> Void in
            let second = try LocalClient(time: time, folder: folder)
            let refreshed = try LocalClient.Session(await second.refresh(ada.refreshToken))
            #expect(refreshed.id == ada.id)
            #expect(try await second.auth("accounts:lookup", ["idToken": .string(ada.idToken)]).status == 200)
            await second.stop()
        }()
    }
}
