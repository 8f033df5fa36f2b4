import Foundation
import Switchyard
import Testing

@testable import SwitchyardSync

/// Documents that a query rules out by numbers, read from their stored bytes.
@Suite struct RecordScreeningTests {
    private static let values: [DocumentValue] = [
        .null, false, true, -3, 0, 7, 7.5, .double(.nan), .double(-.infinity), .timestamp(Timestamp(microseconds: 5)),
        .timestamp(Timestamp(microseconds: 2_000_000)), "", "a", "abcdefg", "abcdefgh", "ärger",
        .bytes(Data([1, 2])), .reference(DocumentReference("rooms/a")), .array([]), .array([1, "two"]),
        .vector([1, 2]), ["deep": ["deeper": 1]],
    ]

    private func fits(_ data: DocumentData?, _ query: Query) throws -> Bool {
        var record = RecordWriter(capacity: 64)
        record.write(
            CachedDocument(
                path: "rooms/a", state: data == nil ? .missing : .found, data: data,
                createTime: Timestamp(microseconds: 1), version: Timestamp(microseconds: 2)))
        return try record.bytes.withUnsafeBytes { bytes in
            var reader = try RecordReader(bytes)
            return try reader.fits(QueryEvaluator(query).fieldBounds)
        }
    }

    @Test(arguments: values)
    func `What matches fits, and what does not fit does not match`(value: DocumentValue) throws {
        // Fields on either side, so that every kind of value is also skipped.
        for other in Self.values {
            let data: DocumentData = ["a": other, "m": value, "z": other]
            for operation in [Filter.Operator.equal, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual] {
                for query in [
                    Query(in: "rooms").where("m", operation, other), Query(in: "rooms").where("z", operation, value),
                ] where query.mistake == nil {
                    let matches = QueryEvaluator(query).matches("rooms/a", data)
                    if matches { #expect(try fits(data, query), "\(value) \(operation) \(other)") }
                }
            }
        }
        #expect(try fits(["a": 1, "m": value], Query(in: "rooms").ordered(by: "m")))
        #expect(try !fits(["a": value, "n": value], Query(in: "rooms").ordered(by: "m")))
    }

    @Test func `A value on the wrong side of a bound does not fit`() throws {
        let query = Query(in: "rooms").where("state", .equal, "open").where("rank", .greaterThan, 20)
        #expect(try fits(["rank": 21, "state": "open"], query))
        #expect(try !fits(["rank": 19, "state": "open"], query))
        #expect(try !fits(["rank": 21, "state": "closed"], query))
        #expect(try !fits(["rank": "21", "state": "open"], query))
        #expect(try !fits(["rank": 21], query))
        #expect(try !fits(nil, query))
        let within = Query(in: "rooms").where("rank", .in, [.integer(5), .integer(9)])
        #expect(try fits(["rank": 5], within) && fits(["rank": 9.0], within) && !fits(["rank": 10], within))
    }

    @Test func `A query without conditions on single fields fits everything`() throws {
        for query in [
            Query(in: "rooms"), Query(in: "rooms").where(.any([.field("a", .equal, 1), .field("b", .equal, 2)])),
            Query(in: "rooms").where("a.b", .equal, 1),
        ] {
            #expect(try fits(["c": 1], query))
        }
    }

    @Test func `Bytes that are cut off are damage, not a document that does not fit`() throws {
        var record = RecordWriter(capacity: 64)
        record.write(
            CachedDocument(
                path: "rooms/a", state: .found, data: ["name": "a long enough name"],
                version: Timestamp(microseconds: 2)))
        let bounds = QueryEvaluator(Query(in: "rooms").where("name", .equal, "a long enough name")).fieldBounds
        for length in 1..<record.bytes.count {
            #expect(throws: StorageError.self, "\(length) of \(record.bytes.count) bytes") {
                try record.bytes[..<length].withUnsafeBytes { bytes in
                    var reader = try RecordReader(bytes)
                    _ = try reader.fits(bounds)
                }
            }
        }
    }
}
