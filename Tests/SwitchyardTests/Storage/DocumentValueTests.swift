import Foundation
import Switchyard
import SwitchyardTestSupport
import Testing

@Suite struct DocumentValueTests {
    @Test(arguments: 1...4)
    func `Fields behave like a dictionary keyed by bytes, sorted`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var data = DocumentData()
        var model: [UTF8Key: DocumentValue] = [:]
        for _ in 0..<300 {
            // Some differ only behind their first eight bytes, or by zeros at the end.
            let name = random.pick([
                "a", "b", "é", "e\u{301}", "", "aa", "～", "😀", "a\0", "a\0\0", "\0", "eightbyt", "eightbyte",
                "eightbyt\0",
                "eightbyted", "seven77",
            ])
            let value = random.chance(30) ? nil : random.value()
            data[name] = value
            model[UTF8Key(name)] = value
            #expect(data.count == model.count)
            #expect(data[name] == value)
        }
        #expect(data.names == data.names.sorted { $0.utf8Ordering(to: $1) == .before })
        #expect(Dictionary(uniqueKeysWithValues: data.map { (UTF8Key($0.name), $0.value) }) == model)
        #expect(DocumentData(data.map { ($0.name, $0.value) }.shuffled(using: &random)) == data)
    }

    @Test func `Of two fields with the same name the later one counts`() {
        let data = DocumentData([("b", 1), ("a", 2), ("b", 3), ("a", 4)])
        #expect(data == ["a": 4, "b": 3] && data.count == 2)
    }

    @Test func `A variable becomes a value by the same word everywhere`() {
        let (name, amount, at) = ("Milk", 2, Date(timeIntervalSince1970: 0))
        let data: DocumentData = ["name": .of(name), "amount": .of(amount), "at": .of(at), "list": .of([name])]
        #expect(data == ["name": "Milk", "amount": 2, "at": .timestamp(Timestamp(at)), "list": ["Milk"]])
        #expect(Query(in: "a").where("n", .equal, .of(amount)) == Query(in: "a").where("n", .equal, 2))
    }

    @Test func `Paths reach into maps, make them, and leave others alone`() {
        var data: DocumentData = ["a": ["x": 1], "s": "text"]
        #expect(data["a.x" as FieldPath] == 1)
        #expect(data["a.y" as FieldPath] == nil && data["s.x" as FieldPath] == nil && data["n.x.y" as FieldPath] == nil)
        data["a.y.z" as FieldPath] = 2
        data["s.x" as FieldPath] = 3
        data["new.deep" as FieldPath] = 4
        data["gone.deep" as FieldPath] = nil
        data["a.x" as FieldPath] = nil
        #expect(data == ["a": ["y": ["z": 2]], "new": ["deep": 4], "s": ["x": 3]])
        #expect(data.projected(to: ["a.y", "s", "nowhere"]) == ["a": ["y": ["z": 2]], "s": ["x": 3]])
    }

    @Test func `Equality is exact where the order of queries is not`() {
        #expect(DocumentValue.integer(1) != .double(1) && DocumentValue.integer(1).isSame(as: .double(1)))
        #expect(DocumentValue.double(0) != .double(-0.0) && DocumentValue.double(0).isSame(as: .double(-0.0)))
        #expect(DocumentValue.double(.nan) == .double(-.nan) && DocumentValue.double(.nan).isSame(as: .double(.nan)))
        #expect(DocumentValue.vector([.nan]) == .vector([.nan]))
        #expect(Set([DocumentValue.double(.nan), .double(-.nan)]).count == 1)
        #expect(DocumentReference("a/b") != DocumentReference("a/b", origin: "x"))
    }

    @Test(arguments: 1...3)
    func `The order of values is total, agrees with equality and with hashing`(seed: Int) async {
        var random = SeededGenerator(seed: UInt64(seed))
        let values = (0..<40).map { _ in random.value() }
        for left in values {
            await Task.yield()
            for right in values {
                #expect(left.ordering(to: right) == right.ordering(to: left).reversed)
                if left == right { #expect(left.isSame(as: right) && left.hashValue == right.hashValue) }
                for third in values.prefix(15)
                where left.ordering(to: right) != .after && right.ordering(to: third) != .after {
                    #expect(left.ordering(to: third) != .after)
                }
            }
        }
    }

    @Test func `Descriptions never show contents`() {
        let data: DocumentData = ["password": "secret"]
        let snapshot = DocumentSnapshot.existing("a/b", data)
        for text in [
            "\(data)", String(reflecting: data), "\(DocumentValue.string("secret"))",
            String(reflecting: data["password"]!),
        ] {
            #expect(!text.contains("secret"))
        }
        #expect(!"\(snapshot.data!)".contains("secret"))
    }

    @Test func `Timestamps keep what dates can tell, and are bounded`() throws {
        for seconds in [0, -0.5, 1_700_000_000.123456, -62_135_596_800, 253_402_300_799] as [Double] {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(abs(Timestamp(date).date.timeIntervalSince(date)) < 1e-6)
        }
        #expect(Timestamp(Date(timeIntervalSince1970: .infinity)) == .distantFuture)
        #expect(Timestamp(Date(timeIntervalSince1970: -.infinity)) == .distantPast)
        #expect(Timestamp(Date(timeIntervalSince1970: .nan)) == .distantPast)
        #expect(Timestamp(Date(timeIntervalSince1970: 1e300)) == .distantFuture)
        #expect(
            Timestamp(microseconds: -1).nanoseconds == 999_999_000 && Timestamp(microseconds: -1).microseconds == -1)
        #expect(throws: StorageError.self) { try Timestamp(validatingSeconds: 0, nanoseconds: 1_000_000_000) }
        #expect(throws: StorageError.self) { try Timestamp(validatingSeconds: 253_402_300_800, nanoseconds: 0) }
        #expect(Timestamp(microseconds: 5).asEstimate > .distantFuture)
        #expect(throws: StorageError.self) { try GeoPoint(latitude: 91, longitude: 0) }
        #expect(throws: StorageError.self) { try GeoPoint(latitude: 0, longitude: .nan) }
    }
}
