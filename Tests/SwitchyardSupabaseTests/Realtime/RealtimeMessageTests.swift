import SwitchyardBytes
import Testing

@testable import SwitchyardSupabase

struct RealtimeMessageTests {
    @Test func `Both text formats are read, and unknown parts are ignored`() throws {
        let expected = RealtimeMessage(joinRef: "1", ref: "2", topic: "realtime:a", event: "e", payload: ["x": 1])
        let texts = [
            #"["1","2","realtime:a","e",{"x":1}]"#,
            #"["1","2","realtime:a","e",{"x":1},"later",null]"#,
            #"[1,2,"realtime:a","e",{"x":1}]"#,
            #"{"topic":"realtime:a","event":"e","payload":{"x":1},"ref":"2","join_ref":"1","more":[]}"#,
        ]
        for text in texts { #expect(try RealtimeMessage(text: text.utf8) == expected, "\(text)") }
        #expect(try RealtimeMessage(text: expected.array.bytes()) == expected)
        #expect(try RealtimeMessage(text: expected.object.bytes()) == expected)
    }

    @Test func `What is no message is refused`() {
        for text in ["", "null", "[]", "{}", #"["1","2","t"]"#, #"[null,null,5,"e",{}]"#, #"{"topic":"t"}"#, "[1"] {
            #expect(throws: RealtimeMessage.Malformed.self, "\(text)") { try RealtimeMessage(text: text.utf8) }
        }
        for frame: [UInt8] in [
            [], [9], [4], [4, 1, 1], [4, 5, 1, 0, 1, 0x61], [4, 1, 1, 0, 1, 0x61, 0x62, 0x7B], [3, 0],
        ] {
            #expect(throws: RealtimeMessage.Malformed.self, "\(frame)") { try RealtimeMessage(frame: frame) }
        }
    }

    @Test func `A null payload stays as it is, and a missing one is empty`() throws {
        #expect(try RealtimeMessage(text: #"[null,null,"t","e",null]"#.utf8).payload == .null)
        #expect(try RealtimeMessage(text: #"[null,null,"t","e"]"#.utf8).payload == [:])
    }

    @Test func `A broadcast in a binary frame reads like one in text`() throws {
        let topic = Array("realtime:a".utf8)
        let event = Array("e".utf8)
        let meta = Array(#"{"id":"7"}"#.utf8)
        let head: [UInt8] = [4, UInt8(topic.count), 1, UInt8(meta.count)]
        let json = try RealtimeMessage(frame: head + [1] + topic + event + meta + Array(#"{"x":[1]}"#.utf8))
        #expect(
            RealtimeEvent(json)
                == .broadcast(RealtimeBroadcast(event: "e", content: .json(["x": [1]]), id: "7", isReplayed: false)))
        #expect(json.topic == "realtime:a")
        let raw = try RealtimeMessage(frame: head + [0] + topic + event + meta + [0, 255])
        #expect(
            RealtimeEvent(raw)
                == .broadcast(RealtimeBroadcast(event: "e", content: .bytes([0, 255]), id: "7", isReplayed: false)))
    }

    @Test func `A broadcast of bytes is framed as the server reads it`() throws {
        let message = RealtimeMessage(
            joinRef: "1", ref: "5", topic: "realtime:a", event: "broadcast", payload: ["event": "e"],
            bytes: [0x7B, 0x7D])
        #expect(
            try message.frame()
                == [3, 1, 1, 10, 1, 0, 0, 0x31, 0x35] + Array("realtime:a".utf8) + [0x65, 0x7B, 0x7D])
        let long = RealtimeMessage(
            topic: String(repeating: "x", count: 256), event: "broadcast", payload: ["event": "e"], bytes: [])
        #expect(throws: RealtimeMessage.Malformed.self) { try long.frame() }
    }

    @Test func `The server's own binary frames are read`() throws {
        let push = try RealtimeMessage(frame: [0, 1, 1, 1, 0x31, 0x74, 0x65, 9])
        #expect(push == RealtimeMessage(joinRef: "1", topic: "t", event: "e", bytes: [9]))
        let reply = try RealtimeMessage(frame: [1, 1, 1, 1, 2, 0x31, 0x32, 0x74, 0x6F, 0x6B])
        #expect(reply.event == "phx_reply")
        #expect(reply.ref == "2")
        #expect(reply.payload["status"] == "ok")
        let broadcast = try RealtimeMessage(frame: [2, 1, 1, 0x74, 0x65, 9])
        #expect(broadcast.event == "broadcast")
        #expect(broadcast.bytes == [9])
    }

    @Test func `A change says what happened, and errors come before the row`() throws {
        func change(_ data: String) throws -> RealtimeChange {
            let message = try RealtimeMessage(
                text: (#"[null,null,"realtime:a","postgres_changes",{"ids":[1],"data":"# + data + "}]").utf8)
            guard case .change(let change) = RealtimeEvent(message) else { throw RealtimeMessage.Malformed() }
            return change
        }
        let update = try change(
            #"{"schema":"public","table":"t","type":"UPDATE","commit_timestamp":"2026-11-21T01:44:36.579Z","columns":[],"#
                + #""record":{"id":9007199254740993},"old_record":{"id":1},"errors":null}"#)
        #expect(update.kind == .update)
        #expect(update.record["id"] == 9_007_199_254_740_993)
        #expect(update.old["id"] == 1)
        #expect(!update.isCut && !update.isFruitless)
        let large = try change(
            #"{"schema":"public","table":"t","type":"INSERT","record":{"id":"a"},"errors":["Error 413: Payload Too Large"]}"#
        )
        #expect(large.isCut && !large.isFruitless)
        let keyless = try change(
            #"{"schema":"public","table":"t","type":"INSERT","columns":[],"record":{},"commit_timestamp":null,"#
                + #""errors":["Error 400: Bad Request, no primary key"]}"#)
        #expect(keyless.isFruitless)
        #expect(try change(#"{"schema":"public","table":"t","type":"DELETE","old_record":{"id":"a"}}"#).record.isEmpty)
    }

    @Test func `Nothing absent is sent as null`() throws {
        let configuration = RealtimeConfiguration(changes: [RealtimeConfiguration.Binding(table: "t")])
        let payload = configuration.payload(token: nil)
        #expect(payload["access_token"] == nil)
        #expect(payload["config"]?["postgres_changes"]?[0] == ["event": "*", "schema": "public", "table": "t"])
        #expect(payload["config"]?["presence"]?["enabled"] == false)
        #expect(payload["config"]?["private"] == false)
        #expect(configuration.payload(token: "t")["access_token"] == "t")
    }

    @Test(arguments: [
        (
            "Unauthorized: You do not have permissions to read from this Channel topic: a",
            RealtimeRemedy.never(.unauthorized)
        ),
        ("InvalidJWTToken: Token has expired 5 seconds ago", .newToken), ("MalformedJWT: x", .newToken),
        ("JwtSignatureError: x", .newToken), ("JwtSignerError: x", .newToken),
        ("PrivateOnly: x", .never(.refused)), ("TopicNameRequired: x", .never(.refused)),
        ("TenantNotFound: x", .never(.refused)), ("RealtimeDisabledForTenant: x", .never(.refused)),
        ("UnableToReplayMessages: Replay params are not valid", .withoutReplay),
        ("ChannelRateLimitReached: Too many channels", .never(.tooManyChannels)),
        ("ConnectionRateLimitReached: x", .muchLater), ("ClientJoinRateLimitReached: x", .muchLater),
        ("InitializingProjectConnection: x", .later), ("RealtimeRestarting: x", .later),
        ("MissingPartition: x", .later),
        ("Realtime was unable to connect to the project database", .later), ("Unknown Error on Channel", .later),
        ("unmatched topic", .later), ("", .later), ("SomethingNew: x", .later),
        ("Too many messages per second", .muchLater), ("Client presence rate limit exceeded", .muchLater),
        ("Token has expired 3 seconds ago", .newToken), (":signature_error", .newToken),
        ("You do not have permissions to read from this Channel topic: x", .never(.unauthorized)),
        ("You no longer have permission to read from this Channel topic: x", .never(.unauthorized)),
        ("Unable to subscribe to changes with given parameters. x", .never(.refused)),
        ("Error parsing `filter` params: x", .never(.refused)), ("Too many database timeouts", .later),
        ("Replication connection was not established in time", .later),
    ])
    func `Each refusal has its remedy`(_ reason: String, _ remedy: RealtimeRemedy) {
        #expect(RealtimeRemedy(reason) == remedy)
    }
}
