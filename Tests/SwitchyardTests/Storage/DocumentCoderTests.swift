import Foundation
import Switchyard
import SwitchyardTestSupport
import Testing

@Suite struct DocumentCoderTests {
    enum Mood: String, Codable { case calm, wild }
    enum Shape: Codable, Equatable {
        case circle(radius: Double)
        case named(String, sides: Int)
        case nothing
    }
    struct Address: Codable, Equatable {
        var city: String
        var lines: [String]
    }
    struct Everything: Codable, Equatable {
        var flag = true
        var count = 3
        var tiny: Int8 = -4
        var big: UInt64 = 7
        var ratio = 1.5
        var small: Float = 0.25
        var text = "é"
        var mood = Mood.wild
        var shape = Shape.named("box", sides: 4)
        var shapes: [Shape] = [.circle(radius: 2), .nothing]
        var when = Date(timeIntervalSince1970: 1_700_000_000.125)
        var exact = Timestamp(microseconds: 1_234_567)
        var bytes = Data([1, 2, 3])
        var site = URL(string: "https://example.org/a?b=c")!
        var place = try! GeoPoint(latitude: 1, longitude: -2)
        var friend: StoragePath = "users/bob"
        var other = DocumentReference("users/eve", origin: "elsewhere")
        var raw: DocumentValue = ["x": [1, 2.5, .null]]
        var fields: DocumentData = ["a.b": 1]
        var address = Address(city: "Ulm", lines: ["a", "b"])
        var addresses: [String: Address] = ["home-1": Address(city: "Aa", lines: [])]
        var missing: String?
        var present: Int? = 5
        var list: [Int?] = [1, nil, 3]
        var matrix: [[String: Int]] = [["a": 1], [:]]
        var uuid = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!
        var days: Set<Int> = [1]
    }

    private struct Priced: Codable, Equatable { var price: Decimal }

