import Switchyard
import SwitchyardBytes
import Testing

@testable import SwitchyardFirestoreFormat

@Suite struct FirestoreWriteTests {
    @Test func `A write with everything goes out as servers take it`() throws {
        let write = try DocumentWrite.update(
            "w/a",
            [
                "n": 1, "old": .delete, "m.x": "y", "ts": .serverTime, "k": .increment(5), "hi": .maximum(2.5),
                "lo": .minimum(3), "in": .arrayUnion(1, 2), "out": .arrayRemove("x"),
            ])
        let expected = """
            {"update":{"name":"\(root)/w/a","fields":{"m":{"mapValue":{"fields":{"x":{"stringValue":"y"}}}},"n":{"integerValue":"1"}}},
            "updateMask":{"fieldPaths":["n","old","m.x"]},
            "updateTransforms":[{"fieldPath":"ts","setToServerValue":"REQUEST_TIME"},
            {"fieldPath":"k","increment":{"integerValue":"5"}},{"fieldPath":"hi","maximum":{"doubleValue":2.5}},
            {"fieldPath":"lo","minimum":{"integerValue":"3"}},
            {"fieldPath":"in","appendMissingElements":{"values":[{"integerValue":"1"},{"integerValue":"2"}]}},
            {"fieldPath":"out","removeAllFromArray":{"values":[{"stringValue":"x"}]}}],
            "currentDocument":{"exists":true}}
            """
        #expect(canonical(write.firestore(in: database)) == canonical(try json(expected)))
    }

    static let writes: [DocumentWrite] = [
        DocumentWrite(path: "w/a", operation: .set(["n": 1])),
        DocumentWrite(path: "w/a", operation: .set([:]), precondition: .exists(false)),
        DocumentWrite(
            path: "w/a", operation: .patch(["n": 1], mask: ["n", "gone", "`a.b`.c"]),
            transforms: [
                FieldTransform("t", .serverTime), FieldTransform("i", .increment(1.5)),
                FieldTransform("x", .maximum(1)),
                FieldTransform("y", .minimum(2)), FieldTransform("u", .arrayUnion([])),
                FieldTransform("r", .arrayRemove([.null])),
            ], precondition: .updateTime(Timestamp(microseconds: 42))),
        DocumentWrite(path: "w/a", operation: .patch([:], mask: []), transforms: [FieldTransform("t", .serverTime)]),
        DocumentWrite(path: "w/a", operation: .delete, precondition: .exists(true)),
        DocumentWrite(path: "w/a", operation: .verify, precondition: .updateTime(Timestamp(microseconds: 42))),
    ]

    @Test(arguments: writes) func `Every kind of write survives the way there and back`(write: DocumentWrite) throws {
        #expect(try DocumentWrite(firestore: write.firestore(in: database), in: database) == write)
    }

    @Test func `The older form of a transform is read`() throws {
        let text = """
            {"transform":{"document":"\(root)/w/a","fieldTransforms":[{"fieldPath":"t","setToServerValue":"REQUEST_TIME"}]}}
            """
        #expect(try DocumentWrite(firestore: json(text), in: database) == FirestoreWriteTests.writes[3])
    }

    @Test(arguments: [
        "{}", #"{"update":{}}"#, #"{"delete":"w/a"}"#, #"{"delete":7}"#,
        #"{"update":{"name":"projects/p/databases/d/documents/w/a"},"updateTransforms":[{"fieldPath":"a"}]}"#,
        #"{"update":{"name":"projects/p/databases/d/documents/w/a"},"updateTransforms":[{"fieldPath":"a","increment":{"stringValue":"x"}}]}"#,
        #"{"update":{"name":"projects/p/databases/d/documents/w/a"},"updateMask":{"fieldPaths":["a..b"]}}"#,
    ])
    func `What is no write is refused`(text: String) {
        #expect(throws: FirestoreFormatError.self) { try DocumentWrite(firestore: json(text), in: database) }
    }

    @Test func `The results of a commit keep their order`() throws {
        let text = """
            {"streamToken":"MQ==","writeResults":[
            {"updateTime":"2026-11-21T01:57:56.635978Z","transformResults":[{"timestampValue":"2026-11-21T01:57:56.614Z"},{"integerValue":"5"},{"nullValue":null}]},
            {},{"updateTime":"2026-11-21T01:57:56.635978Z"}],"commitTime":"2026-11-21T01:57:56.635978Z"}
            """
        let results = try FirestoreWriteResults(firestore: json(text), in: database)
        #expect(results.results.map { $0.updateTime == nil } == [false, true, false])
        #expect(results.results[0].transformResults.count == 3)
        #expect(results.results[0].transformResults[1] == 5)
        #expect(results.streamToken == "MQ==")
        #expect(try FirestoreWriteResults(firestore: results.firestore(in: database), in: database) == results)
        #expect(try FirestoreWriteResults(firestore: json("{}"), in: database).results.isEmpty)
    }
}
