import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire
import Testing

@testable import SwitchyardLocalFirebase

@Suite struct `Identity providers of a local Firebase` {
    private func assertion(
        _ subject: String, _ email: String, isVerified: Bool = true, provider: String = "google.com",
        extra: JSONObject = JSONObject()
    ) -> JSON {
        var claims: JSONObject = [
            "sub": .string(subject), "email": .string(email), "email_verified": .bool(isVerified),
        ]
        for member in extra.members { claims[member.key] = member.value }
        let form = FormCoding.encode([
            (name: "id_token", value: JSON.object(claims).text()), (name: "providerId", value: provider),
        ])
        return .string(form)
    }

    private func body(_ assertion: JSON, _ extra: JSONObject = JSONObject()) -> JSON {
        var body: JSONObject = ["requestUri": "http://localhost", "postBody": assertion]
        for member in extra.members { body[member.key] = member.value }
        return .object(body)
    }

    @Test func `The same subject is the same person, whatever the address`() async throws {
        let client = try LocalClient()
        let first = try await client.auth("accounts:signInWithIdp", body(assertion("g1", "ada@example.com")))
        #expect(first.json["isNewUser"] == true)
        #expect(first.json["federatedId"] == "https://accounts.google.com/g1")
        let again = try await client.auth("accounts:signInWithIdp", body(assertion("g1", "other@example.com")))
        #expect(again.json["isNewUser"] == nil)
        #expect(again.json["localId"] == first.json["localId"])
        let session = try LocalClient.Session(again)
        #expect(LocalClient.claims(session.idToken)["firebase"]?["identities"]?["google.com"]?[0] == "g1")
        await client.stop()
    }

    @Test func `A confirmed address takes over an account whose address no one confirmed`() async throws {
        let client = try LocalClient()
        let squatter = try await client.signUp()
        let unsure = try await client.auth(
            "accounts:signInWithIdp", body(assertion("g1", "ada@example.com", isVerified: false)))
        #expect(unsure.status == 200)
        #expect(unsure.json["needConfirmation"] == true)
        #expect(unsure.json["idToken"] == nil)
        let owner = try LocalClient.Session(
            await client.auth("accounts:signInWithIdp", body(assertion("g1", "ada@example.com"))))
        #expect(owner.id == squatter.id)
        #expect(try await client.refresh(squatter.refreshToken).error == "TOKEN_EXPIRED")
        let password: JSON = ["email": "ada@example.com", "password": "s3cret!!"]
        #expect(try await client.auth("accounts:signInWithPassword", password).error == "INVALID_PASSWORD")
        await client.stop()
    }

    @Test func `An identity is linked to one account`() async throws {
        let client = try LocalClient()
        let ada = try await client.signUp()
        let bob = try await client.signUp("bob@example.com")
        let google = assertion("g1", "ada@gmail.example")
        let linked = try await client.auth(
            "accounts:signInWithIdp", body(google, ["idToken": .string(ada.idToken)]))
        #expect(linked.json["localId"]?.string == ada.id)
        let taken = body(google, ["idToken": .string(bob.idToken)])
        #expect(
            try await client.auth("accounts:signInWithIdp", taken).error == "FEDERATED_USER_ID_ALREADY_LINKED")
        let request = body(google, ["idToken": .string(bob.idToken), "returnIdpCredential": true])
        let answer = try await client.auth("accounts:signInWithIdp", request)
        #expect(answer.status == 200)
        #expect(answer.json["errorMessage"] == "FEDERATED_USER_ID_ALREADY_LINKED")
        let session = try LocalClient.Session(linked)
        let unlinked = try await client.auth(
            "accounts:update", ["idToken": .string(session.idToken), "deleteProvider": ["google.com"]])
        #expect(unlinked.json["providerUserInfo"]?.array?.map { $0["providerId"]?.string } == ["password"])
        await client.stop()
    }

    @Test func `A nonce in the token must be answered for`() async throws {
        let client = try LocalClient()
        let hash = Hex.encode(SHA256.digest(of: Array("raw".utf8)))
        let token = assertion("a1", "ada@example.com", provider: "apple.com", extra: ["nonce": .string(hash)])
        #expect(try await client.auth("accounts:signInWithIdp", body(token)).error == "MISSING_OR_INVALID_NONCE")
        let with = body(.string((token.string ?? "") + "&nonce=raw"))
        #expect(try await client.auth("accounts:signInWithIdp", with).status == 200)
        #expect(
            try await client.auth(
                "accounts:signInWithIdp", body("access_token=x&providerId=google.com")
            ).status == 501)
        await client.stop()
    }

    @Test func `A browser brings back a code that only its own session can use`() async throws {
        let client = try LocalClient()
        let begin: JSON = ["providerId": "google.com", "continueUri": "app://back?state=7"]
        let flow = try await client.auth("accounts:createAuthUri", begin).json
        let other = try await client.auth("accounts:createAuthUri", begin).json
        let page = (flow["authUri"]?.string ?? "").dropFirst("http://\(client.firebase.host)".count)
        let back = try await client.send(.get, page + "&sub=g1&email=ada%40example.com").headers["Location"] ?? ""
        #expect(back.hasPrefix("app://back?state=7&code="))
        func finish(_ session: JSON?) async throws -> LocalClient.Answer {
            try await client.auth(
                "accounts:signInWithIdp", ["requestUri": .string(back), "sessionId": session ?? .null])
        }
        #expect(try await finish(other["sessionId"]).error == "INVALID_CREDENTIAL_OR_PROVIDER_ID")
        #expect(try await finish(flow["sessionId"]).json["email"] == "ada@example.com")
        await client.stop()
    }
}
