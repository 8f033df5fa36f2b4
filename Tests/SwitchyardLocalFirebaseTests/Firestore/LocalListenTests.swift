import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalFirebase

@Suite struct `Live queries of a local Firebase` {
    private func open() throws -> LocalClient { try LocalClient(time: LocalTime(), isOpen: true) }

    private func target(_ id: Int, _ query: JSON? = nil, _ extra: JSONObject = JSONObject()) -> JSON {
        var target: JSONObject = [
            "targetId": .integer(Int64(id)),
            "query": [
                "parent": .string(LocalClient.root), "structuredQuery": query ?? ["from": [["collectionId": "c"]]],
            ],
        ]
        for member in extra.members { target[member.key] = member.value }
        return ["addTarget": .object(target)]
    }

    private func document(_ id: Int, _ path: String) -> JSON {
        ["addTarget": ["targetId": .integer(Int64(id)), "documents": ["documents": [LocalClient.name(path)]]]]
    }

    @Test func `A message whose number is beyond every other is refused, and the stream goes on`() async throws {
        let client = try open()
        let channel = RawChannel(client)
        try await channel.open(target(2))
        try await channel.wait(forStates: 1)
        for first in [Int.max, Int.max - 1, 1_000_000] {
            let refused = await #expect(throws: RawChannel.Refused.self) {
                let answer = try await channel.post(
                    [("RID", "101")],
                    [("count", "2"), ("ofs", "\(first)"), ("req0___data__", "{}"), ("req1___data__", "{}")])
                if !answer.isSuccess { throw RawChannel.Refused(status: answer.status) }
            }
            #expect(refused?.status == 400)
        }
        for first in [Int.min, -1] {
            let answer = try await channel.post(
                [("RID", "101")], [("count", "1"), ("ofs", "\(first)"), ("req0___data__", #"{"removeTarget":2}"#)])
            #expect(answer.isSuccess, "known, and dropped")
        }
        _ = try await client.send(
            .post, "/emulator/v1/projects/demo-switchyard/streamFaults", ["misstateCount": .integer(.max)])
        _ = try await client.commit(LocalClient.set("c/b", [:]))
        try await channel.wait(forStates: 2)
        #expect(channel.received.map(\.gist).contains("change c/b"))
        await client.stop()
    }

    @Test func `A target begins with what is there and goes on with what changes`() async throws {
        let client = try open()
        _ = try await client.commit(LocalClient.set("c/a", ["n": LocalClient.integer(1)]))
        let channel = RawChannel(client)
        try await channel.open(target(2))
        #expect(channel.greeting[0] == "c")
        #expect(channel.greeting.array?.suffix(3) == [8, 12, 30_000])
        try await channel.wait(forStates: 1)
        #expect(channel.received.map(\.gist) == ["ADD [2]", "change c/a", "CURRENT [2]", "state"])
        _ = try await client.commit(
            LocalClient.set("c/b", [:]), ["delete": LocalClient.name("c/a")], LocalClient.set("other/x", [:]))
        try await channel.wait(forStates: 2)
        #expect(channel.received.dropFirst(4).map(\.gist) == ["change c/b", "delete c/a", "state"])
        try await channel.send(["removeTarget": 2])
        try await channel.poll()
        #expect(channel.received.last?.gist == "REMOVE [2]")
        #expect(try await channel.terminate() == 200)
        await #expect(throws: RawChannel.Refused.self) { try await channel.send(["removeTarget": 2]) }
        await client.stop()
    }

    @Test func `A document that leaves a condition or is pushed out of a limit leaves the target`() async throws {
        let client = try open()
        for n in 1...3 { _ = try await client.commit(LocalClient.set("c/\(n)", ["n": LocalClient.integer(n)])) }
        let limited: JSON = [
            "from": [["collectionId": "c"]], "orderBy": [["field": ["fieldPath": "n"]]], "limit": 2,
        ]
        let small: JSON = [
            "from": [["collectionId": "c"]],
            "where": [
                "fieldFilter": ["field": ["fieldPath": "n"], "op": "LESS_THAN", "value": LocalClient.integer(2)]
            ],
        ]
        let channel = RawChannel(client)
        try await channel.open(target(2, limited), target(4, small))
        try await channel.wait(forStates: 2)
        let before = channel.received.count
        _ = try await client.commit(LocalClient.set("c/1", ["n": LocalClient.integer(9)]))
        try await channel.wait(forStates: 3)
        let changes = channel.received.dropFirst(before).map(\.gist)
        #expect(changes.contains("change c/1 gone from [2, 4]"))
        #expect(changes.contains("change c/3"), "moves up into the limit")
        await client.stop()
    }

    @Test func `A target that can have nothing ends with a cause, and the stream goes on`() async throws {
        let client = try open()
        let channel = RawChannel(client)
        let below: JSON = [
            "targetId": 6,
            "query": [
                "parent": .string(LocalClient.root + "/c/__x__"),
                "structuredQuery": ["from": [["collectionId": "c", "allDescendants": true]]],
            ],
        ]
        let long: JSON = [
            "from": [["collectionId": "c"]], "startAt": ["values": [LocalClient.integer(1)]],
        ]
        try await channel.open(
            document(2, "c/__x__"), document(4, "c/__x__/d/y"), ["addTarget": below], target(8, long),
            target(10, ["from": [["collectionId": "c"]], "limit": ["value": 1]]))
        try await channel.wait(forStates: 1)
        let changes = channel.received.compactMap { $0[0]?["targetChange"] }
        for id in [2, 4, 6, 8] {
            let end = changes.first { $0["targetIds"] == [.integer(Int64(id))] && $0["cause"] != nil }
            #expect(end?["targetChangeType"] == "REMOVE")
            #expect(end?["cause"]?["code"] == 3)
        }
        #expect(channel.received.map(\.gist).contains("CURRENT [10]"))
        await client.stop()
    }

    @Test func `Documents by name are reported when they come and go`() async throws {
        let client = try open()
        let channel = RawChannel(client)
        try await channel.open(document(3, "c/x"))
        try await channel.wait(forStates: 1)
        #expect(channel.received.map(\.gist) == ["ADD [3]", "delete c/x", "CURRENT [3]", "state"])
        _ = try await client.commit(LocalClient.set("c/x", [:]))
        try await channel.wait(forStates: 2)
        _ = try await client.commit(["delete": LocalClient.name("c/x")])
        try await channel.wait(forStates: 3)
        #expect(channel.received.dropFirst(4).map(\.gist) == ["change c/x", "state", "delete c/x", "state"])
        await client.stop()
    }

    @Test func `Who comes back with a token gets what is new, and a filter that shows what is gone`() async throws {
        let client = try open()
        for name in ["a", "b", "gone"] { _ = try await client.commit(LocalClient.set("c/\(name)", [:])) }
        let first = RawChannel(client)
        try await first.open(target(2))
        try await first.wait(forStates: 1)
        let token = try #require(first.received.last?[0]?["targetChange"]?["resumeToken"])
        _ = try await first.terminate()
        _ = try await client.commit(LocalClient.set("c/b", ["n": LocalClient.integer(1)]))
        _ = try await client.commit(["delete": LocalClient.name("c/gone")])

        let second = RawChannel(client)
        try await second.open(target(2, nil, ["resumeToken": token, "expectedCount": 3]))
        try await second.wait(forStates: 1)
        #expect(second.received.map(\.gist) == ["ADD [2]", "change c/b", "filter 2", "CURRENT [2]", "state"])
        let names = try #require(second.received[2][0]?["filter"]?["unchangedNames"])
        let bitmap = Base64.decode(names["bits"]?["bitmap"]?.string ?? "") ?? []
        let bits = UInt64(bitmap.count * 8 - (names["bits"]?["padding"]?.int ?? 0))
        func holds(_ path: String) -> Bool {
            let digest = MD5.digest(of: Array("\(LocalClient.root)/\(path)".utf8))
            func word(_ range: Range<Int>) -> UInt64 { digest[range].reversed().reduce(0) { $0 << 8 | UInt64($1) } }
            return (0..<UInt64(names["hashCount"]?.int ?? 0)).allSatisfy { index in
                let bit = Int((word(0..<8) &+ index &* word(8..<16)) % bits)
                return bitmap[bit / 8] & (1 << (bit % 8)) != 0
            }
        }
        #expect(holds("c/a"))
        #expect(holds("c/b"))
        #expect(!holds("c/gone"))

        let garbage = RawChannel(client)
        try await garbage.open(target(2, nil, ["resumeToken": "Z2FyYmFnZQ=="]))
        try await garbage.wait(forStates: 1)
        #expect(garbage.received.count == 5, "everything again")
        await client.stop()
    }

    @Test func `Messages are taken once and in order, however often they come`() async throws {
        let client = try open()
        let channel = RawChannel(client)
        try await channel.open(document(2, "c/2"))
        try await channel.send(document(6, "c/6"), from: 2)
        try await channel.send(document(4, "c/4"), document(6, "c/6"), from: 1)
        try await channel.send(document(4, "c/4"), from: 1)
        try await channel.wait(forStates: 3)
        #expect(channel.received.map(\.gist).filter { $0.hasPrefix("ADD") } == ["ADD [2]", "ADD [4]", "ADD [6]"])
        #expect(try await channel.send(from: 3)[1]?.int == channel.acknowledged)
        await client.stop()
    }

    @Test func `What was not acknowledged is sent again`() async throws {
        let client = try open()
        let channel = RawChannel(client)
        try await channel.open(target(2))
        let once = try await channel.poll(acknowledging: 0)
        let again = try await channel.poll(acknowledging: 0)
        #expect(again.starts(with: once))
        _ = try await client.commit(LocalClient.set("c/a", [:]))
        let later = try await channel.poll()
        #expect(later.first?[0]?.int == (once.last?[0]?.int ?? 0) + 1)
        await client.stop()
    }

    @Test func `Sessions that are not known, and marks that are not shown, are refused`() async throws {
        let client = try open()
        let channel = RawChannel(client)
        try await channel.open(target(2))
        let path = "/google.firestore.v1.Firestore/Listen/channel?VER=8&RID=rpc&AID=0&CI=1&SID="
        #expect(try await client.send(.get, path + "missing").status == 400)
        #expect(try await client.send(.get, path + PercentCoding.encode(channel.session)).status == 400)
        await client.stop()
    }

    @Test func `Refusals come on the stream: a target's own, a bad message's, a bad token's`() async throws {
        let client = try LocalClient()
        let channel = RawChannel(client)
        try await channel.open(document(2, "users/ada/notes/1"), token: client.firebase.idToken(for: "bob"))
        try await channel.poll()
        #expect(channel.received.map(\.gist) == ["ADD [2]", "REMOVE [2]"])
        #expect(channel.received[1][0]?["targetChange"]?["cause"]?["code"] == 7)
        try await channel.send(document(4, "users/bob/notes/1"), ["nonsense": true])
        try await channel.wait(forStates: 1)
        while channel.received.last?.gist != "error INVALID_ARGUMENT" { try await channel.poll() }

        let foreign = RawChannel(client)
        try await foreign.open(document(2, "c/a"), token: "forged")
        try await foreign.poll()
        #expect(foreign.received.map(\.gist) == ["error UNAUTHENTICATED"])
        await client.stop()
    }

    @Test func `A query that cannot be served is refused alone, and the stream serves the others`() async throws {
        let client = try open()
        let channel = RawChannel(client)
        try await channel.open(target(2), target(4, ["from": [["collectionId": "c"]], "limit": -1]))
        while channel.received.last?.gist != "REMOVE [4]" { try await channel.poll() }
        #expect(channel.received.last?[0]?["targetChange"]?["cause"]?["code"] == 3)
        #expect(!channel.received.contains { $0.gist.hasPrefix("error") })
        _ = try await client.commit(LocalClient.set("c/a", [:]))
        while channel.received.last?.gist != "state" || !channel.received.contains(where: { $0.gist == "change c/a" }) {
            try await channel.poll()
        }
        try await channel.send(target(6))
        while !channel.received.contains(where: { $0.gist == "CURRENT [6]" }) { try await channel.poll() }
        await client.stop()
    }

    @Test func `Operators, directions and times of the server may come as numbers`() async throws {
        let client = try open()
        for n in 1...3 { _ = try await client.commit(LocalClient.set("c/\(n)", ["n": LocalClient.integer(n)])) }
        let filter: JSON = [
            "compositeFilter": [
                "op": 1,
                "filters": [
                    ["fieldFilter": ["field": ["fieldPath": "n"], "op": 3, "value": LocalClient.integer(1)]],
                    ["unaryFilter": ["field": ["fieldPath": "n"], "op": 5]],
                ],
            ]
        ]
        let channel = RawChannel(client)
        try await channel.open(
            target(
                2,
                [
                    "from": [["collectionId": "c"]], "where": filter,
                    "orderBy": [["field": ["fieldPath": "n"], "direction": 2]],
                ]))
        try await channel.wait(forStates: 1)
        #expect(channel.received.map(\.gist) == ["ADD [2]", "change c/3", "change c/2", "CURRENT [2]", "state"])
        _ = try await client.commit(
            LocalClient.set("c/t", [:], ["updateTransforms": [["fieldPath": "at", "setToServerValue": 1]]]))
        #expect(try await client.value("c/t", "at")?["timestampValue"] != nil)
        await client.stop()
    }

    @Test func `A stream is cut into pieces by the units of UTF-16, wherever characters are cut`() async throws {
        let client = try open()
        let text = String(repeating: "😀é～a", count: 2000)
        _ = try await client.commit(LocalClient.set("c/a", ["t": ["stringValue": .string(text)]]))
        let channel = RawChannel(client)
        try await channel.open(target(2))
        try await channel.wait(forStates: 1)
        let kept = channel.received[1][0]?["documentChange"]?["document"]?["fields"]?["t"]
        #expect(kept == ["stringValue": .string(text)])
        await client.stop()
    }

    @Test func `Faults of streams: everything twice, in the wrong order, and counts that are wrong`() async throws {
        let client = try open()
        let channel = RawChannel(client)
        client.firebase.firestore.streamFaults.duplicateArrays(inNext: 1)
        try await channel.open(target(2))
        let twice = try await channel.poll().compactMap { $0[0]?.int }
        #expect(twice == [1, 2, 3, 1, 2, 3])
        client.firebase.firestore.streamFaults.reorderArrays(inNext: 1)
        _ = try await client.commit(LocalClient.set("c/a", [:]))
        #expect(try await channel.poll().compactMap { $0[0]?.int } == [5, 4])
        let path = "/emulator/v1/projects/demo-switchyard/streamFaults"
        #expect(try await client.send(.post, path, ["misstateCount": 3]).status == 200)
        #expect(try await client.send(.post, path, ["unheardOf": 3]).status == 400)
        _ = try await client.commit(LocalClient.set("c/b", [:]))
        try await channel.wait(forStates: 3)
        #expect(channel.received.suffix(3).map(\.gist) == ["change c/b", "filter 5", "state"])
        await client.stop()
    }

    @Test func `A new back channel ends the one before, and nothing is lost`() async throws {
        let client = try open()
        let channel = RawChannel(client)
        try await channel.open(target(2))
        try await channel.wait(forStates: 1)
        let path = "http://\(client.firebase.host)/google.firestore.v1.Firestore/Listen/channel?VER=8&RID=rpc"
        let query = "&SID=\(PercentCoding.encode(channel.session))&gsessionid=\(channel.mark ?? "")&CI=0&AID="
        let stream = try await client.transport.stream(HTTPRequest(.get, path + query + "\(channel.acknowledged)"))
        var old = stream.body.makeAsyncIterator()
        let greeting = try RawChannel.frames(try await old.next() ?? [])
        #expect(greeting.first?[0]?[1] == ["noop"])
        _ = try await client.commit(LocalClient.set("c/a", [:]))
        try await channel.wait(forStates: 2)
        var rest: [UInt8] = []
        while let bytes = try await old.next() { rest += bytes }
        #expect(channel.received.suffix(2).map(\.gist) == ["change c/a", "state"])
        await client.stop()
    }

    @Test func `Batches that are sent on before an answer has come carry an earlier token, and all are committed`()
        async throws
    {
        let client = try open()
        let channel = RawChannel(client, "Write")
        try await channel.open(["database": "ignored"])
        try await channel.poll()
        let token = try #require(channel.received.last?[0]?["streamToken"])
        func batch(_ n: Int, _ token: JSON) -> JSON {
            ["streamToken": token, "writes": [LocalClient.set("c/\(n)", ["n": LocalClient.integer(n)])]]
        }
        try await channel.send(batch(1, token), batch(2, token), batch(3, token))
        while channel.received.count < 4 { try await channel.poll() }
        try await channel.send(batch(4, token))
        while channel.received.count < 5 { try await channel.poll() }
        #expect(channel.received.dropFirst().allSatisfy { $0[0]?["writeResults"] != nil })
        for n in 1...4 { #expect(try await client.value("c/\(n)", "n") == LocalClient.integer(n)) }
        try await channel.send(batch(5, "OTk="))
        try await channel.poll()
        #expect(channel.received.last?.gist == "error INVALID_ARGUMENT", "a token that was never given out")
        await client.stop()
    }

    @Test func `The stream of writes commits one message after the other and ends at the first that fails`()
        async throws
    {
        let client = try open()
        let channel = RawChannel(client, "Write")
        try await channel.open(["database": "ignored"])
        try await channel.poll()
        var token = try #require(channel.received.last?[0]?["streamToken"])
        let write = LocalClient.set(
            "c/a", [:],
            ["updateMask": [:], "updateTransforms": [["fieldPath": "n", "increment": LocalClient.integer(1)]]])
        try await channel.send(["streamToken": token, "writes": [write]])
        try await channel.poll()
        let answer = channel.received.last?[0]
        #expect(answer?["writeResults"]?[0]?["transformResults"] == [LocalClient.integer(1)])
        token = try #require(answer?["streamToken"])
        let failing = LocalClient.set("c/b", [:], ["currentDocument": ["exists": true]])
        try await channel.send(["streamToken": token, "writes": [failing]], ["streamToken": token, "writes": [write]])
        try await channel.poll()
        #expect(channel.received.last?.gist == "error NOT_FOUND")
        #expect(try await client.value("c/a", "n") == LocalClient.integer(1))

        let orderly = RawChannel(client, "Write")
        try await orderly.open(["database": "ignored"])
        try await orderly.poll()
        let last = try #require(orderly.received.last?[0]?["streamToken"])
        try await orderly.send(["streamToken": last, "writes": []])
        try await orderly.poll()
        #expect(orderly.received.last == ["close"])
        await client.stop()
    }
}
