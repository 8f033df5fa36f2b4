import Foundation
import SwitchyardBytes
import SwitchyardProviderKit
import Testing

struct JSONCodingTests {
    private struct Everything: Codable, Equatable {
        var text = "é\"\n😀"
        var empty = ""
        var yes = true
        var small: Int8 = -128
        var unsigned: UInt64 = .max
        var smallest: Int64 = .min
        var double = -1.5e300
        var float: Float = 0.1
        var missing: String?
        var present: Int? = 3
        var list = [[1, 2], [], [3]]
        var optionals: [String?] = ["a", nil]
        var dictionary = ["b_c": 1, "D": 2]
        var choice = Choice.right
        var nested = Nested()
        var date = Date(timeIntervalSince1970: 1_769_860_800.123456)
        var data = Data([0, 1, 254, 255])
        var url = URL(string: "https://example.org/a?b=c")!
        var json: JSON = ["x": [1, 2.5, .null, "y"]]
    }
    private enum Choice: String, Codable { case left, right }
    private struct Nested: Codable, Equatable { var isURLGiven = true, imageURL = "x", a1b2 = 5 }

    @Test func `Whatever is encoded comes back`() throws {
        let text = try JSONBytesEncoder().encode(Everything())
        let back = try JSONBytesDecoder().decode(Everything.self, from: text)
        var expected = Everything()
        // A timestamp has microseconds, and a date's own fraction is a binary one.
        expected.date = back.date
        #expect(abs(back.date.timeIntervalSince(Everything().date)) < 1e-6)
        #expect(back == expected)
    }

