import Switchyard
import SwitchyardBytes
import Testing

@testable import SwitchyardFirestoreFormat

@Suite struct FirestoreDocumentTests {
    @Test func `A document brings its fields and both times`() throws {
        let text = """
            {"name":"\(root)/c/x","fields":{"b":{"integerValue":"2"},"a":{"stringValue":"1"}},
            "createTime":"2026-11-21T01:54:55.711250Z","updateTime":"2026-11-21T01:54:55.711251Z"}
            """
        let document = try DocumentSnapshot(firestore: json(text), in: database)
        #expect(document.path == "c/x")
        #expect(document.data == ["a": "1", "b": 2])
        #expect(document.createTime?.nanoseconds == 711_250_000)
        #expect(document.updateTime?.nanoseconds == 711_251_000)
        #expect(try DocumentSnapshot(firestore: document.firestore(in: database), in: database) == document)
    }

    @Test func `A document without fields exists`() throws {
        let document = try DocumentSnapshot(firestore: json(#"{"name":"\#(root)/c/x"}"#), in: database)
        #expect(document.exists)
        #expect(document.data == [:])
    }

    @Test(arguments: [
        "{}", #"{"name":7}"#, #"{"name":"projects/p/databases/d/documents/c/x","fields":[]}"#,
        #"{"name":"projects/p/databases/d/documents/c/x","updateTime":7}"#, "[]",
    ])
    func `What is no document is refused`(text: String) {
        #expect(throws: FirestoreFormatError.self) { try DocumentSnapshot(firestore: json(text), in: database) }
    }

    @Test func `Field names that differ only in their bytes are two fields`() throws {
        let text = #"{"name":"\#(root)/c/x","fields":{"é":{"integerValue":"1"},"e\#u{301}":{"integerValue":"2"}}}"#
        let data = try #require(DocumentSnapshot(firestore: json(text), in: database).data)
        #expect(data.count == 2)
        #expect(data["\u{e9}"] == 1)
        #expect(data["e\u{301}"] == 2)
    }
}
