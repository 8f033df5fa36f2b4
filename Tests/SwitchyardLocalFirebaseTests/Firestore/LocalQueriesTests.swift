import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@Suite struct `Queries of a local Firebase` {
    private func filled() async throws -> LocalClient {
        let client = try LocalClient(time: LocalTime(), isOpen: true)
        for (name, n) in [("a", 1), ("b", 2), ("c", 3)] {
            _ = try await client.commit(LocalClient.set("q/\(name)", ["n": LocalClient.integer(n)]))
        }
        _ = try await client.commit(LocalClient.set("q/d", ["n": ["stringValue": "x"]]))
        _ = try await client.commit(LocalClient.set("q/a/q/deep", ["n": LocalClient.integer(9)]))
        return client
    }

    private func filter(_ op: String, _ value: JSON) -> JSON {
        ["fieldFilter": ["field": ["fieldPath": "n"], "op": .string(op), "value": value]]
    }

    @Test func `Conditions, orders, cursors and limits choose results`() async throws {
        let client = try await filled()
        let from: JSON = [["collectionId": "q"]]
        #expect(try await client.query(["from": from]) == ["q/a", "q/b", "q/c", "q/d"])
        let greater = filter("GREATER_THAN", LocalClient.integer(1))
        #expect(try await client.query(["from": from, "where": greater]) == ["q/b", "q/c"])
        let order: JSON = [["field": ["fieldPath": "n"], "direction": "DESCENDING"]]
        #expect(try await client.query(["from": from, "orderBy": order, "limit": 2]) == ["q/d", "q/c"])
        let start: JSON = ["values": [LocalClient.integer(3)], "before": false]
        #expect(try await client.query(["from": from, "orderBy": order, "startAt": start]) == ["q/b", "q/a"])
        #expect(try await client.query(["from": from, "offset": 3]) == ["q/d"])
        #expect(try await client.query(["from": from, "limit": 0]) == [])
        let group: JSON = [["collectionId": "q", "allDescendants": true]]
        #expect(try await client.query(["from": group]) == ["q/a", "q/a/q/deep", "q/b", "q/c", "q/d"])
        #expect(try await client.query(["from": from], below: "q/a") == ["q/a/q/deep"])
        #expect(try await client.query(["from": group], below: "q/a") == ["q/a/q/deep"])
        #expect(try await client.query(["from": from, "limit": -1]) == ["INVALID_ARGUMENT"])
        await client.stop()
    }

    @Test(arguments: ["9223372036854775807", "9223372036854775806", "2"])
    func `A query is partitioned into as many parts as asked for, and not more than there are`(_ count: String)
        async throws
    {
        let client = try await filled()
        let query: JSON = [
            "from": [["collectionId": "q", "allDescendants": true]],
            "orderBy": [["field": ["fieldPath": "__name__"], "direction": "ASCENDING"]],
        ]
        for number in [JSON.string(count), .integer(Int64(count) ?? 0)] {
            let answer = try await client.firestore(
                .post, ":partitionQuery",
                ["structuredQuery": query, "partitionCount": number, "pageSize": .integer(.max)], as: "owner")
            #expect(answer.status == 200)
            #expect(answer.json["partitions"]?.array?.count == (count == "2" ? 2 : 4))
        }
        await client.stop()
    }

    @Test func `An answer ends with a mark, also when it is empty, and shows only what was selected`() async throws {
        let client = try await filled()
        let empty = try await client.firestore(
            .post, ":runQuery", ["structuredQuery": ["from": [["collectionId": "missing"]]]])
        #expect(empty.json.array?.count == 1)
        #expect(empty.json[0]?["done"] == true)
        #expect(empty.json[0]?["document"] == nil)
        let names: JSON = ["fields": [["fieldPath": "__name__"]]]
        let answer = try await client.firestore(
            .post, ":runQuery", ["structuredQuery": ["from": [["collectionId": "q"]], "select": names]])
        #expect(answer.json[0]?["document"]?["fields"] == nil)
        #expect(answer.json.array?.last?["done"] == true)
        await client.stop()
    }

    @Test func `Values are computed over what has the fields`() async throws {
        let client = try await filled()
        let query: JSON = ["from": [["collectionId": "q"]]]
        let all: JSON = [
            ["alias": "c", "count": [:]], ["alias": "s", "sum": ["field": ["fieldPath": "n"]]],
            ["avg": ["field": ["fieldPath": "n"]]],
        ]
        func run(_ aggregations: JSON) async throws -> JSON? {
            try await client.firestore(
                .post, ":runAggregationQuery",
                ["structuredAggregationQuery": ["structuredQuery": query, "aggregations": aggregations]]
            ).json[0]?["result"]?["aggregateFields"]
        }
        let values = try await run(all)
        #expect(values?["c"] == LocalClient.integer(4))
        #expect(values?["s"] == LocalClient.integer(6))
        #expect(values?["field_3"]?["doubleValue"]?.double == 2)
        #expect(try await run([["alias": "c", "count": ["upTo": "2"]]])?["c"] == LocalClient.integer(2))
        #expect(try await run([]) == nil)
        await client.stop()
    }

    @Test func `A transaction that read what has changed is aborted; one that did not is carried out`() async throws {
        let client = try await filled()
        func begin(_ options: JSON = [:]) async throws -> String {
            try await client.firestore(.post, ":beginTransaction", options).json["transaction"]?.string ?? ""
        }
        func read(_ id: String, _ path: String) async throws -> LocalClient.Answer {
            try await client.firestore(
                .post, ":batchGet", ["documents": [LocalClient.name(path)], "transaction": .string(id)])
        }
        let first = try await begin()
        let second = try await begin()
        _ = try await read(first, "q/a")
        _ = try await read(second, "q/a")
        let set = LocalClient.set("q/a", ["n": LocalClient.integer(10)])
        #expect(try await client.commit(set, transaction: first).status == 200)
        let conflict = try await client.commit(set, transaction: second)
        #expect(conflict.status == 409)
        #expect(conflict.errorStatus == "ABORTED")
        #expect(try await client.commit(set, transaction: second).errorStatus == "INVALID_ARGUMENT")

        let reader = try await begin(["options": ["readOnly": [:]]])
        _ = try await client.commit(LocalClient.set("q/a", ["n": LocalClient.integer(11)]))
        let seen = try await read(reader, "q/a").json[0]?["found"]?["fields"]?["n"]
        #expect(seen == LocalClient.integer(10), "as it was when the transaction began")
        #expect(try await client.commit(set, transaction: reader).errorStatus == "INVALID_ARGUMENT")

        let phantom = try await client.firestore(
            .post, ":runQuery", ["structuredQuery": ["from": [["collectionId": "q"]]], "newTransaction": [:]])
        let id = try #require(phantom.json[0]?["transaction"]?.string)
        _ = try await client.commit(LocalClient.set("q/new", [:]))
        #expect(try await client.commit(set, transaction: id).errorStatus == "ABORTED")
        #expect(try await client.firestore(.post, ":rollback", ["transaction": .string(id)]).json == [:])
        let unheardOf = try await client.firestore(.post, ":rollback", ["transaction": "Ym9ndXM="])
        #expect(unheardOf.errorStatus == "INVALID_ARGUMENT")
        await client.stop()
    }
}
