import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import Testing

@testable import SwitchyardText

/// Documents as JSON.
@Suite struct DocumentJSONTests {
    @Test func `A value is written as it encodes itself, and read again exactly`() throws {
        var maker = QueryMaker(seed: 3)
        for _ in 0..<RunSize.full(20_000, part: 2_000) {
            let value = maker.value(depth: 0)
            #expect(try DocumentJSON.value(value.json) == value, "\(value.revealed)")
            // In the bytes that it writes, a coder of Foundation's finds the same value.
            #expect(try JSONDecoder().decode(DocumentValue.self, from: Data(value.json.bytes())) == value)
            let encoded = try JSON(parsing: JSONEncoder().encode(value))
            #expect(try DocumentJSON.value(encoded) == value)
        }
    }

    private static let plain: [(JSON, DocumentValue)] = [
        (.null, .null), (true, true), (5, 5), (0.5, 0.5), ("x", "x"), ([1, "a"], [1, "a"]),
        (["a": 1, "b": .null], .map(["a": 1, "b": .null])),
        (
            ["at": ["timestamp": "2026-05-01T00:00:00Z"]],
            .map(["at": .timestamp(Timestamp(microseconds: 1_777_593_600_000_000))])
        ),
        (["map": ["string": "x"]], .map(["string": "x"])), (["double": "nan"], .double(.nan)),
        (["reference": "users/bob"], .of(StoragePath("users", "bob"))),
        (["array": [1, ["integer": 2]]], [1, 2]),
    ]

    @Test(arguments: plain.indices) func `Plain JSON is taken, and kinds wherever they matter`(_ index: Int) throws {
        let (json, value) = Self.plain[index]
        #expect(try DocumentJSON.value(json) == value)
    }

    @Test func `Changes of fields stand among the values`() throws {
        let json = try JSON(
            parsing: """
                {"n":{"increment":1},"m":{"maximum":2.5},"tags":{"arrayUnion":["a"]},"at":{"serverTime":true},
                 "in":{"x":{"arrayRemove":[1]},"y":2}}
                """)
        let fields = try DocumentJSON.fields(json)
        #expect(fields["n"] == .increment(1) && fields["m"] == .maximum(2.5) && fields["tags"] == .arrayUnion("a"))
        #expect(fields["at"] == .serverTime && fields["in"] == ["x": .arrayRemove(1), "y": .value(2)])
        let updates = try DocumentJSON.updates(["address.city": "Ulm", "old": ["delete": true]])
        #expect(updates == ["address.city": .value("Ulm"), "old": .delete])
    }

    private static let mistakes: [(JSON, String)] = [
        (["a": ["integer": "x"]], "At “a.integer”: expected a whole number of 64 bits, found text"),
        (
            ["a": ["b": ["string": 5]]],
            "At “a.b.string”: expected text, found a number. For a map with this name, write {\"map\":{…}}"
        ),
        (["a": ["timestamp": "today"]], "expected {\"seconds\":…} or a text such as"),
        (["a": ["delete": 1]], "expected true, found a number"), (["a": ["vector": ["x"]]], "a list of numbers"),
        ([1], "a document is an object"),
        (["a": ["increment": "x"]], "At “a.increment”: expected a number, found text"),
    ]

    @Test(arguments: mistakes.indices) func `A mistake is named with its place`(_ index: Int) throws {
        let (json, words) = Self.mistakes[index]
        let error = try #require(throws: DocumentJSONError.self) { _ = try DocumentJSON.fields(json) }
        #expect(error.description.contains(words), "\(error)")
    }

    @Test func `A line has path, times and data, and is written again as it was read`() throws {
        let document = DocumentSnapshot.existing(
            "users/alice", ["age": 36], createTime: Timestamp(microseconds: 1_000_000),
            updateTime: Timestamp(microseconds: 2_500_000))
        let text = document.json().text()
        #expect(
            text == #"{"path":"users/alice","created":{"seconds":1,"nanoseconds":0},"#
                + #""updated":{"seconds":2,"nanoseconds":500000000},"data":{"age":{"integer":36}}}"#)
        let line = try DocumentJSON.line(JSON(parsing: text))
        #expect(line.path == "users/alice" && line.fields == ["age": .value(36)])
        #expect(
            document.json(isPlain: true).text()
                == #"{"path":"users/alice","created":"1970-01-01T00:00:01Z","updated":"1970-01-01T00:00:02.500Z","data":{"age":36}}"#
        )
        #expect(throws: DocumentJSONError.self) { _ = try DocumentJSON.line(["path": "users"]) }
        #expect(throws: DocumentJSONError.self) { _ = try DocumentJSON.line(["path": "users", "data": [:]]) }
    }
}
