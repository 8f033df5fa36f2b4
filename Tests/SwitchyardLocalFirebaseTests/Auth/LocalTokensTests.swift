import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalFirebase

@Suite struct `Tokens of a local Firebase` {
    @Test func `A token is believed for its signature only`() async throws {
        let client = try LocalClient()
        let ada = try await client.signUp()
        #expect(try client.firebase.auth.caller(authorization: "Bearer " + ada.idToken).userID == ada.id)
        #expect(try client.firebase.auth.caller(authorization: "Firebase " + ada.idToken).userID == ada.id)
        #expect(try client.firebase.auth.caller(authorization: nil) == .nobody)
        #expect(try client.firebase.auth.caller(authorization: "Bearer owner") == .owner)

        let parts = ada.idToken.split(separator: ".").map(String.init)
        var claims = LocalClient.claims(ada.idToken).object ?? JSONObject()
        claims["sub"] = "somebody-else"
        let forgedClaims = Base64.encode(JSON.object(claims).bytes(), alphabet: .url)
        let unsigned = Base64.encode(JSON.object(["alg": "none", "typ": "JWT"]).bytes(), alphabet: .url)
        let stranger = try LocalClient()
        let forged = [
            "\(parts[0]).\(forgedClaims).\(parts[2])", "\(unsigned).\(parts[1]).", "\(parts[0]).\(parts[1]).",
            "\(parts[0]).\(parts[1])", "\(parts[0]).\(parts[1]).\(parts[2]).x", "owner2", "", ada.refreshToken,
            try await stranger.signUp().idToken,
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
        await stranger.stop()
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
