import Foundation
import Switchyard
import SwitchyardTestSupport
import Testing

@testable import SwitchyardFirebase

/// Every value there is, there and back, by reads and by the stream.
@Suite(.enabled(if: FirestoreEmulator.isInstalled, "the Firestore emulator is not installed"))
struct FirestoreValueTests {
    static func everything() throws -> DocumentData {
        [
            "null": .null, "true": true, "false": false, "zero": 0, "min": .integer(.min), "max": .integer(.max),
            "pi": 3.141592653589793, "five": .double(5), "tiny": .double(.leastNonzeroMagnitude),
            "huge": .double(1e300),
            "infinity": .double(.infinity), "-infinity": .double(-.infinity), "nan": .double(.nan),
            "time": .timestamp(try Timestamp(validatingSeconds: 1_700_000_000, nanoseconds: 123_456_000)),
            "old": .timestamp(try Timestamp(validatingSeconds: -62_135_596_800, nanoseconds: 0)),
            "text": "ASCII, äöü, 漢字, 👩‍👩‍👧‍👦 and \u{0} \u{1F} \" \\ /", "empty text": "",
            "composed": "é", "decomposed": "e\u{301}",
            "bytes": .bytes(Data((0...255).map { UInt8($0) })), "no bytes": .bytes(Data()),
            "reference": .reference(DocumentReference("users/alice")),
            "place": .geoPoint(try GeoPoint(latitude: -33.5, longitude: 0)),
            "nowhere": .geoPoint(try GeoPoint(latitude: 0, longitude: 0)),
            "list": [1, "two", .null, ["nested": ["deep": [true]]]], "empty list": [],
            "map": ["a": 1, "b": ["c": "d"]], "empty map": .map(DocumentData()), "vector": .vector([1, 2.5, -0.5]),
        ]
    }

    /// Names that need quoting in a path: each must survive as a whole document and in a field mask.
    static let names = [
        "plain", "with space", "with.dot", "with-dash", "1digit", "back`tick", "back\\slash", "é", "e\u{301}", "🎭",
        "quote\"", "/slash", "[0]", "*", "~", "new\nline",
    ]

    @Test func `Every kind of value comes back as it was, by reads and by the stream`() async throws {
        let site = try await FirestoreSite()
        let (alice, bob) = (try await site.client(), try await site.client())
        let data = try Self.everything()
        try await alice.setDocument("values/all", WriteFields(data)).acknowledged()
        #expect(try await bob.document("values/all", from: .server).data == data)
        for try await snapshot in bob.snapshots(of: "values/all") where !snapshot.metadata.isFromCache {
            #expect(snapshot.data == data)
            break
        }
        try await alice.setDocument("values/empty", [:]).acknowledged()
        #expect(try await bob.document("values/empty", from: .server).data == DocumentData())
        await alice.shutDown()
        await bob.shutDown()
    }

    @Test func `Fields whose names need quoting are written, merged, queried and deleted`() async throws {
        let site = try await FirestoreSite()
        let client = try await site.client()
        try await client.setDocument(
            "names/a", WriteFields(Self.names.map { ($0, .of(1)) })
        ).acknowledged()
        let fields = try Self.names.map { try FieldPath(components: [$0]) }
        let nested = try Self.names.map { try FieldPath(components: ["map", $0, $0]) }
        try await client.updateDocument(
            "names/a", FieldUpdates((fields + nested).map { ($0, .increment(1)) })
        ).acknowledged()
        let document = try await client.document("names/a", from: .server)
        for (field, inner) in zip(fields, nested) {
            #expect(document[field] == 2)
            #expect(document[inner] == 1)
            let found = try await client.documents(
                Query(in: "names").where(field, .equal, 2).where(inner, .greaterThan, 0).ordered(by: inner),
                from: .server)
            #expect(found.documents.map(\.id) == ["a"])
        }
        try await client.updateDocument("names/a", FieldUpdates(fields.map { ($0, .delete) })).acknowledged()
        let rest = try await client.document("names/a", from: .server).data
        #expect(rest?.names == ["map"])
        await client.shutDown()
    }

    @Test func `Characters beyond the first plane survive wherever the stream is cut`() async throws {
        let site = try await FirestoreSite()
        let (alice, bob) = (try await site.client(), try await site.client())
        // Chunks of an answer are 4096 bytes; an offset of each length moves the cuts through every character.
        let texts = (0..<8).map { String(repeating: "a", count: $0) + String(repeating: "🎭漢é", count: 3_000) }
        for (number, text) in texts.enumerated() {
            try await alice.setDocument(StoragePath(validating: "texts/t\(number)"), ["text": .of(text)]).acknowledged()
        }
        for try await snapshot in bob.snapshots(of: Query(in: "texts")) where !snapshot.metadata.isFromCache {
            #expect(snapshot.documents.map { $0["text"] } == texts.map { .string($0) })
            break
        }
        let results = try await bob.documents(Query(in: "texts"), from: .server)
        #expect(results.documents.map { $0["text"] } == texts.map { .string($0) })
        await alice.shutDown()
        await bob.shutDown()
    }
}
