import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// The same requests to the vendor's own emulator and to the local server: what they answer has to be the same but for
/// times and texts.
@Suite(.enabled(if: FirestoreEmulator.isInstalled, "the Firestore emulator is not installed"))
struct `The local Firestore and the real one` {
    private struct Step: Sendable {
        let method: HTTPMethod
        let place: String
        var body: JSON?
    }

    private static func query(_ structured: JSON, below: String = "") -> Step {
        Step(method: .post, place: below + ":runQuery", body: ["structuredQuery": structured])
    }

    private static func integer(_ value: Int) -> JSON { ["integerValue": .string(String(value))] }

    private static func steps(_ root: String) -> [Step] {
        func name(_ path: String) -> JSON { .string("\(root)/\(path)") }
        func commit(_ writes: JSON...) -> Step {
            Step(method: .post, place: ":commit", body: ["writes": .array(writes)])
        }
        func set(_ path: String, _ fields: JSON, _ extra: JSONObject = JSONObject()) -> JSON {
            var write: JSONObject = ["update": ["name": name(path), "fields": fields]]
            for member in extra.members { write[member.key] = member.value }
            return .object(write)
        }
        func transform(_ transforms: JSON...) -> JSON {
            set("c/t", [:], ["updateMask": [:], "updateTransforms": .array(transforms)])
        }
        func query(_ structured: JSON, below: String = "") -> Step { Self.query(structured, below: below) }
        func filter(_ op: String, _ value: JSON, _ field: String = "n") -> JSON {
            [
                "from": [["collectionId": "q"]],
                "where": ["fieldFilter": ["field": ["fieldPath": .string(field)], "op": .string(op), "value": value]],
            ]
        }
        func list(_ values: JSON...) -> JSON { ["arrayValue": ["values": .array(values)]] }
        func update(_ path: String, _ precondition: JSON) -> JSON {
            set(path, ["a": integer(1)], ["updateMask": ["fieldPaths": ["a"]], "currentDocument": precondition])
        }
        func ordered(_ fields: String..., more: JSONObject = JSONObject()) -> Step {
            var query: JSONObject = [
                "from": [["collectionId": "q"]],
                "orderBy": .array(fields.map { ["field": ["fieldPath": .string($0)]] }),
            ]
            for member in more.members { query[member.key] = member.value }
            return Self.query(.object(query))
        }
        func both(_ first: JSON, _ second: JSON) -> JSON {
            ["compositeFilter": ["op": "AND", "filters": [first, second]]]
        }
        func condition(_ field: String, _ op: String, _ value: JSON) -> JSON {
            ["fieldFilter": ["field": ["fieldPath": .string(field)], "op": .string(op), "value": value]]
        }
        func vector(_ numbers: Double...) -> JSON {
            [
                "mapValue": [
                    "fields": [
                        "__type__": ["stringValue": "__vector__"],
                        "value": ["arrayValue": ["values": .array(numbers.map { ["doubleValue": .number($0)] })]],
                    ]
                ]
            ]
        }
        func nearest(_ measure: String, _ extra: JSONObject = JSONObject(), _ outer: JSONObject = JSONObject()) -> Step
        {
            var search: JSONObject = [
                "vectorField": ["fieldPath": "v"], "queryVector": vector(1, 1), "distanceMeasure": .string(measure),
                "limit": 10, "distanceResultField": "far",
            ]
            for member in extra.members { search[member.key] = member.value }
            var query: JSONObject = ["from": [["collectionId": "v"]], "findNearest": .object(search)]
            for member in outer.members { query[member.key] = member.value }
            return Self.query(.object(query))
        }
        let values: [JSON] = [
            ["nullValue": .null], ["booleanValue": false], ["booleanValue": true], ["doubleValue": "NaN"],
            ["doubleValue": "-Infinity"], integer(1), ["doubleValue": 1.5], integer(Int(Int64.max)),
            ["timestampValue": "2026-01-02T03:04:05.123456789Z"], ["stringValue": ""], ["stringValue": "B"],
            ["stringValue": "a"], ["stringValue": "～"], ["stringValue": "😀"], ["bytesValue": "AAE="],
            ["referenceValue": name("c/__id9__")], ["referenceValue": name("c/a")],
            ["geoPointValue": ["latitude": 1.5, "longitude": 2.5]], ["arrayValue": [:]], list(integer(1)),
            ["mapValue": [:]], ["mapValue": ["fields": ["a": integer(1)]]], ["mapValue": ["fields": ["b": integer(0)]]],
        ]
        let fill = values.enumerated().map {
            set("q/d\($0 < 10 ? "0" : "")\($0)", ["n": $1, "m": list($1.isList ? integer(0) : $1)])
        }
        return [
            Step(method: .get, place: "/c/missing"),
            Step(method: .post, place: "/c?documentId=a", body: ["fields": ["n": integer(1)]]),
            Step(method: .post, place: "/c?documentId=a", body: ["fields": [:]]),
            Step(
                method: .patch, place: "/c/a?updateMask.fieldPaths=m",
                body: ["fields": ["m": integer(2), "n": integer(9)]]),
            Step(method: .patch, place: "/c/a?updateMask.fieldPaths=n", body: ["fields": [:]]),
            Step(method: .patch, place: "/c/no?currentDocument.exists=true", body: ["fields": [:]]),
            Step(method: .delete, place: "/c/no?currentDocument.exists=true"),
            Step(method: .delete, place: "/c/no"),
            Step(method: .get, place: "/c/a?mask.fieldPaths=m"),
            Step(method: .post, place: ":batchGet", body: ["documents": [name("c/a")]]),
            commit(set("c/b", ["x": integer(1)], ["currentDocument": ["exists": false]]), ["delete": name("c/zz")]),
            commit(set("c/b", [:], ["currentDocument": ["exists": false]])),
            commit(set("c/b", [:], ["currentDocument": ["updateTime": "2020-01-01T00:00:00Z"]])),
            commit(["verify": name("c/b"), "currentDocument": ["exists": false]]),
            commit(
                transform(
                    ["fieldPath": "i", "increment": integer(Int(Int64.max))],
                    ["fieldPath": "i", "increment": integer(1)],
                    ["fieldPath": "d", "increment": ["doubleValue": 0.5]], ["fieldPath": "d", "increment": integer(1)])),
            commit(
                transform(
                    ["fieldPath": "x", "maximum": integer(3)], ["fieldPath": "x", "maximum": ["doubleValue": 3.0]],
                    ["fieldPath": "x", "minimum": integer(2)],
                    ["fieldPath": "a", "appendMissingElements": ["values": [integer(2), ["doubleValue": 2.0]]]],
                    ["fieldPath": "a", "removeAllFromArray": ["values": [integer(7)]]])),
            Step(method: .get, place: "/c/t"),
            commit(set("c/bad", ["a": list(list(integer(1)))])), commit(set("c/bad", ["__a__": integer(1)])),
            commit(set("c/bad", ["a": ["geoPointValue": ["latitude": 91, "longitude": 0]]])),
            commit(set("c/bad", ["a": ["stringValue": "x", "integerValue": "1"]])),
            Step(method: .post, place: ":commit", body: [:]),
            Step(method: .post, place: ":commit", body: ["unheardOf": 1]),
            Step(method: .post, place: ":batchWrite", body: ["writes": []]),
            Step(method: .post, place: ":listCollectionIds", body: [:]),
            commit(set("c/a/sub/1", [:])), Step(method: .get, place: "/c?pageSize=2"),
            Step(method: .get, place: "/c/a/sub"), Step(method: .get, place: "/nothing"),
            Step(method: .post, place: ":commit", body: ["writes": .array(fill)]),
            query(["from": [["collectionId": "q"]], "orderBy": [["field": ["fieldPath": "n"]]]]),
            query([
                "from": [["collectionId": "q"]], "orderBy": [["field": ["fieldPath": "n"], "direction": "DESCENDING"]],
            ]),
            query(filter("EQUAL", ["doubleValue": 1.0])), query(filter("NOT_EQUAL", integer(1))),
            query(filter("LESS_THAN", integer(2))), query(filter("GREATER_THAN_OR_EQUAL", ["stringValue": "B"])),
            query(filter("IN", list(integer(1), ["stringValue": "a"], ["nullValue": .null]))),
            query(filter("NOT_IN", list(integer(1), ["doubleValue": "NaN"]))),
            query(filter("NOT_IN", list(integer(1), ["nullValue": .null]))),
            query(filter("ARRAY_CONTAINS", integer(1), "m")),
            query(filter("ARRAY_CONTAINS_ANY", list(integer(1), ["stringValue": "a"]), "m")),
            query(filter("IN", ["arrayValue": [:]])),
            query(filter("GREATER_THAN", ["referenceValue": name("q/d20")], "__name__")),
            query([
                "from": [["collectionId": "q"]], "orderBy": [["field": ["fieldPath": "n"]]],
                "startAt": ["values": [integer(1)], "before": true],
                "endAt": ["values": [["stringValue": "a"]], "before": true], "limit": 4, "offset": 1,
            ]),
            query(["from": [["collectionId": "sub", "allDescendants": true]]]),
            query(["from": [["collectionId": "sub"]]], below: "/c/a"),
            query(["from": [["collectionId": "nothing"]]]),
            query(["from": [["collectionId": "c"]], "select": ["fields": [["fieldPath": "m"]]]]),
            query(["from": [["collectionId": "c"]], "limit": 0]),
            query(["from": [["collectionId": "c"]], "limit": -1]),
            Step(
                method: .post, place: ":runAggregationQuery",
                body: [
                    "structuredAggregationQuery": [
                        "structuredQuery": ["from": [["collectionId": "c"]]],
                        "aggregations": [
                            ["alias": "c", "count": [:]], ["alias": "s", "sum": ["field": ["fieldPath": "m"]]],
                        ],
                    ]
                ]),
            commit(["delete": name("c/d")], update("c/d", ["exists": true])),
            commit(["delete": name("c/d")], update("c/d", ["updateTime": "2020-01-01T00:00:00Z"])),
            commit(["delete": name("c/d")], ["delete": name("c/d"), "currentDocument": ["exists": true]]),
            commit(["verify": name("c/a"), "currentDocument": ["exists": true]], set("c/a", [:])),
            commit(set("c/a", [:]), ["verify": name("c/a"), "currentDocument": ["exists": true]]),
            Step(
                method: .post, place: ":batchWrite",
                body: ["writes": [set("c/first", [:]), set("c/__second__", [:])]]),
            Step(method: .get, place: "/c/first"),
            Step(method: .post, place: ":batchGet", body: ["documents": [name("c/__x__")]]),
            commit(set("c/m", ["a b": integer(1)], ["updateMask": ["fieldPaths": ["a b"]]])),
            commit(set("c/m", ["a b": integer(1)], ["updateMask": ["fieldPaths": ["`a b`"]]])),
            commit(set("c/m", ["é": integer(1)], ["updateMask": ["fieldPaths": ["é"]]])),
            commit(set("c/m", [:], ["updateTransforms": [["fieldPath": "a-b", "increment": integer(1)]]])),
            ordered("__name__", "n"), ordered("n", "__name__"), ordered("1n"),
            ordered("n", more: ["startAt": ["values": [integer(1), integer(2)]]]),
            ordered("n", more: ["endAt": ["values": [integer(1), ["referenceValue": name("q/d05")]]]]),
            ordered(more: ["startAt": ["values": [["referenceValue": name("q/d05")]]]]),
            ordered("n", more: ["limit": ["value": 1]]), ordered("n", more: ["offset": ["value": 1]]),
            query([
                "from": [["collectionId": "q"]],
                "where": both(
                    condition("__name__", "EQUAL", ["referenceValue": name("q/d05")]),
                    condition("n", "GREATER_THAN", integer(0))),
            ]),
            query(filter("EQUAL", ["stringValue": "d05"], "__name__")),
            query(filter("GREATER_THAN", integer(0), "__name__")),
            query(["from": [["allDescendants": true]]]), query(["from": [["allDescendants": true]]], below: "/c/a"),
            query(["from": [["allDescendants": true]], "limit": 3, "offset": 1]), query(["from": [[:]]], below: "/c/a"),
            query([
                "from": [["allDescendants": true]],
                "where": both(
                    condition("__name__", "GREATER_THAN_OR_EQUAL", ["referenceValue": name("c/a")]),
                    condition("__name__", "LESS_THAN", ["referenceValue": name("c/b")])),
                "orderBy": [["field": ["fieldPath": "__name__"]]],
                "startAt": ["values": [["referenceValue": name("c/a")]], "before": false],
            ]),
            query(["from": [["allDescendants": true]], "where": condition("n", "GREATER_THAN", integer(0))]),
            query(["from": [["allDescendants": true]], "orderBy": [["field": ["fieldPath": "n"]]]]),
            commit(
                set("v/a", ["v": vector(0, 1)]), set("v/b", ["v": vector(1, 1)]), set("v/c", ["v": vector(2, 1)]),
                set("v/d", ["v": vector(3, 1)]), set("v/other", ["v": vector(1)]), set("v/none", ["v": integer(1)])),
            nearest("EUCLIDEAN"), nearest("COSINE"), nearest("DOT_PRODUCT"), nearest("NEAREST"),
            nearest("EUCLIDEAN", ["distanceThreshold": 1]), nearest("DOT_PRODUCT", ["distanceThreshold": 2]),
            nearest("EUCLIDEAN", ["limit": 2]), nearest("EUCLIDEAN", ["limit": 0]),
            nearest("EUCLIDEAN", ["limit": 1001]), nearest("EUCLIDEAN", [:], ["limit": 2]),
            nearest("EUCLIDEAN", ["queryVector": list(integer(1))]),
            nearest("EUCLIDEAN", [:], ["select": ["fields": [["fieldPath": "far"]]]]),
            commit(set("c/long", ["a": ["stringValue": .string(String(repeating: "x", count: 1_048_488))]])),
            commit(set("c/long", ["a": ["stringValue": .string(String(repeating: "x", count: 1_048_487))]])),
            Step(method: .post, place: ":rollback", body: ["transaction": "Ym9ndXM="]),
            Step(method: .post, place: ":commit", body: ["writes": [], "transaction": "Ym9ndXM="]),
        ]
    }

