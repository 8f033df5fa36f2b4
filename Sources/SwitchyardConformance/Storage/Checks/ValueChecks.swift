import Foundation
import Switchyard

extension StorageConformance {
    /// One check for each kind of field that a collection with fixed columns may have.
    static let fieldChecks: [StorageCheck] = StorageField.allCases.map { field in
        StorageCheck("the field “\(field)” keeps its value", needs: .field(field)) { context in
            let path = context.document("a")
            let fields = DocumentData([(field.rawValue, field.example)])
            try await context.store.set(path, WriteFields(fields))
            try await context.store.expect(path, holds: fields)
        }
    }.within("fields")

    static let valueChecks: [StorageCheck] = [
        roundTrip("null is a value, and not the absence of one", [.null]),
        roundTrip("both truth values come back", [true, false]),
        roundTrip(
            "whole numbers come back to their limits",
            [0, 1, -1, .integer(.max), .integer(.min), 9_007_199_254_740_993, 2_147_483_648]),
        roundTrip(
            "doubles come back to the last bit", [0.1, -2.5, .double(1.0 / 3), 123_456.789, 9_007_199_254_740_992.0]),
        roundTrip("a double without a fraction stays a double", [0.0, 1.0, -5.0, 100.0, 100_000.0, 1e15, 1e22]),
        roundTrip(
            "the largest and the smallest doubles come back",
            [
                .double(.greatestFiniteMagnitude), .double(-.greatestFiniteMagnitude), .double(.leastNonzeroMagnitude),
                .double(.leastNormalMagnitude), 1e300, -1e-300,
            ]),
        roundTrip(
            "infinity and NaN come back", [.double(.infinity), .double(-.infinity), .double(.nan)]),
        StorageCheck("negative zero comes back as a double that is zero", needs: .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(path, ["v": .value(.double(-0.0))])
            let value = try await context.store.read(path)["v"]
            guard case .double(let number) = value else {
                throw ConformanceFailure(expectation: "a double", found: Readable.text(value))
            }
            try expectEqual(number, 0, "the number")
        },
        roundTrip(
            "text comes back byte by byte",
            [
                "", "plain", "Grüße, 世界, שלום", "😀🏳️‍🌈 \u{10FFFF}", "tab\tline\nreturn\r\u{1}\u{7F}",
                "quotes ' \" \\ ` $ % {}",
            ]),
        StorageCheck("text with a NUL character comes back or is refused", needs: .openTypes) { context in
            let path = context.document("a")
            do {
                try await context.store.set(path, ["v": "a\u{0}b"])
            } catch let error as StorageError where error.code == .invalidArgument {
                return try await context.store.expectMissing(path)
            }
            try await context.store.expect(path, holds: ["v": "a\u{0}b"])
        },
        roundTrip("an accent of its own is not the accented letter", ["\u{E9}", "e\u{301}", "\u{1F1}", "DZ"]),
        roundTrip("a long text comes back", [.string(String(repeating: "abcdefghi ä", count: 10_000))]),
        roundTrip(
            "times come back to the microsecond",
            [
                .time(0), .time(1_700_000_000, microseconds: 1), .time(1_700_000_000, microseconds: 999_999),
                .time(1_700_000_000, microseconds: 120_000), .time(-1, microseconds: 500_000),
            ]),
        roundTrip(
            "times come back from the year 1 to the year 9999",
            [.time(-62_135_596_800), .time(253_402_300_799, microseconds: 999_999), .time(-11_644_473_600)]),
        StorageCheck("a time finer than microseconds keeps at least those", needs: .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(path, ["v": .value(.timestamp(.at(1_700_000_000, nanoseconds: 123_456_789)))])
            let found = try expectValue(try await context.store.read(path)["v"]?.timestampValue, "a time")
            try expectEqual(found.seconds, 1_700_000_000, "the second")
            try expect(
                found.nanoseconds == 123_456_789 || found.nanoseconds == 123_456_000,
                "the time is exact or cut to microseconds", found: "\(found.nanoseconds) ns")
        },
        roundTrip(
            "bytes come back, all 256 of them and none",
            [.bytes(Data()), .bytes(Data(0...255)), .bytes(Data(repeating: 0xA5, count: 100_000))]),
        roundTrip("references come back", [.link("users/alice"), .link("a/b/c/d"), .link("users/a b+c%?#é")]),
        roundTrip(
            "places come back, also those on the axes and at the ends of the earth",
            [.place(0, 0), .place(59.91, 10.75), .place(-90, -180), .place(90, 180), .place(1.5, 0)]),
        roundTrip(
            "arrays come back with values of any kind", [[], [1], [.null, true, 1, 1.5, "a", .blob(1), .time(5)]]),
        roundTrip("arrays hold maps that hold arrays", [[["a": [1, ["b": [2]]]], ["c": []]]]),
        roundTrip("maps come back, also empty ones", [[:], ["a": 1], ["a": ["b": ["c": .null]], "d": [:]]]),
        StorageCheck("vectors come back", needs: .openTypes, .field(.vector)) { context in
            let path = context.document("a")
            let fields: DocumentData = [
                "a": .vector([0, 1, -2.5]), "b": .vector([1e-9, 1e9]), "c": [["v": .vector([1])]],
            ]
            try await context.store.set(path, WriteFields(fields))
            try await context.store.expect(path, holds: fields)
        },
        StorageCheck("twenty levels of maps come back", needs: .openTypes) { context in
            var value: DocumentValue = "deep"
            for _ in 0..<19 { value = ["level": value] }
            let path = context.document("a")
            let fields = DocumentData([("v", value)])
            try await context.store.set(path, WriteFields(fields))
            try await context.store.expect(path, holds: fields)
        },
        StorageCheck("field names may hold any character", needs: .openTypes) { context in
            let path = context.document("a")
            let fields: DocumentData = [
                "with.dot": 1, "with space": 2, "back`tick": 3, "back\\slash": 4, "quote\"'": 5, "ключ": 6, "😀": 7,
                "1st": 8, "$ref": 9, "a/b": 10, "_": 11, "with-dash": ["inner.dot": ["x`y": 12]], "*[]~": 13,
            ]
            try await context.store.set(path, WriteFields(fields))
            try await context.store.expect(path, holds: fields)
        },
        StorageCheck("field names that only look the same are two fields", needs: .openTypes) { context in
            let path = context.document("a")
            let fields: DocumentData = ["caf\u{E9}": 1, "cafe\u{301}": 2]
            try await context.store.set(path, WriteFields(fields))
            try await context.store.expect(path, holds: fields)
        },
        StorageCheck("maps that look like somebody's encoding come back as they are", needs: .openTypes) { context in
            let path = context.document("a")
            let fields: DocumentData = [
                "a": ["$ts": "2024-01-01T00:00:00.000000Z"], "b": ["$num": "NaN"], "c": ["$map": ["$ref": "x/y"]],
                "d": ["stringValue": "x"], "e": ["$bytes": "AAEC"], "f": ["mapValue": ["fields": [:]]],
            ]
            try await context.store.set(path, WriteFields(fields))
            try await context.store.expect(path, holds: fields)
        },
        StorageCheck("a document without fields exists", needs: .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(path, [:])
            let snapshot = try await context.store.read(path)
            try expectEqual(snapshot.data, DocumentData(), "the document's data")
        },
        StorageCheck("a document with five hundred fields comes back", needs: .openTypes) { context in
            let path = context.document("a")
            let fields = DocumentData((0..<500).map { ("field\($0)", .integer(Int64($0))) })
            try await context.store.set(path, WriteFields(fields))
            try await context.store.expect(path, holds: fields)
        },
        StorageCheck("a document of nine hundred kilobytes comes back", needs: .openTypes) { context in
            let path = context.document("a")
            let fields: DocumentData = [
                "a": .string(String(repeating: "0123456789", count: 45_000)),
                "b": .bytes(Data(repeating: 7, count: 450_000)),
            ]
            try await context.store.set(path, WriteFields(fields))
            try await context.store.expect(path, holds: fields)
        },
        StorageCheck("documents may have any legal name", needs: .anyName) { context in
            let names = [
                "with space", "plus+percent%", "q?uery#frag&x=y", "ünïcode", "😀", "a.b", "(x),\"y'", "-", "UPPER",
            ]
            for name in names {
                let path = context.document(name)
                try await context.store.set(path, ["text": .of(name)])
                let snapshot = try await context.store.read(path)
                try expectEqual(snapshot.id, name, "the document's name")
                try context.store.expect(snapshot, holds: ["text": .string(name)])
            }
            let found = try await context.store.ids(Query(in: context.items))
            try expectEqual(Set(found), Set(names), "the names in the collection")
        },
    ].within("values")

    /// Writes each value to a separate document, and expects to read exactly the same.
    private static func roundTrip(_ name: String, _ values: [DocumentValue]) -> StorageCheck {
        StorageCheck(name, needs: .openTypes) { context in
            let documents = values.enumerated().map { index, value in
                (context.document("v\(index)"), DocumentData([("v", value), ("in", [value].safeInArray)]))
            }
            try await context.store.seed(documents)
            for (path, fields) in documents { try await context.store.expect(path, holds: fields) }
        }
    }
}

extension [DocumentValue] {
    /// The values as an array; arrays among them are wrapped in maps, since arrays cannot be nested.
    fileprivate var safeInArray: DocumentValue {
        .array(map { value in if case .array = value { ["array": value] } else { value } })
    }
}