    @Test(arguments: [
        "0", "-1.5", "19.99", "0.00000001", "123456789012345", "1234567890123456",
        "-123456789012345678901234.567890123",
    ])
    func `A decimal number keeps all of its digits`(_ text: String) throws {
        let value = Priced(price: try #require(Decimal(string: text)))
        let data = try DocumentCoder.standard.data(from: value)
        #expect(try data.decoded(as: Priced.self) == value)
        // Ordered among numbers where a double has all of it.
        if case .double = data["price"] { #expect(text.count <= 16) } else { #expect(text.count >= 16) }
    }

    @Test func `A decimal number decodes from whole numbers, and from what its own code has written`() throws {
        let (whole, words): (DocumentData, DocumentData) = (["price": 7], ["price": "19 EUR"])
        #expect(try whole.decoded(as: Priced.self).price == 7)
        let parts: DocumentData = [
            "price": [
                "exponent": -2, "length": 1, "isNegative": false, "isCompact": true,
                "mantissa": [1999, 0, 0, 0, 0, 0, 0, 0],
            ]
        ]
        #expect(try parts.decoded(as: Priced.self).price == Decimal(string: "19.99"))
        #expect(throws: StorageError.self) { try words.decoded(as: Priced.self) }
    }

    @Test func `Every kind of property survives the way into a document and back`() throws {
        let value = Everything()
        let data = try DocumentCoder.standard.data(from: value)
        #expect(try data.decoded(as: Everything.self) == value)
        #expect(data["when"] == .timestamp(Timestamp(value.when)))
        #expect(data["bytes"] == .bytes(Data([1, 2, 3])))
        #expect(data["site"] == "https://example.org/a?b=c")
        #expect(data["friend"] == StoragePath("users/bob").documentValue)
        #expect(data["place"]?.geoPointValue == value.place)
        #expect(data["mood"] == "wild")
        #expect(data["shape"] == ["named": ["_0": "box", "sides": 4]])
        #expect(data["shapes"] == [["circle": ["radius": .double(2)]], ["nothing": [:]]])
        #expect(data["missing"] == nil)
        #expect(data["list"] == [1, .null, 3])
        #expect(data["small"] == .double(0.25))
        #expect(data.names == data.names.sorted { $0.utf8Ordering(to: $1) == .before })
    }

    @Test func `Names follow the strategy, those in dictionaries stay`() throws {
        struct Item: Codable, Equatable {
            var lastSeenAt = 1
            var homeURL = "u"
            var perUserName = ["someKey": Nested()]
            var kind = Kind.bigOne(innerValue: 2)
            struct Nested: Codable, Equatable { var deepName = 1 }
            enum Kind: Codable, Equatable { case bigOne(innerValue: Int) }
        }
        let snake = DocumentCoder(keys: .snakeCase)
        let data = try snake.data(from: Item())
        #expect(data.names == ["home_url", "kind", "last_seen_at", "per_user_name"])
        #expect(data["per_user_name"] == ["someKey": ["deep_name": 1]])
        #expect(data["kind"] == ["big_one": ["inner_value": 2]])
        #expect(try data.decoded(as: Item.self, by: snake) == Item())
        let custom = DocumentCoder(keys: .custom { "x_" + $0 })
        #expect(try custom.data(from: Item.Nested()) == ["x_deepName": 1])
        #expect(try custom.decode(Item.Nested.self, from: ["x_deepName": 1]) == Item.Nested())
    }

    @Test func `Names that look alike are changed and found each by itself`() throws {
        struct Item: Codable, Equatable {
            var composed: Int
            var decomposed: Int
            enum CodingKeys: String, CodingKey {
                case composed = "caf\u{E9}Name"
                case decomposed = "cafe\u{301}Name"
            }
        }
        let snake = DocumentCoder(keys: .snakeCase)
        let item = Item(composed: 1, decomposed: 2)
        let data = try snake.data(from: item)
        #expect(data.count == 2)
        #expect(data["caf\u{E9}_name"] == 1 && data["cafe\u{301}_name"] == 2)
        #expect(try data.decoded(as: Item.self, by: snake) == item)
    }

    @Test func `Numbers are read as each other only where nothing is lost`() throws {
        struct Box<Value: Codable>: Codable { var n: Value }
        #expect(try DocumentData([("n", .double(3))]).decoded(as: Box<Int>.self).n == 3)
        #expect(try DocumentData([("n", 3)]).decoded(as: Box<Double>.self).n == 3)
        #expect(throws: StorageError.self) { try DocumentData([("n", 3.5)]).decoded(as: Box<Int>.self) }
        #expect(throws: StorageError.self) { try DocumentData([("n", 300)]).decoded(as: Box<Int8>.self) }
        #expect(throws: StorageError.self) { try DocumentData([("n", .double(1e300))]).decoded(as: Box<Float>.self) }
        #expect(throws: StorageError.self) { try DocumentCoder.standard.data(from: Box(n: UInt64.max)) }
        #expect(try DocumentData([("n", .vector([1, 2]))]).decoded(as: Box<[Double]>.self).n == [1, 2])
    }

    @Test func `A whole number that a fraction cannot hold is an error that says so`() throws {
        struct Box<Value: Codable>: Codable { var n: Value }
        let tooFine: DocumentData = ["n": 9_007_199_254_740_993]
        let error = #expect(throws: StorageError.self) { try tooFine.decoded(as: Box<Double>.self) }
        #expect(error?.code == .codingFailed)
        #expect(error?.message.contains("cannot hold this whole number exactly (Int64, or DocumentValue, can)") == true)
        #expect(throws: StorageError.self) { try tooFine.decoded(as: Box<Float>.self) }
        #expect(throws: StorageError.self) { try tooFine.decoded(as: Box<CGFloat>.self) }
        #expect(throws: StorageError.self) { try tooFine.decoded(as: Box<Double?>.self) }
        #expect(throws: StorageError.self) {
            try DocumentData([("n", .array([.integer(.max)]))]).decoded(as: Box<[Double]>.self)
        }
        #expect(throws: StorageError.self) { try DocumentData([("n", 16_777_217)]).decoded(as: Box<Float>.self) }
        #expect(try tooFine.decoded(as: Box<Int64>.self).n == 9_007_199_254_740_993)
        #expect(try DocumentData([("n", 9_007_199_254_740_994)]).decoded(as: Box<Double>.self).n == 0x1p53 + 2)
        #expect(try DocumentData([("n", .integer(.min))]).decoded(as: Box<Float>.self).n == -0x1p63)
        #expect(try DocumentData([("n", .double(1e19))]).decoded(as: Box<UInt64>.self).n == 10_000_000_000_000_000_000)
        #expect(throws: StorageError.self) { try DocumentData([("n", .double(0x1p63))]).decoded(as: Box<Int64>.self) }
        #expect(throws: StorageError.self) { try DocumentData([("n", .double(0x1p64))]).decoded(as: Box<UInt64>.self) }
        // It has containers of its own and nothing to do with fractions.
        let price = Box(n: Decimal(string: "9007199254740993.07"))
        #expect(try DocumentCoder.standard.data(from: price).decoded(as: Box<Decimal?>.self).n == price.n)
    }

    struct User: Codable, Equatable {
        @DocumentID var id: String?
        @DocumentID var path: StoragePath?
        var name: String
        @ServerTimestamp var changed: Date?
        var log = Log()
        struct Log: Codable, Equatable { @ServerTimestamp var at: Timestamp? }
    }

    @Test func `A document's name is filled in and never written`() throws {
        let document = DocumentSnapshot.existing("users/alice", ["name": "Alice", "log": [:]])
        let user = try #require(try document.decoded(as: User.self))
        #expect(user.id == "alice" && user.path == "users/alice" && user.name == "Alice")
        #expect(try DocumentCoder.standard.data(from: user)["id"] == nil)
        #expect(try DocumentSnapshot.missing("users/bob").decoded(as: User.self) == nil)
        let json = try JSONEncoder().encode(user)
        #expect(try JSONDecoder().decode(User.self, from: json) == user)
    }

    @Test func `An unset server timestamp is written as one, at any depth`() throws {
        var user = User(name: "Alice")
        let write = try DocumentWrite.set("users/alice", from: user)
        #expect(write.operation == .set(["name": "Alice"]))
        #expect(
            Set(write.transforms) == [FieldTransform("changed", .serverTime), FieldTransform("log.at", .serverTime)])
        user.changed = Date(timeIntervalSince1970: 5)
        let (data, _) = write.applied(to: nil, serverTime: Timestamp(microseconds: 9_000_000))
        #expect(try DocumentSnapshot.existing("users/alice", data!).decoded(as: User.self)?.log.at?.seconds == 9)
        #expect(try DocumentCoder.standard.data(from: user)["changed"] == .timestamp(Timestamp(user.changed!)))
        #expect(throws: StorageError.self) { try DocumentWrite.set("a/b", from: ["logs": [User.Log()]]) }
    }

