import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalFirebase

/// What production refuses is refused here: a test that passes here must not fail there.
@Suite struct `What a local Firebase refuses` {
    @Test func `A client changes neither claims nor whether the account is open`() async throws {
        let client = try LocalClient()
        let ada = try await client.signUp()
        func update(_ name: String, _ value: JSON) async throws -> LocalClient.Answer {
            try await client.auth("accounts:update", .object(["idToken": .string(ada.idToken), name: value]))
        }
        #expect(try await update("customAttributes", #"{"role":"admin"}"#).error == "INSUFFICIENT_PERMISSION")
        #expect(try await update("disableUser", true).error == "OPERATION_NOT_ALLOWED")
        // These are passed over without a word.
        #expect(try await update("emailVerified", true).json["emailVerified"] == false)
        #expect(try await update("phoneNumber", "+15555550100").json["phoneNumber"] == nil)
        let oob = try await client.auth(
            "accounts:sendOobCode",
            ["requestType": "PASSWORD_RESET", "email": "ada@example.com", "returnOobLink": true])
        #expect(oob.error == "INSUFFICIENT_PERMISSION")
        await client.stop()
    }

    @Test func `Claims that tokens use themselves are no one's to set`() async throws {
        let client = try LocalClient()
        let ada = try await client.signUp()
        for name in ["sub", "aud", "iss", "firebase", "exp", "user_id"] {
            let set: JSON = ["localId": .string(ada.id), "customAttributes": .string("{\"\(name)\":\"x\"}")]
            #expect(try await client.auth("accounts:update", set, isAdmin: true).error == "FORBIDDEN_CLAIM")
            let token = "{\"uid\":\"u\",\"claims\":{\"\(name)\":\"x\"}}"
            let signedIn = try await client.auth("accounts:signInWithCustomToken", ["token": .string(token)])
            #expect(signedIn.error == "FORBIDDEN_CLAIM")
        }
        let long: JSON = [
            "localId": .string(ada.id),
            "customAttributes": .string("{\"x\":\"\(String(repeating: "y", count: 1000))\"}"),
        ]
        #expect(try await client.auth("accounts:update", long, isAdmin: true).error == "CLAIMS_TOO_LARGE")
        await client.stop()
    }

    @Test func `A phone number is one person's`() async throws {
        let client = try LocalClient()
        let ada = try await client.signUp()
        let ben = try await client.signUp("ben@example.com")
        let number: JSON = "+15555550100"
        let set = { (id: String) -> JSON in ["localId": .string(id), "phoneNumber": number] }
        #expect(try await client.auth("accounts:update", set(ada.id), isAdmin: true).status == 200)
        #expect(try await client.auth("accounts:update", set(ben.id), isAdmin: true).error == "PHONE_NUMBER_EXISTS")
        let made = try await client.auth("accounts", ["phoneNumber": number], isAdmin: true)
        #expect(made.error == "PHONE_NUMBER_EXISTS")
        let wrong = try await client.auth("accounts", ["phoneNumber": "555"], isAdmin: true)
        #expect(wrong.error == "INVALID_PHONE_NUMBER")
        await client.stop()
    }

    @Test(arguments: ["nonsense", "https://", "/path", "http:/x.example.com", "://x"])
    func `An address to continue at has a scheme and a host`(_ address: String) async throws {
        let client = try LocalClient()
        let ada = try await client.signUp()
        let sent = try await client.auth(
            "accounts:sendOobCode",
            ["requestType": "VERIFY_EMAIL", "idToken": .string(ada.idToken), "continueUrl": .string(address)])
        #expect(sent.error == "INVALID_CONTINUE_URI")
        let asked = try await client.auth(
            "accounts:createAuthUri", ["identifier": "a@b.co", "continueUri": .string(address)])
        #expect(asked.error == "INVALID_CONTINUE_URI")
        await client.stop()
    }

    @Test func `A disabled account says so, whatever the password`() async throws {
        let client = try LocalClient()
        let ada = try await client.signUp()
        let off: JSON = ["localId": .string(ada.id), "disableUser": true]
        #expect(try await client.auth("accounts:update", off, isAdmin: true).status == 200)
        let answer = try await client.auth(
            "accounts:signInWithPassword", ["email": "ada@example.com", "password": "wrong-password"])
        #expect(answer.error == "USER_DISABLED")
        await client.stop()
    }

    @Test func `Empty text takes a name away, and what is no text is refused`() async throws {
        let client = try LocalClient()
        let ada = try await client.signUp()
        func name(_ value: JSON) async throws -> LocalClient.Answer {
            try await client.auth("accounts:update", ["idToken": .string(ada.idToken), "displayName": value])
        }
        #expect(try await name("Ada").json["displayName"] == "Ada")
        #expect(try await name("").json["displayName"] == "")
        #expect(try await name(.null).errorStatus == "INVALID_ARGUMENT")
        #expect(try await name(["x"]).errorStatus == "INVALID_ARGUMENT")
        await client.stop()
    }

    @Test func `What is not here says so in words`() async throws {
        let client = try LocalClient()
        for path in ["/nothing", "/identitytoolkit.googleapis.com/v1/accounts:nothing?key=any", "/v0/nothing"] {
            let answer = try await client.send(.get, path)
            #expect(answer.status == 404 && answer.json != .null, "\(path)")
        }
        let wrong = try await client.send(.get, "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any")
        #expect(wrong.status == 405 && wrong.headers["Allow"] == "POST")
        let missing = try await client.auth("accounts:signInWithGameCenter", [:])
        #expect(missing.status == 501 && missing.errorStatus == "NOT_IMPLEMENTED")
        await client.stop()
    }

    @Test func `Browsers of other origins may send what they keep, and read what streams need`() async throws {
        let client = try LocalClient()
        var request = HTTPRequest(.get, "http://\(client.firebase.host)/")
        request.headers["Origin"] = "http://localhost:5173"
        let answer = try await client.transport.send(request)
        #expect(answer.headers["Access-Control-Allow-Origin"] == "http://localhost:5173")
        #expect(answer.headers["Access-Control-Allow-Credentials"] == "true")
        #expect(answer.headers["Vary"] == "Origin")
        #expect(answer.headers["Access-Control-Expose-Headers"]?.contains("x-http-session-id") == true)
        await client.stop()
    }
}