    @Test func `They answer alike`() async throws {
        let real = try await FirestoreEmulator.running()
        let local = try LocalClient(LocalFirebaseOptions())
        local.firebase.allowsEverything = true
        let project = real.newProject()
        let root = "projects/\(project)/databases/(default)/documents"
        for step in Self.steps(root) {
            var answers: [JSON] = []
            for address in ["127.0.0.1:\(real.port)", local.firebase.host] {
                var request = HTTPRequest(step.method, "http://\(address)/v1/\(root)\(step.place)")
                if let body = step.body {
                    request.body = body.bytes()
                    request.headers["Content-Type"] = "application/json"
                }
                let response = try await local.transport.send(request)
                let json = (try? JSON(parsing: response.body)) ?? .string("no JSON")
                answers.append(["status": .integer(Int64(response.status)), "answer": json.withoutTimesAndTexts])
            }
            let what = "\(step.method) \(step.place) \(step.body?.text().prefix(300) ?? "")"
            #expect(answers[0] == answers[1], "\(what)")
        }
        await local.stop()
    }
}

extension JSON {
    fileprivate var isList: Bool { self["arrayValue"] != nil }

    /// Without what differs from run to run and from one server's words to another's. Members are put in order.
    fileprivate var withoutTimesAndTexts: JSON {
        switch self {
        case .array(let elements):
            // A list of one failure is the failure: the vendor's emulator leaves out the list.
            if elements.count == 1, elements[0]["error"] != nil { return elements[0].withoutTimesAndTexts }
            return .array(elements.map(\.withoutTimesAndTexts))
        case .object(let object):
            if let error = object["error"] { return ["error": error["status"] ?? .null] }
            let times: Set = ["createTime", "updateTime", "commitTime", "readTime", "nextPageToken", "done"]
            let members = object.members.sorted { $0.key < $1.key }.map { member in
                (key: member.key, value: times.contains(member.key) ? JSON.null : member.value.withoutTimesAndTexts)
            }
            return .object(JSONObject(members.filter { $0.key != "skippedResults" && $0.key != "done" }))
        case .integer(let number): return .number(Double(number))
        default: return self
        }
    }
}
