import Switchyard
import SwitchyardBytes
import Testing

@testable import SwitchyardFirestoreFormat

@Suite struct FirestoreBundleTests {
    private static func element(_ text: String) -> String { "\(text.utf8.count)\(text)" }

    private static let metadata = element(
        #"{"metadata":{"id":"b","createTime":"1970-01-01T00:00:05Z","version":1,"totalDocuments":2,"totalBytes":"700"}}"#
    )
    private static let query = element(
        #"{"namedQuery":{"name":"last","readTime":"1970-01-01T00:00:04Z","bundledQuery":{"parent":"\#(root)","structuredQuery":{"from":[{"collectionId":"c"}],"orderBy":[{"field":{"fieldPath":"n"},"direction":"ASCENDING"},{"field":{"fieldPath":"__name__"},"direction":"ASCENDING"}],"limit":{"value":5}},"limitType":"LAST"}}}"#
    )
    private static let found = element(
        #"{"documentMetadata":{"name":"\#(root)/c/ä","readTime":"1970-01-01T00:00:04Z","exists":true,"queries":["last"]}}"#
    )
    private static let document = element(
        #"{"document":{"name":"\#(root)/c/ä","fields":{"t":{"stringValue":"😀é"}},"updateTime":"1970-01-01T00:00:03Z"}}"#
    )
    private static let missing = element(
        #"{"documentMetadata":{"name":"\#(root)/c/b","readTime":"1970-01-01T00:00:04Z"}}"#)
    private static let whole = metadata + query + found + document + missing

    @Test func `A bundle has its metadata, queries and documents`() throws {
        let bundle = try FirestoreBundleReader.bundle(Array(FirestoreBundleTests.whole.utf8), in: database)
        #expect(bundle.id == "b")
        #expect(bundle.createTime == Timestamp(microseconds: 5_000_000))
        #expect(bundle.namedQueries.map(\.name) == ["last"])
        #expect(bundle.namedQueries[0].query == (Query(in: "c").ordered(by: "n").limited(toLast: 5)))
        #expect(bundle.documents.map(\.snapshot.path) == ["c/ä", "c/b"])
        #expect(bundle.documents.map(\.snapshot.exists) == [true, false])
        #expect(bundle.documents[0].queries == ["last"])
        #expect(bundle.documents[0].snapshot.data == ["t": "😀é"])
    }

    @Test func `The bytes may come cut anywhere`() throws {
        let bytes = Array(FirestoreBundleTests.whole.utf8)
        let expected = try FirestoreBundleReader.bundle(bytes, in: database)
        for cut in bytes.indices {
            var reader = FirestoreBundleReader(database)
            try reader.append(bytes[..<cut])
            try reader.append(bytes[cut...])
            #expect(try reader.finish() == expected)
        }
        var reader = FirestoreBundleReader(database)
        for byte in bytes { try reader.append(CollectionOfOne(byte)) }
        #expect(reader.documentCount == 2)
        #expect(reader.totals?.bytes == 700)
        #expect(try reader.finish() == expected)
    }

    @Test func `A bundle that ends early is not complete`() throws {
        let bytes = Array(FirestoreBundleTests.whole.utf8)
        var reader = FirestoreBundleReader(database)
        try reader.append(bytes.dropLast())
        let unfinished = reader
        #expect(throws: FirestoreFormatError.self) { try unfinished.finish() }
        var announced = FirestoreBundleReader(database)
        try announced.append(Array((FirestoreBundleTests.metadata + FirestoreBundleTests.found).utf8))
        let missing = announced
        #expect(throws: FirestoreFormatError.self) { try missing.finish() }
        #expect(throws: FirestoreFormatError.self) { try FirestoreBundleReader(database).finish() }
    }

    @Test(arguments: [
        "x", "{}", "2{}", "3{x}", "99999999999999999999{", query, metadata + metadata, metadata + document,
        metadata + found + missing,
        element(#"{"metadata":{"id":"b","createTime":"1970-01-01T00:00:05Z","version":2}}"#),
        metadata + element(#"{"surprise":{}}"#),
    ])
    func `A bundle in disorder is refused`(text: String) {
        #expect(throws: FirestoreFormatError.self) {
            try FirestoreBundleReader.bundle(Array(text.utf8), in: database)
        }
    }
}
