import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// Channels of the local realtime service: joining, broadcasts, presence, tokens.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RealtimeChannelTests {
    private func topic() -> String { "realtime:room-\(RandomID.make(length: 10))" }

    private func withPeers(
        _ callers: [SupabaseClient.Caller], version: String = "2.0.0",
        _ body: (SupabaseClient, [RealtimePeer]) async throws -> Void
    ) async throws {
        let client = try await SupabaseClient.shared.value
        var peers: [RealtimePeer] = []
        for caller in callers { peers.append(try await RealtimePeer(client, as: caller, version: version)) }
        try await body(client, peers)
        for peer in peers { await peer.leave() }
    }

    // MARK: The connection

    @Test func `Handshakes are refused with a status and a reason`() async throws {
        let client = try await SupabaseClient.shared.value
        let path = "/realtime/v1/websocket?vsn=2.0.0"
        let stale = client.supabase.accessToken(for: "ann", validFor: -3600)
        for (query, status, reason) in [
            ("", 401, "API key is missing"), ("&apikey=x", 401, "The token provided is not a valid JWT"),
            ("&apikey=\(stale)", 401, "Token has expired"),
        ] {
            let failure = await #expect(throws: TransportError.self) {
                () async throws -> Void in
                _ = try await client.transport.webSocket(WebSocketRequest(client.supabase.server.url + path + query))
            }
            #expect(failure?.response?.status == status)
            let text = (failure?.response?.body).flatMap { try? JSON(parsing: $0) }?["error"]?.string ?? ""
            #expect(text.hasPrefix(reason))
        }
        let wrong = try await client.send(
            .get, "/realtime/v1/websocket?vsn=9&apikey=\(client.supabase.anonKey)", as: .unauthenticated)
        #expect(wrong.status == 403)
    }

    @Test func `Heartbeats are answered, what cannot be read is passed over`() async throws {
        try await withPeers([.anonymous]) { _, peers in
            try await peers[0].send(raw: .text("this is no JSON"))
            try await peers[0].send(raw: .binary([9, 9]))
            let reply = try await peers[0].reply(to: try await peers[0].push("phoenix", "heartbeat"))
            #expect(reply.status == "ok" && reply.payload["response"] == [:])
        }
    }

    /// The answer used to leave before the channel was on the list of subscribers.
    @Test func `Nothing comes before the answer to a join, and nothing behind it is missing`() async throws {
        try await withPeers([.anonymous]) { client, peers in
            let (peer, hub) = (peers[0], client.supabase.realtime.hub)
            for _ in 0..<20 {
                let topic = topic()
                let name = String(topic.dropFirst(LocalChannel.prefix.count))
                let place = RealtimeHub.Place(name: name, isPrivate: false)
                let sending = Task {
                    var number: Int64 = 0
                    while !Task.isCancelled {
                        number += 1
                        let frame = RealtimeFrame(
                            topic: topic, event: "broadcast", payload: ["n": .integer(number)])
                        hub.broadcast(frame, to: place)
                        await Task.yield()
                    }
                }
                #expect(try await peer.join(topic).status == "ok")
                try await eventually("what is sent arrives") { peer.all("broadcast", topic).count > 20 }
                sending.cancel()
                await sending.value
                #expect(peer.frames.first { $0.topic == topic }?.event == "phx_reply")
                let numbers = peer.all("broadcast", topic).compactMap { $0.payload["n"]?.int }
                #expect(numbers == Array(numbers[0]..<numbers[0] + numbers.count))
            }
        }
    }

    @Test func `Joined, left, and joined again`() async throws {
        try await withPeers([.anonymous]) { _, peers in
            let (peer, topic) = (peers[0], topic())
            #expect(try await peer.join(topic).status == "ok")
            let first = peer.frames[0].joinRef
            #expect(try await peer.join(topic).status == "ok")
            // The second life ends the first one.
            let closed = try await peer.first("the end of the first life") { $0.event == "phx_close" }
            #expect(closed.joinRef == first)
            let left = try await peer.reply(to: try await peer.push(topic, "phx_leave"))
            #expect(left.status == "ok")
            try await eventually("both lives are over") { peer.all("phx_close", topic).count == 2 }
            let lost = try await peer.reply(to: try await peer.push(topic, "broadcast", ["event": "x"]))
            #expect(lost.reason == "unmatched topic")
            #expect(try await peer.join("elsewhere").reason == "unmatched topic")
            #expect(try await peer.join("realtime:").reason?.hasPrefix("TopicNameRequired") == true)
        }
    }

    // MARK: Broadcasts

    @Test func `A broadcast reaches the others, and the sender where it wants that`() async throws {
        try await withPeers([.anonymous, .user("ann"), .user("bob")]) { _, peers in
            let topic = topic()
            try await peers[0].join(topic, ["broadcast": ["self": true, "ack": true]])
            try await peers[1].join(topic)
            try await peers[2].join(topic + "-other")
            let message: JSON = ["type": "broadcast", "event": "cursor", "payload": ["x": 1]]
            let reply = try await peers[0].reply(to: try await peers[0].push(topic, "broadcast", message))
            #expect(reply.status == "ok")
            for peer in peers[..<2] {
                let received = try await peer.first("the broadcast") { $0.event == "broadcast" }
                #expect(received.payload["payload"] == ["x": 1] && received.joinRef == nil && !received.isBinary)
            }
            try await peers[1].push(topic, "broadcast", message)
            try await eventually("the other receives it") { peers[0].all("broadcast", topic).count == 2 }
            #expect(peers[1].all("broadcast", topic).count == 1)
            #expect(peers[2].frames.allSatisfy { $0.event != "broadcast" })
        }
    }

    @Test func `Binary frames carry broadcasts, and bytes that are no JSON`() async throws {
        try await withPeers([.anonymous, .anonymous]) { client, peers in
            let topic = topic()
            let old = try await RealtimePeer(client, as: .anonymous, version: "1.0.0")
            for peer in peers + [old] { try await peer.join(topic) }
            func frame(_ encoding: UInt8, _ content: [UInt8]) -> [UInt8] {
                let fields = ["1", "", topic, "e", ""].map { Array($0.utf8) }
                return [3] + fields.map { UInt8($0.count) } + [encoding] + fields.joined() + content
            }
            try await peers[0].send(raw: .binary(frame(0, [0, 255, 1])))
            try await peers[0].send(raw: .binary(frame(1, Array(#"{"a":1}"#.utf8))))
            try await eventually("both came") { peers[1].all("broadcast", topic).count == 2 }
            let received = peers[1].all("broadcast", topic)
            #expect(received[0].bytes == [0, 255, 1] && received.allSatisfy(\.isBinary))
            #expect(received[1].payload["payload"] == ["a": 1] && received[1].payload["event"] == "e")
            // Those of the older form get what is JSON, as text.
            let text = try await old.first("the text") { $0.event == "broadcast" }
            #expect(text.payload["payload"] == ["a": 1] && old.all("broadcast", topic).count == 1)
            await old.leave()
        }
    }

    @Test func `Too large a broadcast is reported where an answer was asked for`() async throws {
        var options = LocalSupabaseOptions()
        options.realtime.broadcastSize = 100
        options.realtime.channelsPerClient = 2
        options.realtime.messagesPerSecond = 1
        let client = try await SupabaseClient(options)
        let peer = try await RealtimePeer(client, as: .anonymous)
        let topic = topic()
        try await peer.join(topic, ["broadcast": ["ack": true]])
        let large: JSON = ["event": "x", "payload": ["t": .string(String(repeating: "x", count: 200))]]
        let reply = try await peer.reply(to: try await peer.push(topic, "broadcast", large))
        #expect(reply.status == "error" && reply.payload["response"] == "payload_size_exceeded")
        let single = try await client.json(
            .post, "/realtime/v1/api/broadcast/a/events/b", large, as: .service)
        #expect(single.status == 422)

        try await peer.join("realtime:second")
        #expect(try await peer.join("realtime:third").reason?.hasPrefix("ChannelRateLimitReached") == true)
        // Sixty a minute is one a second.
        for _ in 0..<60 { try await peer.push(topic, "broadcast", ["event": "x", "payload": [:]]) }
        _ = try await peer.system(topic, "Too many messages per second")
        _ = try await peer.first("the end") { $0.event == "phx_close" && $0.topic == topic }
        await peer.leave()
        await client.stop()
    }

    @Test func `Servers send over HTTP`() async throws {
        try await withPeers([.anonymous]) { client, peers in
            let topic = topic()
            let name = String(topic.dropFirst("realtime:".count))
            try await peers[0].join(topic)
            let many = try await client.json(
                .post, "/realtime/v1/api/broadcast",
                ["messages": [["topic": .string(name), "event": "m", "payload": ["n": 1]]]], as: .service)
            #expect(many.status == 202 && many.body.isEmpty)
            let one = try await client.json(
                .post, "/realtime/v1/api/broadcast/\(name)/events/o", ["n": 2], as: .service)
            #expect(one.status == 202)
            let raw = try await client.send(
                .post, "/realtime/v1/api/broadcast/\(name)/events/r", [1, 2], as: .service,
                ["Content-Type": "application/octet-stream"])
            #expect(raw.status == 202)
            try await eventually("all three") { peers[0].all("broadcast", topic).count == 3 }
            let received = peers[0].all("broadcast", topic)
            #expect(received.map(\.isBinary) == [false, true, true] && received[2].bytes == [1, 2])
            #expect(try await client.json(.post, "/realtime/v1/api/broadcast", [:], as: .service).status == 422)
            #expect(try await client.json(.post, "/realtime/v1/api/broadcast", [:], as: .unauthenticated).status == 401)
            let text = try await client.send(
                .post, "/realtime/v1/api/broadcast/\(name)/events/o", [1], as: .service,
                ["Content-Type": "text/plain"])
            #expect(text.status == 415)
        }
    }

    // MARK: The database's messages

    @Test func `The database sends, to private channels, once the server listens to it`() async throws {
        try await withPeers([.service, .service]) { client, peers in
            let topic = topic()
            let name = String(topic.dropFirst("realtime:".count))
            try await peers[0].join(topic, ["private": true, "broadcast": ["replication_ready": true]])
            let ready = try await peers[0].system(topic, "Replication connection established")
            #expect(ready.payload["extension"] == "system" && ready.joinRef != nil)
            try await peers[1].join(topic)
            _ = try await client.sql("select realtime.send('{\"a\": 1}', 'change', $1)", [name])
            let received = try await peers[0].first("the message") { $0.event == "broadcast" }
            #expect(received.payload["event"] == "change" && received.payload["payload"]?["a"] == 1)
            #expect(received.payload["meta"]?["id"] == received.payload["payload"]?["id"] && received.isBinary)

            // What is rolled back was never said; many at once all come, in order.
            _ = try? await client.supabase.database.run([
                PostgresStatement("select realtime.send('{}', 'never', $1)", [name]), PostgresStatement("select 1/0"),
            ])
            _ = try await client.sql(
                "select count(realtime.send(jsonb_build_object('n', n), 'many', $1)) from generate_series(1, 1200) n",
                [name])
            try await eventually("all of them") { peers[0].all("broadcast", topic).count == 1201 }
            let numbers = peers[0].all("broadcast", topic).dropFirst().map { $0.payload["payload"]?["n"]?.int }
            #expect(numbers == (1...1200).map { $0 })
            #expect(peers[1].all("broadcast", topic).isEmpty)
        }
    }

    @Test func `Who comes later receives what was sent before, as much as there is room for`() async throws {
        try await withPeers([.service]) { client, peers in
            let topic = topic()
            let name = String(topic.dropFirst("realtime:".count))
            for number in 1...3 {
                _ = try await client.sql(
                    "select realtime.send(jsonb_build_object('n', $2::int), 'e', $1)", [name, "\(number)"])
            }
            try await peers[0].join(
                topic, ["private": true, "broadcast": ["replay": ["since": 0, "limit": 2]]])
            // What was sent just now may come live as well.
            func received() -> [RealtimePeer.Frame] {
                peers[0].all("broadcast", topic).filter { $0.payload["meta"]?["replayed"] == true }
            }
            try await eventually("two") { received().count >= 2 }
            #expect(received().map { $0.payload["payload"]?["n"]?.int } == [2, 3])
            #expect(received().allSatisfy { $0.joinRef != nil })
            let open = try await peers[0].join(topic, ["broadcast": ["replay": ["since": 0]]])
            #expect(open.reason?.contains("Replay is not allowed for public channels") == true)
            let bad = try await peers[0].join(topic, ["private": true, "broadcast": ["replay": [:]]])
            #expect(bad.reason?.contains("Replay params are not valid") == true)
        }
    }

    // MARK: Presence

    @Test func `Arrivals and departures are delivered`() async throws {
        try await withPeers([.user("ann"), .user("bob")]) { _, peers in
            let topic = topic()
            try await peers[0].join(topic, ["presence": ["enabled": true, "key": "ann"]])
            let empty = try await peers[0].first("the state") { $0.event == "presence_state" }
            #expect(empty.payload == [:])
            let track: JSON = ["type": "presence", "event": "track", "payload": ["mood": "fine"]]
            #expect(try await peers[0].reply(to: try await peers[0].push(topic, "presence", track)).status == "ok")
            let joined = try await peers[0].first("herself") { $0.event == "presence_diff" }
            #expect(joined.payload["joins"]?["ann"]?["metas"]?[0]?["mood"] == "fine")

            try await peers[1].join(topic, ["presence": ["enabled": true, "key": "bob"]])
            let state = try await peers[1].first("the state") { $0.event == "presence_state" }
            #expect(state.payload["ann"]?["metas"]?[0]?["mood"] == "fine")

            let change: JSON = ["type": "presence", "event": "track", "payload": ["mood": "tired"]]
            try await peers[0].push(topic, "presence", track)
            try await peers[0].push(topic, "presence", change)
            let diff = try await peers[1].first("the change") { $0.event == "presence_diff" }
            let meta = diff.payload["joins"]?["ann"]?["metas"]?[0]
            #expect(meta?["mood"] == "tired")
            #expect(meta?["phx_ref_prev"] == diff.payload["leaves"]?["ann"]?["metas"]?[0]?["phx_ref"])
            await peers[0].leave()
            try await eventually("she has gone") {
                peers[1].all("presence_diff", topic).last?.payload["leaves"]?["ann"] != nil
                    && peers[1].all("presence_diff", topic).last?.payload["joins"] == [:]
            }
        }
    }

    // MARK: Tokens

    @Test func `A channel ends with its token, and lives on with a new one`() async throws {
        let time = LocalTime()
        var options = LocalSupabaseOptions()
        options.now = { time.now }
        let client = try await SupabaseClient(options)
        let peer = try await RealtimePeer(client, as: .anonymous)
        let (short, long) = (topic(), topic())
        for topic in [short, long] {
            try await peer.join(topic, token: client.supabase.accessToken(for: "ann", validFor: 60))
        }
        try await peer.push(
            long, "access_token", ["access_token": .string(client.supabase.accessToken(for: "ann", validFor: 600))])
        _ = try await peer.reply(to: try await peer.push("phoenix", "heartbeat"))
        time.advance(by: 100)
        let end = try await peer.system(short, "Token has expired")
        #expect(end.status == "error" && end.payload["extension"] == "system")
        _ = try await peer.first("the end") { $0.event == "phx_close" && $0.topic == short }
        #expect(peer.all("phx_close", long).isEmpty)

        let stale = try await peer.join(short, token: client.supabase.accessToken(for: "ann", validFor: -50))
        #expect(stale.reason?.hasPrefix("InvalidJWTToken: Token has expired") == true)
        #expect(try await peer.join(short, token: "x").reason?.hasPrefix("MalformedJWT") == true)
        let forged = SupabaseToken(claims: ["role": "service_role", "exp": 9_999_999_999]).text(secret: [1])
        #expect(try await peer.join(short, token: forged).reason?.hasPrefix("JwtSignatureError") == true)
        let bad = try await peer.push(long, "access_token", ["access_token": .string(forged)])
        #expect(!bad.isEmpty)
        _ = try await peer.first("the end") { $0.event == "phx_close" && $0.topic == long }
        await peer.leave()
        await client.stop()
    }
}
