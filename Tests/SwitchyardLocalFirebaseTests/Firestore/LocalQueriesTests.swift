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

    @Test func `A query without a collection is over all of them, by name`() async throws {
        let client = try await filled()
        let all: JSON = [["allDescendants": true]]
        #expect(try await client.query(["from": all]) == ["q/a", "q/a/q/deep", "q/b", "q/c", "q/d"])
        #expect(try await client.query(["from": all], below: "q/a") == ["q/a/q/deep"])
        #expect(try await client.query(["from": [[:]]]) == ["q/a", "q/b", "q/c", "q/d"])
        #expect(try await client.query(["from": []], below: "q/a") == ["q/a/q/deep"])
        let after: JSON = ["values": [["referenceValue": LocalClient.name("q/a")]], "before": false]
        let order: JSON = [["field": ["fieldPath": "__name__"]]]
        let page: JSON = ["from": all, "orderBy": order, "startAt": after, "offset": 1, "limit": 2]
        #expect(try await client.query(page) == ["q/b", "q/c"])
        #expect(
            try await client.query(["from": all, "where": filter("EQUAL", LocalClient.integer(1))])
                == ["INVALID_ARGUMENT"])
        #expect(
            try await client.query(["from": all, "orderBy": [["field": ["fieldPath": "n"]]]]) == ["INVALID_ARGUMENT"])
        await client.stop()
    }

    @Test func `The nearest documents to a vector come in the order of their distance, which a field shows`()
        async throws
    {
        func vector(_ numbers: Double...) -> JSON {
            let values: JSON = .array(numbers.map { ["doubleValue": .number($0)] })
            return [
                "mapValue": [
                    "fields": ["__type__": ["stringValue": "__vector__"], "value": ["arrayValue": ["values": values]]]
                ]
            ]
        }
        let client = try await filled()
        for (name, x) in [("a", 0.0), ("b", 1), ("c", 3)] {
            _ = try await client.commit(LocalClient.set("v/\(name)", ["v": vector(x, 1)]))
        }
        _ = try await client.commit(LocalClient.set("v/short", ["v": vector(1)]), LocalClient.set("v/none", [:]))
        func nearest(_ measure: String, _ extra: JSONObject = JSONObject()) -> JSON {
            var search: JSONObject = [
                "vectorField": ["fieldPath": "v"], "queryVector": vector(1, 1), "distanceMeasure": .string(measure),
                "limit": 10,
            ]
            for member in extra.members { search[member.key] = member.value }
            return ["from": [["collectionId": "v"]], "findNearest": .object(search)]
        }
        #expect(try await client.query(nearest("EUCLIDEAN")) == ["v/b", "v/a", "v/c"])
        #expect(try await client.query(nearest("DOT_PRODUCT")) == ["v/c", "v/b", "v/a"])
        #expect(try await client.query(nearest("EUCLIDEAN", ["distanceThreshold": 1])) == ["v/b", "v/a"])
        #expect(try await client.query(nearest("DOT_PRODUCT", ["distanceThreshold": 2, "limit": 1])) == ["v/c"])
        for wrong: JSONObject in [["limit": 0], ["limit": 1001], ["distanceMeasure": "FAR"], ["more": 1]] {
            #expect(try await client.query(nearest("EUCLIDEAN", wrong)) == ["INVALID_ARGUMENT"])
        }
        let shown = try await client.firestore(
            .post, ":runQuery", ["structuredQuery": nearest("EUCLIDEAN", ["distanceResultField": "far"])])
        #expect(shown.json[1]?["document"]?["fields"]?["far"]?["doubleValue"]?.double == 1)
        await client.stop()
    }

    @Test func `Numbers in wrappers, long cursors and unquoted names are refused`() async throws {
        let client = try await filled()
        let from: JSON = [["collectionId": "q"]]
        let order: JSON = [["field": ["fieldPath": "n"]]]
        let long: JSON = ["values": [LocalClient.integer(1), LocalClient.integer(2)]]
        for query: JSON in [
            ["from": from, "limit": ["value": 1]], ["from": from, "offset": ["value": 1]],
            ["from": from, "orderBy": order, "startAt": long],
            ["from": from, "endAt": ["values": [LocalClient.integer(1)]]],
            ["from": from, "orderBy": [["field": ["fieldPath": "a b"]]]],
            ["from": from, "orderBy": [["field": ["fieldPath": "__name__"]], ["field": ["fieldPath": "n"]]]],
        ] { #expect(try await client.query(query) == ["INVALID_ARGUMENT"], "\(query.text())") }
        let byNumber: JSON = [
            "from": from, "startAt": ["values": [LocalClient.integer(1)]],
            "orderBy": [["field": ["fieldPath": "__name__"]]],
        ]
        let answer = try await client.firestore(.post, ":runQuery", ["structuredQuery": byNumber])
        #expect(
            answer.json[0]?["error"]?["message"]?.string?.hasSuffix("a path or a name, not to an integer.") == true)
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
