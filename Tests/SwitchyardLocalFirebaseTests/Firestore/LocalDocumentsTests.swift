import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@Suite struct `Documents of a local Firebase` {
    private func open() throws -> LocalClient { try LocalClient(time: LocalTime(), isOpen: true) }

    @Test func `A document is created, read, patched and deleted`() async throws {
        let client = try open()
        let created = try await client.firestore(
            .post, "cities?documentId=ulm", ["fields": ["n": LocalClient.integer(1), "m": ["stringValue": "a"]]])
        #expect(created.json["name"] == LocalClient.name("cities/ulm"))
        #expect(created.json["createTime"] == created.json["updateTime"])
        let twice = try await client.firestore(.post, "cities?documentId=ulm", ["fields": [:]])
        #expect(twice.status == 409)
        #expect(twice.errorStatus == "ALREADY_EXISTS")
        let patched = try await client.firestore(
            .patch, "cities/ulm?updateMask.fieldPaths=n&updateMask.fieldPaths=m",
            ["fields": ["n": LocalClient.integer(2)]])
        #expect(patched.json["fields"] == ["n": LocalClient.integer(2)])
        #expect(patched.json["updateTime"] != created.json["updateTime"])
        let again = try await client.firestore(.patch, "cities/ulm", ["fields": ["n": LocalClient.integer(2)]])
        #expect(again.json["updateTime"] == patched.json["updateTime"], "nothing changed")
        #expect(try await client.firestore(.delete, "cities/ulm").json == [:])
        #expect(try await client.firestore(.get, "cities/ulm").status == 404)
        #expect(try await client.firestore(.delete, "cities/ulm").status == 200)
        #expect(try await client.firestore(.delete, "cities/ulm?currentDocument.exists=true").status == 404)
        await client.stop()
    }

    @Test func `Names that need coding mean what they say`() async throws {
        let client = try open()
        for name in ["a+b", "ä ö", "100%", "what?", "#1", "😀"] {
            let coded = PercentCoding.encode(name)
            _ = try await client.firestore(.patch, "c/\(coded)", ["fields": [:]])
            #expect(try await client.firestore(.get, "c/\(coded)").json["name"] == LocalClient.name("c/\(name)"))
        }
        _ = try await client.firestore(
            .patch, "c/x?updateMask.fieldPaths=%60a.b%60", ["fields": ["a.b": LocalClient.integer(7)]])
        #expect(try await client.value("c/x", "a.b") == LocalClient.integer(7))
        await client.stop()
    }

    @Test func `Writes to one document whose conditions are about the same commit are refused`() async throws {
        let client = try open()
        _ = try await client.commit(LocalClient.set("c/a", [:]))
        let delete: JSON = ["delete": LocalClient.name("c/a")]
        let exists: JSONObject = ["currentDocument": ["exists": true]]
        let verify: JSON = ["verify": LocalClient.name("c/a"), "currentDocument": ["exists": true]]
        let answer = try await client.commit(delete, LocalClient.set("c/a", [:], exists))
        #expect(answer.status == 400)
        #expect(answer.error == "Cannot delete then update an entity in the same request.")
        for writes in [
            [verify, LocalClient.set("c/a", [:])], [LocalClient.set("c/a", [:]), verify], [verify, verify],
        ] {
            #expect(try await client.commit(writes[0], writes[1]).errorStatus == "INVALID_ARGUMENT")
        }
        #expect(try await client.commit(delete, LocalClient.set("c/a", [:])).status == 200, "without a condition")
        await client.stop()
    }

    @Test func `A reserved name refuses a batch as a whole`() async throws {
        let client = try open()
        for bad in [LocalClient.set("c/__b__", [:]), LocalClient.set("c/b", ["__x__": LocalClient.integer(1)])] {
            let answer = try await client.firestore(
                .post, ":batchWrite", ["writes": [LocalClient.set("c/a", [:]), bad]], as: "owner")
            #expect(answer.status == 400)
            #expect(try await client.firestore(.get, "c/a").status == 404)
        }
        let read = try await client.firestore(.post, ":batchGet", ["documents": [LocalClient.name("c/__x__")]])
        #expect(read.status == 400)
        await client.stop()
    }

    @Test func `A text has at most 1048487 bytes, wherever it stands`() async throws {
        let client = try open()
        let text: JSON = ["stringValue": .string(String(repeating: "x", count: 1_048_488))]
        #expect(try await client.commit(LocalClient.set("c/a", ["a": text])).errorStatus == "INVALID_ARGUMENT")
        let list: JSON = ["arrayValue": ["values": [text]]]
        #expect(try await client.commit(LocalClient.set("c/a", ["a": list])).errorStatus == "INVALID_ARGUMENT")
        let most: JSON = ["stringValue": .string(String(repeating: "x", count: 1_048_487))]
        #expect(try await client.commit(LocalClient.set("c/a", ["a": most])).status == 200)
        await client.stop()
    }

    @Test func `A commit takes effect as a whole or not at all`() async throws {
        let client = try open()
        let failed = try await client.commit(
            LocalClient.set("c/a", ["n": LocalClient.integer(1)]),
            LocalClient.set("c/b", [:], ["currentDocument": ["exists": true]]))
        #expect(failed.status == 404)
        #expect(try await client.firestore(.get, "c/a").status == 404)
        let done = try await client.commit(
            LocalClient.set("c/a", ["n": LocalClient.integer(1)], ["currentDocument": ["exists": false]]),
            LocalClient.set(
                "c/a", [:],
                ["updateMask": [:], "updateTransforms": [["fieldPath": "n", "increment": LocalClient.integer(5)]]]),
            ["delete": LocalClient.name("c/zzz")])
        #expect(done.json["writeResults"]?[1]?["transformResults"] == [LocalClient.integer(6)])
        #expect(done.json["writeResults"]?[2] == [:])
        #expect(try await client.value("c/a", "n") == LocalClient.integer(6))
        #expect(try await client.commit().json == [:])
        await client.stop()
    }

    @Test func `Transforms work as the vendor's do`() async throws {
        let client = try open()
        func transform(_ field: String, _ transform: JSONObject) async throws -> JSON? {
            var transform = transform
            transform["fieldPath"] = .string(field)
            let answer = try await client.commit(
                LocalClient.set("c/t", [:], ["updateMask": [:], "updateTransforms": [.object(transform)]]))
            return answer.json["writeResults"]?[0]?["transformResults"]?[0]
        }
        #expect(try await transform("n", ["increment": LocalClient.integer(.max)]) == LocalClient.integer(.max))
        #expect(try await transform("n", ["increment": LocalClient.integer(1)]) == LocalClient.integer(.max))
        #expect(try await transform("d", ["increment": ["doubleValue": 1.5]]) == ["doubleValue": 1.5])
        #expect(try await transform("x", ["maximum": LocalClient.integer(3)]) == LocalClient.integer(3))
        #expect(try await transform("x", ["minimum": LocalClient.integer(5)]) == LocalClient.integer(3))
        let elements: JSON = ["values": [LocalClient.integer(2), ["doubleValue": 2.0]]]
        #expect(try await transform("a", ["appendMissingElements": elements]) == ["nullValue": .null])
        #expect(try await client.value("c/t", "a") == ["arrayValue": ["values": [LocalClient.integer(2)]]])
        let time = try await transform("ts", ["setToServerValue": "REQUEST_TIME"])?["timestampValue"]?.string
        #expect(time == "2027-01-15T08:00:00Z")
        await client.stop()
    }

    @Test func `Preconditions are checked`() async throws {
        let client = try open()
        let first = try await client.commit(LocalClient.set("c/a", ["n": LocalClient.integer(1)]))
        let version = try #require(first.json["writeResults"]?[0]?["updateTime"])
        _ = try await client.commit(LocalClient.set("c/a", ["n": LocalClient.integer(2)]))
        let stale = try await client.commit(
            LocalClient.set("c/a", [:], ["currentDocument": ["updateTime": version]]))
        #expect(stale.status == 400)
        #expect(stale.errorStatus == "FAILED_PRECONDITION")
        let verify: JSON = ["verify": LocalClient.name("c/a"), "currentDocument": ["updateTime": version]]
        #expect(try await client.commit(LocalClient.set("c/b", [:]), verify).errorStatus == "FAILED_PRECONDITION")
        #expect(try await client.firestore(.get, "c/b").status == 404)
        await client.stop()
    }

    @Test(arguments: [
        #"{"a":{"arrayValue":{"values":[{"arrayValue":{}}]}}}"#, #"{"__a__":{"nullValue":null}}"#,
        #"{"":{"nullValue":null}}"#,
        #"{"a":{}}"#, #"{"a":{"stringValue":1}}"#, #"{"a":{"geoPointValue":{"latitude":91}}}"#,
        #"{"a":{"timestampValue":"10000-01-01T00:00:00Z"}}"#,
    ])
    func `A document that cannot be is refused`(_ fields: String) async throws {
        let client = try open()
        let answer = try await client.commit(LocalClient.set("c/a", try JSON(parsing: fields)))
        #expect(answer.status == 400)
        #expect(answer.errorStatus == "INVALID_ARGUMENT")
        await client.stop()
    }

    @Test func `Times are stored to the microsecond`() async throws {
        let client = try open()
        let time: JSON = ["timestampValue": "2026-01-02T03:04:05.123456789Z"]
        _ = try await client.commit(LocalClient.set("c/a", ["t": time, "l": ["arrayValue": ["values": [time]]]]))
        let kept: JSON = ["timestampValue": "2026-01-02T03:04:05.123456Z"]
        #expect(try await client.value("c/a", "t") == kept)
        #expect(try await client.value("c/a", "l") == ["arrayValue": ["values": [kept]]])
        await client.stop()
    }

    @Test func `A batch read answers each name once, found or missing`() async throws {
        let client = try open()
        _ = try await client.commit(LocalClient.set("c/a", ["n": LocalClient.integer(1), "m": LocalClient.integer(2)]))
        let names = ["c/a", "c/zz", "c/a"].map { LocalClient.name($0) }
        let answer = try await client.firestore(
            .post, ":batchGet", ["documents": .array(names), "mask": ["fieldPaths": ["m"]]])
        #expect(answer.json.array?.count == 2)
        #expect(answer.json[0]?["found"]?["fields"] == ["m": LocalClient.integer(2)])
        #expect(answer.json[1]?["missing"] == LocalClient.name("c/zz"))
        await client.stop()
    }

    @Test func `A collection is listed in pages, with those that are only parents for the owner`() async throws {
        let client = try open()
        for index in 0..<5 {
            _ = try await client.commit(LocalClient.set("c/d\(index)", ["n": LocalClient.integer(5 - index)]))
        }
        _ = try await client.commit(LocalClient.set("c/ghost/sub/x", [:]))
        var token = ""
        var seen: [String] = []
        repeat {
            let page = try await client.firestore(.get, "c?pageSize=2&pageToken=\(token)").json
            seen += page["documents"]?.array?.compactMap { $0["name"]?.string } ?? []
            token = page["nextPageToken"]?.string ?? ""
        } while !token.isEmpty
        #expect(seen.map { String($0.suffix(2)) } == ["d0", "d1", "d2", "d3", "d4"])
        let ordered = try await client.firestore(.get, "c?orderBy=n%20desc&pageSize=1").json["documents"]?[0]?["name"]
        #expect(ordered == LocalClient.name("c/d0"))
        #expect(try await client.firestore(.get, "c?showMissing=true").status == 403)
        let all = try await client.firestore(.get, "c?showMissing=true", as: "owner").json["documents"]?.array
        #expect(all?.count == 6)
        let ids = try await client.firestore(.post, ":listCollectionIds", [:], as: "owner").json["collectionIds"]
        #expect(ids == ["c"])
        let inner = try await client.firestore(.post, "c/ghost:listCollectionIds", [:], as: "owner")
        #expect(inner.json["collectionIds"] == ["sub"])
        #expect(try await client.firestore(.post, ":listCollectionIds", [:]).status == 403)
        await client.stop()
    }

    @Test func `Writes of a batch fail one by one, for the owner only`() async throws {
        let client = try open()
        let body: JSON = [
            "writes": [
                LocalClient.set("c/a", [:]), LocalClient.set("c/b", [:], ["currentDocument": ["exists": true]]),
            ]
        ]
        #expect(try await client.firestore(.post, ":batchWrite", body).status == 403)
        let answer = try await client.firestore(.post, ":batchWrite", body, as: "owner")
        #expect(answer.json["status"]?[0] == [:])
        #expect(answer.json["status"]?[1]?["code"] == 5)
        #expect(try await client.firestore(.get, "c/a").status == 200)
        await client.stop()
    }

    @Test func `Databases and projects know nothing of each other, and one can be emptied`() async throws {
        let client = try open()
        _ = try await client.commit(LocalClient.set("c/a", [:]))
        let other = "/v1/projects/other/databases/(default)/documents/c/a"
        #expect(try await client.send(.get, other).status == 404)
        #expect(try await client.send(.patch, other, ["fields": [:]]).status == 200)
        let path = "/emulator/v1/projects/demo-switchyard/databases/(default)/documents"
        #expect(try await client.send(.delete, path).json == [:])
        #expect(try await client.firestore(.get, "c/a").status == 404)
        #expect(try await client.send(.get, other).status == 200)
        await client.stop()
    }
}