    @Test func `Foundation's coders read and write the same`() throws {
        struct Plain: Codable, Equatable {
            var text = "é\"\\/\u{1}\u{2028}"
            var numbers = [0, -1, 9_007_199_254_740_993]
            var double = 0.1
            var inner = ["k": [true, false]]
            var none: Int?
        }
        let ours = try JSONBytesEncoder().encode(Plain())
        #expect(try JSONDecoder().decode(Plain.self, from: Data(ours)) == Plain())
        #expect(try JSONBytesDecoder().decode(Plain.self, from: JSONEncoder().encode(Plain())) == Plain())
        #expect(
            try JSON(parsing: JSONEncoder().encode(Plain())).object?.dictionary
                == JSON(parsing: ours).object?.dictionary)
    }

    @Test func `Top-level values of every kind`() throws {
        #expect(try JSONBytesEncoder().encode(1) == Array("1".utf8))
        #expect(try JSONBytesEncoder().encode("a") == Array(#""a""#.utf8))
        #expect(try JSONBytesEncoder().encode(Int?.none) == Array("null".utf8))
        #expect(try JSONBytesEncoder().encode([Int]()) == Array("[]".utf8))
        #expect(
            try JSONBytesEncoder().encode(Date(timeIntervalSince1970: -0.5))
                == Array(#""1969-12-31T23:59:59.500Z""#.utf8))
        #expect(try JSONBytesDecoder().decode(Bool.self, from: Array(" true ".utf8)))
        #expect(try JSONBytesDecoder().decode(Int?.self, from: Array("null".utf8)) == nil)
        #expect(try JSONBytesDecoder().decode([String: Int].self, from: Data(#"{"a":1}"#.utf8)) == ["a": 1])
    }

    @Test(arguments: [
        ("2026-01-31T12:00:00Z", 1_769_860_800.0), ("2026-01-31T13:00:00.5+01:00", 1_769_860_800.5),
        ("2026-01-31T12:00:00.123456789Z", 1_769_860_800.123456789),
    ]) func `Dates come with any offset and fraction`(_ text: String, _ seconds: Double) throws {
        let date = try JSONBytesDecoder().decode(Date.self, from: Array("\"\(text)\"".utf8))
        #expect(abs(date.timeIntervalSince1970 - seconds) < 1e-6)
    }

    @Test func `Numbers keep their value where the type has it`() throws {
        func decode<T: Decodable>(_ text: String, as type: T.Type) throws -> T {
            try JSONBytesDecoder().decode(type, from: Array(text.utf8))
        }
        #expect(try decode("18446744073709551615", as: UInt64.self) == .max)
        #expect(try decode("-9223372036854775808", as: Int64.self) == .min)
        #expect(try decode("1.0", as: Int.self) == 1)
        #expect(try decode("1e3", as: Int.self) == 1000)
        #expect(try decode("-0", as: Int.self) == 0)
        #expect(try decode("3", as: Double.self) == 3)
        #expect(try decode("0.1", as: Float.self) == 0.1)
        #expect(try decode("12.50", as: Decimal.self) == Decimal(string: "12.5"))
        #expect(try JSONBytesEncoder().encode(Decimal(string: "12.5")) == Array("12.5".utf8))
        for (text, type) in [
            ("128", Int8.self as any Decodable.Type), ("-1", UInt.self), ("1.5", Int.self), ("1e99", Int64.self),
            ("1e999", Double.self), ("1e39", Float.self),
        ] {
            #expect(throws: DecodingError.self) { try JSONBytesDecoder().decode(type, from: Array(text.utf8)) }
        }
    }

    @Test func `Keys may come in any order, escaped, among others`() throws {
        struct Pair: Decodable, Equatable { var a: Int, b: [Pair]?, c: String }
        let text = #"{"x":{"a":9,"c":"no"},"c":"yes","b":[{"c":"in","a":2}],"\u0061":1,"a":5}"#
        let pair = try JSONBytesDecoder().decode(
            Pair.self, from: Array(text.utf8))
        #expect(pair.a == 1 && pair.c == "yes" && pair.b?.first?.a == 2)
    }

    @Test func `A dictionary of many thousands comes back, and so does its neighbour`() throws {
        let large = Dictionary(uniqueKeysWithValues: (0..<30_000).map { ("key-\($0)\"", $0) })
        let value = [large, ["key-1\"": 1], large.filter { $0.value < 40 }]
        #expect(try JSONBytesDecoder().decode([[String: Int]].self, from: JSONBytesEncoder().encode(value)) == value)
    }

    // MARK: Unusual encodings

    private class Base: Codable {
        var base = 1
        init() {}
        private enum Key: String, CodingKey { case base }
        required init(from decoder: any Decoder) throws {
            base = try decoder.container(keyedBy: Key.self).decode(Int.self, forKey: .base)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(base, forKey: .base)
        }
    }

    private final class Derived: Base {
        var own = 2
        override init() { super.init() }
        private enum Key: String, CodingKey { case own, left, right, list }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            own = try container.decode(Int.self, forKey: .own)
            try super.init(from: container.superDecoder())
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            #expect(list.count == 3)
            #expect(try list.decode(Int.self) == 1)
            #expect(try list.nestedContainer(keyedBy: Key.self).decode(Int.self, forKey: .left) == 5)
            #expect(try list.decodeNil())
            #expect(list.isAtEnd && list.currentIndex == 3)
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            // Side by side, in turns.
            var left = container.nestedContainer(keyedBy: Key.self, forKey: .left)
            var right = container.nestedContainer(keyedBy: Key.self, forKey: .right)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try left.encode(1, forKey: .left)
            try right.encode(2, forKey: .left)
            try list.encode(1)
            try container.encode(own, forKey: .own)
            try left.encode(3, forKey: .right)
            var inner = list.nestedContainer(keyedBy: Key.self)
            try list.encodeNil()
            try inner.encode(5, forKey: .left)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test func `Containers side by side and super encoders keep their places`() throws {
        let text = try JSONBytesEncoder().encode(Derived())
        #expect(
            String(decoding: text, as: UTF8.self)
                == #"{"left":{"left":1,"right":3},"right":{"left":2},"list":[1,{"left":5},null],"own":2,"super":{"base":1}}"#
        )
        let back = try JSONBytesDecoder().decode(Derived.self, from: text)
        #expect(back.own == 2 && back.base == 1)
    }

    @Test func `A subclass may share its object with its superclass`() throws {
        final class Sharing: Base {
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingUserKey.self)
                try container.encode(2, forKey: .more)
                try super.encode(to: encoder)
            }
        }
        enum CodingUserKey: String, CodingKey { case more }
        #expect(try JSONBytesEncoder().encode(Sharing()) == Array(#"{"more":2,"base":1}"#.utf8))
    }
}