    /// What the error says, and that it says nothing of what the document holds.
    static func failure<Value: Decodable>(_ type: Value.Type, _ data: DocumentData) throws -> String {
        let error = try #require(throws: StorageError.self) {
            try DocumentCoder.standard.decode(type, from: data, at: "users/alice")
        }
        #expect(error.code == .codingFailed && !error.isRetryable)
        #expect(!error.description.contains("secret") && !error.description.contains("4711"))
        return error.message
    }

    @Test func `An error names the whole path of the field and nothing that is in it`() throws {
        struct Inner: Codable { var deep: [Leaf] }
        struct Leaf: Codable {
            var n: Int
            var mood: Mood?
            var url: URL?
            var id: UUID?
        }
        struct Outer: Codable { var inner: Inner }
        let cases: [(DocumentData, String)] = [
            ([:], "“inner” of “users/alice”"),
            (["inner": "secret"], "“inner”"),
            (["inner": ["deep": [["n": 1], ["n": "secret"]]]], "“inner.deep[1].n”"),
            (["inner": ["deep": [[:]]]], "“inner.deep[0].n”"),
            (["inner": ["deep": [["n": 1, "mood": "secret"]]]], "“inner.deep[0].mood”"),
            (["inner": ["deep": [["n": 1, "id": "secret"]]]], "“inner.deep[0].id”"),
            (["inner": ["deep": [["n": 4711.5]]]], "“inner.deep[0].n”"),
            (["inner": ["deep": ["secret": 4711]]], "“inner.deep”"),
        ]
        for (data, path) in cases {
            let message = try Self.failure(Outer.self, data)
            #expect(message.contains(path), "\(message)")
        }
        #expect(try Self.failure([String: [String: Int]].self, ["a b": ["c.d": "x"]]).contains("“`a b`.`c.d`”"))
        let error = #expect(throws: StorageError.self) { try DocumentCoder.standard.data(from: ["a": [UInt64.max]]) }
        #expect(error?.message.contains("“a[0]”") == true)
        #expect(error?.code == .codingFailed)
        #expect(throws: StorageError.self) { try DocumentCoder.standard.data(from: 5) }
        #expect(throws: StorageError.self) { try DocumentCoder.standard.data(from: [1]) }
    }

    @Test func `A type's own failure keeps its place and its cause`() throws {
        struct Broken: Error {}
        struct Picky: Codable {
            init(from decoder: any Decoder) throws { throw Broken() }
            func encode(to encoder: any Encoder) throws { throw Broken() }
            init() {}
        }
        let error = #expect(throws: StorageError.self) {
            try DocumentCoder.standard.decode([String: Picky].self, from: ["x": 1])
        }
        #expect(error?.underlying is Broken && error?.message.contains("“x”") == true)
        let other = #expect(throws: StorageError.self) { try DocumentCoder.standard.data(from: ["y": Picky()]) }
        #expect(other?.underlying is Broken && other?.message.contains("“y”") == true)
    }

    @Test func `Types that never end are an error, not a crash`() throws {
        final class Endless: Codable {
            var next: Endless { self }
            enum CodingKeys: CodingKey { case next }
            init() {}
            init(from decoder: any Decoder) throws {}
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(next, forKey: .next)
            }
        }
        #expect(throws: StorageError.self) { try DocumentCoder.standard.data(from: Endless()) }
        indirect enum Chain: Codable { case link(Chain), end }
        var value: DocumentValue = ["end": [:]]
        for _ in 0..<500 { value = ["link": ["_0": value]] }
        #expect(throws: StorageError.self) { try DocumentCoder.standard.decode(Chain.self, from: value.mapValue!) }
    }

    @Test func `Subclasses, nested containers and super containers find their places`() throws {
        class Base: Codable {
            var a = 1
            init() {}
        }
        final class Derived: Base {
            var b = 2
            enum CodingKeys: CodingKey { case b, pair, inner }
            enum Inner: CodingKey { case x }
            override init() { super.init() }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                b = try container.decode(Int.self, forKey: .b)
                var pair = try container.nestedUnkeyedContainer(forKey: .pair)
                b += try pair.decode(Int.self) + (pair.decodeNil() ? 100 : 0)
                b += try container.nestedContainer(keyedBy: Inner.self, forKey: .inner).decode(Int.self, forKey: .x)
                try super.init(from: container.superDecoder())
            }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                var pair = container.nestedUnkeyedContainer(forKey: .pair)
                try pair.encode(10)
                try pair.encodeNil()
                var inner = container.nestedContainer(keyedBy: Inner.self, forKey: .inner)
                try inner.encode(1000, forKey: .x)
                try container.encode(b, forKey: .b)
                try super.encode(to: container.superEncoder())
            }
        }
        let data = try DocumentCoder.standard.data(from: Derived())
        #expect(data == ["b": 2, "inner": ["x": 1000], "pair": [10, .null], "super": ["a": 1]])
        let back = try data.decoded(as: Derived.self)
        #expect(back.b == 1112 && back.a == 1)
    }

    /// Whether a map has names that differ only to a document: Foundation's JSON makes one of them.
    static func hasEquivalentNames(_ value: DocumentValue) -> Bool {
        switch value {
        case .map(let data): Set(data.names).count < data.count || data.contains { hasEquivalentNames($0.value) }
        case .array(let elements): elements.contains(where: hasEquivalentNames)
        default: false
        }
    }

    @Test(arguments: 1...5)
    func `Random documents pass through other formats unchanged, and never crash a type they do not fit`(seed: Int)
        async throws
    {
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<40 {
            await Task.yield()
            let data = random.data()
            #expect(try data.decoded(as: DocumentData.self) == data)
            if !Self.hasEquivalentNames(.map(data)) {
                #expect(try JSONDecoder().decode(DocumentData.self, from: JSONEncoder().encode(data)) == data)
            }
            #expect(try data.decoded(as: [String: DocumentValue].self).count <= data.count)
            _ = try? data.decoded(as: Everything.self)
            _ = try? data.decoded(as: [String: Shape].self)
            _ = try? data.decoded(as: [String: [Int]].self)
            _ = try? data.decoded(as: [String: [String: Date]].self)
        }
    }
}
