import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@Suite struct `Messages of a local Firebase` {
    private static let appID: JSON = "1:12345:ios:321abc456def7890"
    private static let fid = "cIrBbg6RTkSzQJbQG3ZsVe"
    private static let apple: JSON = [
        "ios": ["apns_token": "740f4707beb0", "apns_environment": "PROD", "bundle_id": "com.example.app"],
        "fcm_sdk_version": "fcm-1",
    ]

    private struct Device {
        let client: LocalClient
        let fid: String
        let refreshToken: String
        let authToken: String

        init(_ client: LocalClient, fid: String) async throws {
            self.client = client
            let answer = try await client.messaging(
                .post, "firebaseinstallations", "installations",
                ["fid": .string(fid), "appId": appID, "authVersion": "FIS_v2", "sdkVersion": "i:1"]
            ).json
            self.fid = answer["fid"]?.string ?? ""
            refreshToken = answer["refreshToken"]?.string ?? ""
            authToken = answer["authToken"]?["token"]?.string ?? ""
            #expect(answer["authToken"]?["expiresIn"] == "604800s")
        }

        func register(_ body: JSON = apple) async throws -> LocalClient.Answer {
            try await client.messaging(.post, "fcmregistrations", "registrations", body, installation: authToken)
        }

        func topic(_ name: String, _ verb: String = "subscribe") async throws -> Int {
            try await client.messaging(
                .post, "fcmregistrations", "registrations/\(fid)/topicSubscriptions/\(name):\(verb)",
                installation: authToken
            ).status
        }
    }

    @Test func `An installation keeps the name it proposes, if that can be one, and renews its token`() async throws {
        let time = LocalTime()
        let client = try LocalClient(time: time)
        let device = try await Device(client, fid: Self.fid)
        #expect(device.fid == Self.fid)
        let other = try await Device(client, fid: "not-a-name")
        #expect(other.fid.utf8.count == 22)
        #expect("cdef".contains(other.fid.prefix(1)))
        time.advance(by: 604_800)
        #expect(try await device.register().status == 401, "its token has run out")
        func renew(_ fid: String, _ token: String) async throws -> LocalClient.Answer {
            try await client.messaging(
                .post, "firebaseinstallations", "installations/\(fid)/authTokens:generate",
                ["installation": ["sdkVersion": "i:1"]], authorization: "FIS_v2 \(token)")
        }
        #expect(try await renew(device.fid, "wrong").status == 401)
        #expect(try await renew("cUnknown", device.refreshToken).status == 404)
        #expect(try await renew(device.fid, device.refreshToken).json["expiresIn"] == "604800s")
        let gone = try await client.messaging(
            .delete, "firebaseinstallations", "installations/\(device.fid)",
            authorization: "FIS_v2 \(device.refreshToken)")
        #expect(gone.status == 200)
        #expect(try await renew(device.fid, device.refreshToken).status == 404)
        await client.stop()
    }

    @Test func `A device registers under its own name, or under a token, and a message reaches it`() async throws {
        let client = try LocalClient()
        let device = try await Device(client, fid: Self.fid)
        #expect(
            try await device.register().json["name"]?.string == "projects/demo-switchyard/registrations/\(device.fid)")
        let web = try await device.register([
            "web": ["endpoint": "https://push.example/1", "p256dh": "BA", "auth": "AA", "origin": "app.example"]
        ])
        let token = try #require(web.json["token"]?.string)
        #expect(try await device.register(["ios": ["apns_token": "xyz"]]).status == 400)

        let message: JSONObject = [
            "notification": ["title": "Hi", "body": "There"], "data": ["orderId": "42"],
            "apns": ["payload": ["aps": ["badge": 1]]],
        ]
        func send(_ key: String, _ target: String) async throws -> LocalClient.Answer {
            var complete = message
            complete[key] = .string(target)
            return try await client.push(.object(complete))
        }
        #expect(
            try await send("fid", device.fid).json["name"]?.string?.hasPrefix("projects/demo-switchyard/messages/0:")
                == true)
        #expect(try await send("token", token).status == 200)
        let apple = try #require(client.firebase.messaging.deliveries(to: device.fid).first)
        #expect(apple["aps"] == ["badge": 1, "alert": ["title": "Hi", "body": "There"]])
        #expect(apple["orderId"] == "42")
        #expect(apple["google.c.fid"]?.string == device.fid)
        let page = try #require(client.firebase.messaging.deliveries(to: token).first)
        #expect(page["notification"]?["title"] == "Hi")
        #expect(page["data"] == ["orderId": "42"])

        let removed = try await client.messaging(
            .delete, "fcmregistrations", "registrations/\(device.fid)", installation: "FIS " + device.authToken)
        #expect(removed.status == 200)
        let lost = try await send("fid", device.fid)
        #expect(lost.status == 404)
        #expect(lost.json["error"]?["details"]?[0]?["errorCode"] == "UNREGISTERED")
        await client.stop()
    }

    @Test func `Topics reach those who subscribed, and conditions those who fit`() async throws {
        let client = try LocalClient()
        let ada = try await Device(client, fid: "cAAAAAAAAAAAAAAAAAAAAA")
        let bob = try await Device(client, fid: "dBBBBBBBBBBBBBBBBBBBBA")
        for device in [ada, bob] { #expect(try await device.register().status == 200) }
        #expect(try await ada.topic("news") == 200)
        #expect(try await ada.topic("news") == 200, "repeating it does nothing")
        #expect(try await ada.topic("b%20ad") == 400)
        #expect(try await bob.topic("weather") == 200)
        #expect(try await client.push(["topic": "news", "data": ["n": "1"]]).status == 200)
        #expect(
            try await client.push([
                "condition": "'weather' in topics && !('news' in topics || 'x' in topics)", "data": ["n": "2"],
            ]).status == 200)
        #expect(client.firebase.messaging.deliveries(to: ada.fid).map { $0["n"] } == ["1"])
        #expect(client.firebase.messaging.deliveries(to: bob.fid).map { $0["n"] } == ["2"])
        #expect(try await ada.topic("news", "unsubscribe") == 200)
        #expect(try await client.push(["topic": "news", "data": ["n": "3"]]).status == 200)
        #expect(client.firebase.messaging.deliveries(to: ada.fid).count == 1)
        let batch = try await client.send(
            .post, "/iid.googleapis.com/iid/v1:batchAdd",
            ["to": "/topics/news", "registration_tokens": [.string(ada.fid), "missing"]], authorization: "Bearer owner")
        #expect(batch.json["results"] == [[:], ["error": "NOT_FOUND"]])
        await client.stop()
    }

    @Test(arguments: [
        #"{"topic":"a","fid":"b"}"#, #"{}"#, #"{"topic":"/topics/a"}"#, #"{"topic":"a","data":{"n":1}}"#,
        #"{"topic":"a","data":{"google.x":"1"}}"#, #"{"condition":"'a' in"}"#, #"{"condition":"'a' in topics &&"}"#,
    ])
    func `A message that cannot be is refused`(_ message: String) async throws {
        let client = try LocalClient()
        let answer = try await client.push(try JSON(parsing: message))
        #expect(answer.status == 400)
        #expect(answer.json["error"]?["details"]?[0]?["errorCode"] == "INVALID_ARGUMENT")
        await client.stop()
    }

    @Test func `An app's user may not send`() async throws {
        let client = try LocalClient()
        let token = client.firebase.idToken(for: "ada")
        #expect(try await client.push(["topic": "a"], authorization: "Bearer \(token)").status == 401)
        #expect(try await client.push(["topic": "a"], authorization: nil).status == 401)
        await client.stop()
    }
}

extension LocalClient {
    fileprivate func messaging(
        _ method: HTTPMethod, _ service: String, _ path: String, _ body: JSON? = nil, authorization: String? = nil,
        installation: String? = nil
    ) async throws -> Answer {
        var request = HTTPRequest(
            method, "http://\(firebase.host)/\(service).googleapis.com/v1/projects/demo-switchyard/\(path)",
            body: body?.bytes() ?? [])
        request.headers["Content-Type"] = "application/json"
        request.headers["Authorization"] = authorization
        request.headers["X-Goog-Firebase-Installations-Auth"] = installation
        let response = try await transport.send(request)
        return Answer(
            status: response.status, json: (try? JSON(parsing: response.body)) ?? .null, headers: response.head.headers)
    }

    fileprivate func push(_ message: JSON, authorization: String? = "Bearer owner") async throws -> Answer {
        try await messaging(.post, "fcm", "messages:send", ["message": message], authorization: authorization)
    }
}
