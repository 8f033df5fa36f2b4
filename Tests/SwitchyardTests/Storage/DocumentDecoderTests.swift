import Foundation
import SwitchyardTestSupport
import Testing

@testable import Switchyard

/// Documents decoded one after the other by one decoder, against each by itself.
@Suite struct DocumentDecoderTests {
    struct Inner: Codable, Equatable {
        var a: Int?
        var b: String?
    }

    /// Every field may be missing, and they come in another order than they are stored in.
    struct Note: Codable, Equatable {
        @DocumentID var id: String
        var z: Int?
        var a: Double?
        var m: String?
        var inner: Inner?
        var list: [Inner]?
        var any: DocumentValue?
        var when: Timestamp?
    }

    private func note(_ random: inout SeededGenerator) -> DocumentData {
        func inner() -> DocumentValue {
            var data = DocumentData()
            if random.chance(60) { data["a"] = random.chance(95) ? .integer(Int64(random.int(0..<9))) : "no number" }
            if random.chance(60) { data["b"] = .string(random.pick(["", "é", "e\u{301}"])) }
            if random.chance(30) { data["aa"] = .null }
            return .map(data)
        }
        var data = DocumentData()
        if random.chance(70) { data["z"] = .integer(Int64(random.int(-3..<3))) }
        if random.chance(70) { data["a"] = random.pick([.double(1.5), .integer(2), .null]) }
        if random.chance(70) { data["m"] = random.chance(97) ? "text" : true }
        if random.chance(60) { data["inner"] = inner() }
        if random.chance(50) { data["list"] = .array((0..<random.int(0..<4)).map { _ in inner() }) }
        if random.chance(40) { data["any"] = random.value() }
        if random.chance(40) { data["when"] = .timestamp(Timestamp(microseconds: 5)) }
        // Members that are not requested, before, between and behind the others.
        for name in ["", "b", "lisp", "zz"] where random.chance(30) { data[name] = random.value() }
        return data
    }

    private func outcome<Value: Decodable>(_ body: () throws(StorageError) -> Value) -> Result<Value, StorageError> {
        do throws(StorageError) { return .success(try body()) } catch { return .failure(error) }
    }

    /// - Returns: How many of the documents did not fit.
    private func compare<Value: Decodable & Equatable>(
        _ type: Value.Type, _ documents: [(StoragePath, DocumentData)], by coder: DocumentCoder = .standard
    ) -> Int {
        let decoder = DocumentDecoder(type, by: coder)
        var misfits = 0
        for (path, data) in documents {
            let together = outcome { () throws(StorageError) in try decoder.decode(data, at: path) }
            let alone = outcome { () throws(StorageError) in try coder.decode(type, from: data, at: path) }
            switch (together, alone) {
            case (.success(let left), .success(let right)): #expect(left == right, "\(path)")
            case (.failure(let left), .failure(let right)):
                misfits += 1
                #expect(left.code == right.code && left.message == right.message)
            default: Issue.record("\(path): \(together) and \(alone)")
            }
        }
        return misfits
    }

    @Test(arguments: 0..<RunSize.full(60, part: 15))
    func `Any list of documents decodes as each of them does by itself`(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed) &+ 5)
        let documents = (0..<60).map { (StoragePath(unchecked: "notes/\($0)"), note(&random)) }
        let misfits = compare(Note.self, documents)
        #expect(misfits < 60)
    }

    @Test func `A document that does not fit is named, and the next one is as it is`() throws {
        let decoder = DocumentDecoder(Note.self, by: .standard)
        #expect(try decoder.decode(["z": 1, "inner": ["a": 2]], at: "notes/a").inner == Inner(a: 2))
        let error = #expect(throws: StorageError.self) {
            try decoder.decode(["z": 1, "inner": ["a": "x"]], at: "notes/b")
        }
        #expect(error?.code == .codingFailed)
        for word in ["notes/b", "inner.a"] { #expect(error?.message.contains(word) == true, "\(error?.message ?? "")") }
        let next = try decoder.decode(["inner": ["b": "y"], "m": "text"], at: "notes/c")
        #expect(next.id == "c" && next.z == nil && next.inner == Inner(b: "y") && next.m == "text")
    }

    /// Asks for its fields in an order that depends on the document, and for some of them twice.
    struct Fickle: Decodable, Equatable {
        let found: [String: Int]

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: AnyKey.self)
            let isReversed = fields.contains(AnyKey("r"))
            var found: [String: Int] = [:]
            let names = ["a", "b", "c", "d", "r", "a"]
            for name in isReversed ? names.reversed() : names where fields.contains(AnyKey(name)) {
                found[name] = try fields.decode(Int.self, forKey: AnyKey(name))
            }
            self.found = found
        }
    }

    struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    @Test func `Fields are found in whatever order they are asked for`() {
        var random = SeededGenerator(seed: 3)
        let documents = (0..<300).map { number in
            let names = ["a", "b", "c", "d", "r", "s"].filter { _ in random.chance(50) }
            let data = DocumentData(names.map { ($0, DocumentValue.integer(Int64(number))) })
            return (StoragePath(unchecked: "odd/\(number)"), data)
        }
        #expect(compare(Fickle.self, documents) == 0)
    }

    @Test func `A document with more fields than places are remembered for is read as well`() {
        let names = (0..<400).map { "field\($0)" }
        var random = SeededGenerator(seed: 4)
        let documents = (0..<8).map { number in
            let some = names.filter { _ in random.chance(80) }
            return (
                StoragePath(unchecked: "wide/\(number)"),
                DocumentData(some.map { ($0, DocumentValue.integer(Int64(number))) })
            )
        }
        #expect(compare([String: Int].self, documents) == 0)
    }

    /// Keeps its decoder and reads from it when it is asked.
    struct Lazy: Decodable {
        let decoder: any Decoder
        init(from decoder: any Decoder) throws { self.decoder = decoder }

        var note: Note { get throws { try Note(from: decoder) } }
    }

    @Test func `A value that has kept its decoder still reads its own document`() throws {
        let decoder = DocumentDecoder(Lazy.self, by: .standard)
        let first = try decoder.decode(["z": 1, "inner": ["a": 1]], at: "notes/a")
        let second = try decoder.decode(["m": "two", "inner": ["b": "2"]], at: "notes/b")
        let third = try decoder.decode(["z": 3], at: "notes/c")
        for (lazy, id) in [(second, "b"), (first, "a"), (third, "c")] { #expect(try lazy.note.id == id) }
        #expect(try first.note.inner == Inner(a: 1) && first.note.z == 1)
        #expect(try second.note.m == "two" && second.note.inner == Inner(b: "2"))
    }

    @Test func `The coder's names and user info hold for all of a list`() throws {
        struct Seen: Codable, Equatable {
            @DocumentID var id: String
            var lastSeenAt: Int
        }
        let documents = (0..<5).map {
            (StoragePath(unchecked: "users/\($0)"), DocumentData([("last_seen_at", DocumentValue.integer(Int64($0)))]))
        }
        #expect(compare(Seen.self, documents, by: DocumentCoder(keys: .snakeCase)) == 0)
        #expect(compare(Seen.self, documents) == 5)
    }

    @Test func `The results of a query are decoded in their order`() throws {
        let documents = ["b", "a", "c"].map { id in
            DocumentSnapshot.existing(StoragePath(unchecked: "notes/\(id)"), ["m": .string(id)])
        }
        let snapshot = QuerySnapshot(query: Query(in: "notes"), documents: documents)
        #expect(try snapshot.decoded(as: Note.self).map(\.id) == ["b", "a", "c"])
    }
}
