import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalFirebase

@Suite struct `Tokens of a local Firebase` {
    private static let signing: LocalFirebaseOptions = {
        var options = LocalFirebaseOptions()
        options.signsTokens = true
        options.tokenKey = TestKeys.one
        return options
    }()

    @Test func `Where tokens are signed they are believed for their signature only`() async throws {
        let client = try LocalClient(Self.signing)
        let ada = try await client.signUp()
        #expect(try client.firebase.auth.caller(authorization: "Bearer " + ada.idToken).userID == ada.id)
        #expect(try client.firebase.auth.caller(authorization: "Firebase " + ada.idToken).userID == ada.id)
        #expect(try client.firebase.auth.caller(authorization: nil) == .unauthenticated)
        #expect(try client.firebase.auth.caller(authorization: "Bearer owner") == .owner)

        let parts = ada.idToken.split(separator: ".").map(String.init)
        var claims = LocalClient.claims(ada.idToken).object ?? JSONObject()
        claims["sub"] = "somebody-else"
        let forgedClaims = Base64.encode(JSON.object(claims).bytes(), alphabet: .url)
        let unsigned = Base64.encode(JSON.object(["alg": "none", "typ": "JWT"]).bytes(), alphabet: .url)
        var strange = Self.signing
        strange.tokenKey = TestKeys.another
        let foreign = try LocalClient(strange)
        let forged = [
            "\(parts[0]).\(forgedClaims).\(parts[2])", "\(unsigned).\(parts[1]).", "\(parts[0]).\(parts[1]).",
            "\(parts[0]).\(parts[1])", "\(parts[0]).\(parts[1]).\(parts[2]).x", "owner2", "", ada.refreshToken,
            try await foreign.signUp().idToken,
        ]
        for token in forged {
            #expect(throws: LocalTokenFailure.invalid) {
                try client.firebase.auth.caller(authorization: "Bearer " + token)
            }
            let answer = try await client.auth("accounts:lookup", ["idToken": .string(token)])
            #expect(answer.error == (token.isEmpty ? "MISSING_ID_TOKEN" : "INVALID_ID_TOKEN"))
        }
        #expect(throws: LocalTokenFailure.invalid) { try client.firebase.auth.caller(authorization: "Basic b3duZXI=") }
        await client.stop()
        await foreign.stop()
    }

    @Test func `The key that tokens are signed with is published, and stored in the folder`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("local-\(RandomID.make())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var options = Self.signing
        options.folder = folder
        options.tokenKey = nil
        let client = try LocalClient(options)
        let ada = try await client.signUp()
        let path = "/www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
        let entry = try #require(try await client.send(.get, path).json["keys"]?[0])
        let key = try #require(RSAPublicKey(entry))
        let parts = ada.idToken.split(separator: ".").map(String.init)
        let signature = try #require(Base64.decode(parts[2], alphabet: .url))
        #expect(key.verifies(signature, of: parts[0] + "." + parts[1]))
        let described = try await client.send(.get, "/_firebase")
        #expect(described.json["project"] == "demo-switchyard" && described.json["keys"]?[0] == entry)
        await client.stop()

        let again = try LocalClient(options)
        #expect(try again.firebase.auth.caller(authorization: "Bearer " + ada.idToken).userID == ada.id)
        await again.stop()
    }

    @Test func `Without signatures a token counts that is of this project, has not run out and was not given up`()
        async throws
    {
        let time = LocalTime()
        let client = try LocalClient(time: time)
        let ada = try await client.signUp()
        #expect(ada.idToken.hasSuffix("."))
        #expect(LocalClient.header(ada.idToken)["alg"] == "none")
        #expect(try client.firebase.auth.caller(authorization: "Bearer " + ada.idToken).userID == ada.id)
        #expect(try await client.send(.get, "/_firebase").json["keys"] == [])

        func written(_ change: (inout JSONObject) -> Void) -> String {
            var claims: JSONObject = [
                "iss": "https://securetoken.google.com/demo-switchyard", "aud": "demo-switchyard", "sub": "ben",
                "iat": .integer(time.now.seconds), "exp": .integer(time.now.seconds + 60),
            ]
            change(&claims)
            return [JSON.object(["alg": "none", "type": "JWT"]), JSON.object(claims)].map {
                Base64.encode($0.bytes(), alphabet: .url) + "."
            }.joined()
        }
        #expect(try client.firebase.auth.caller(authorization: "Bearer " + written { _ in }).userID == "ben")
        let fromTests = written {
            $0["iat"] = 0
            $0["exp"] = 3600
        }
        #expect(try client.firebase.auth.caller(authorization: "Bearer " + fromTests).userID == "ben")
        let elsewhere = written { $0["aud"] = "elsewhere" }
        #expect(throws: LocalTokenFailure.otherProject("elsewhere")) {
            try client.firebase.auth.caller(authorization: "Bearer " + elsewhere)
        }
        for other in [
            written { $0["iss"] = "https://securetoken.google.com/elsewhere" }, written { $0["sub"] = "" },
            written { _ in } + "AAAA",
        ] {
            #expect(throws: LocalTokenFailure.invalid) {
                try client.firebase.auth.caller(authorization: "Bearer " + other)
            }
        }
        let over = written { $0["exp"] = .integer(time.now.seconds) }
        #expect(throws: LocalTokenFailure.expired) {
            try client.firebase.auth.caller(authorization: "Bearer " + over)
        }
        client.firebase.expireTokens(of: ada.id)
        #expect(throws: LocalTokenFailure.expired) {
            try client.firebase.auth.caller(authorization: "Bearer " + ada.idToken)
        }
        await client.stop()
    }

    @Test func `New accounts have the claims that the server was started with`() async throws {
        var options = LocalFirebaseOptions()
        options.claims = ["role": "authenticated"]
        let client = try LocalClient(options)
        let ada = try await client.signUp()
        #expect(LocalClient.claims(ada.idToken)["role"] == "authenticated")
        let refreshed = try LocalClient.Session(await client.refresh(ada.refreshToken))
        #expect(LocalClient.claims(refreshed.idToken)["role"] == "authenticated")
        #expect(LocalClient.claims(client.firebase.idToken(for: "ben"))["role"] == "authenticated")
        await client.stop()
    }

    @Test func `A token runs out after an hour, and when told to`() async throws {
        let time = LocalTime()
        let client = try LocalClient(time: time)
        let ada = try await client.signUp()
        time.advance(by: 3599)
        #expect(try client.firebase.auth.caller(authorization: "Bearer " + ada.idToken).userID == ada.id)
        time.advance(by: 1)
        #expect(throws: LocalTokenFailure.expired) {
            try client.firebase.auth.caller(authorization: "Bearer " + ada.idToken)
        }
        #expect(try await client.auth("accounts:lookup", ["idToken": .string(ada.idToken)]).error == "TOKEN_EXPIRED")

        let fresh = try LocalClient.Session(await client.refresh(ada.refreshToken))
        #expect(LocalClient.claims(fresh.idToken)["auth_time"] == LocalClient.claims(ada.idToken)["auth_time"])
        #expect(fresh.refreshToken != ada.refreshToken)
        client.firebase.expireTokens(of: ada.id)
        #expect(throws: LocalTokenFailure.expired) {
            try client.firebase.auth.caller(authorization: "Bearer " + fresh.idToken)
        }
        let newest = try LocalClient.Session(await client.refresh(fresh.refreshToken))
        #expect(try client.firebase.auth.caller(authorization: "Bearer " + newest.idToken).userID == ada.id)
        await client.stop()
    }

    @Test func `All tokens expire when told to, of deleted accounts and of those that never were`() async throws {
        let client = try LocalClient(time: LocalTime())
        let ada = try await client.signUp()
        let test = client.firebase.idToken(for: "no one's")
        #expect(try await client.send(.delete, "/emulator/v1/projects/demo-switchyard/accounts").status == 200)
        #expect(try client.firebase.auth.caller(authorization: "Bearer " + ada.idToken).userID == ada.id)
        client.firebase.expireTokens()
        for token in [ada.idToken, test] {
            #expect(throws: LocalTokenFailure.expired) {
                try client.firebase.auth.caller(authorization: "Bearer " + token)
            }
        }
        let fresh = client.firebase.idToken(for: "no one's")
        #expect(try client.firebase.auth.caller(authorization: "Bearer " + fresh).userID == "no one's")
        client.firebase.expireTokens(of: "no one's")
        #expect(throws: LocalTokenFailure.expired) {
            try client.firebase.auth.caller(authorization: "Bearer " + fresh)
        }
        await client.stop()
    }

    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "-1", "-62135596800001"])
    func `An account is as old as an administrator says`(_ time: String) async throws {
        let client = try LocalClient()
        let ada = try await client.signUp()
        let changed = try await client.auth(
            "projects/demo-switchyard/accounts:update",
            ["localId": .string(ada.id), "createdAt": .string(time), "lastLoginAt": .string(time)], isAdmin: true)
        #expect(changed.status == 200)
        let found = try await client.auth(
            "projects/demo-switchyard/accounts:lookup", ["localId": [.string(ada.id)]], isAdmin: true)
        #expect(found.json["users"]?[0]?["createdAt"]?.string == time)
        await client.stop()
    }

    @Test func `Refreshing takes both spellings and refuses what is none of ours`() async throws {
        let client = try LocalClient()
        let ada = try await client.signUp()
        let path = "/securetoken.googleapis.com/v1/token?key=any"
        let camel = try await client.send(
            .post, path, ["grantType": "refresh_token", "refreshToken": .string(ada.refreshToken)])
        #expect(camel.json["user_id"]?.string == ada.id)
        #expect(camel.json["access_token"] == camel.json["id_token"])
        #expect(camel.json["expires_in"] == "3600")
        #expect(try await client.refresh(ada.refreshToken + "x").error == "INVALID_REFRESH_TOKEN")
        #expect(try await client.refresh(ada.idToken).error == "INVALID_REFRESH_TOKEN")
        #expect(try await client.refresh("").error == "MISSING_REFRESH_TOKEN")
        let other = try await client.send(.post, path, ["grant_type": "password", "refresh_token": "x"])
        #expect(other.error == "INVALID_GRANT_TYPE")
        await client.stop()
    }
}
