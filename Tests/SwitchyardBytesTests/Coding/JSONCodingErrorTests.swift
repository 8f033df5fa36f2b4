import SwitchyardBytes
import SwitchyardProviderKit
import Testing

struct JSONCodingErrorTests {
    private struct Row: Decodable {
        var id: Int
        var items: [Item]
        struct Item: Decodable { var name: String }
    }

    private func failure(_ text: String) -> DecodingError? {
        do {
            _ = try JSONBytesDecoder().decode([Row].self, from: Array(text.utf8))
            return nil
        } catch {
            return error as? DecodingError
        }
    }

    private func path(_ context: DecodingError.Context) -> String {
        context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }

    @Test func `A wrong type is reported with its path`() {
        guard
            case .typeMismatch(let type, let context)? = failure(
                #"[{"id":1,"items":[]},{"id":2,"items":[{"name":"a"},{"name":3}]}]"#)
        else { return #expect(Bool(false), "not a type mismatch") }
        #expect(ObjectIdentifier(type) == ObjectIdentifier(String.self))
        #expect(path(context) == "1.items.1.name")
        #expect(context.debugDescription == "Expected String, found a number.")
    }

    @Test func `A missing key is reported with the path of its object`() {
        guard case .keyNotFound(let key, let context)? = failure(#"[{"id":1,"items":[{}]}]"#) else {
            return #expect(Bool(false), "not a missing key")
        }
        #expect(key.stringValue == "name")
        #expect(path(context) == "0.items.0")
    }

    @Test func `A null in the place of a value is reported with its path`() {
        guard case .valueNotFound(_, let context)? = failure(#"[{"id":null,"items":[]}]"#) else {
            return #expect(Bool(false), "not a missing value")
        }
        #expect(path(context) == "0.id")
    }

    @Test func `A malformed text is corrupted data with the place underneath`() {
        guard case .dataCorrupted(let context)? = failure(#"[{"id":1,}]"#) else {
            return #expect(Bool(false), "not corrupted")
        }
        #expect(context.underlyingError as? JSONError == JSONError(.unexpectedByte, at: 9))
        #expect(failure("") != nil)
        #expect(failure("[]x") != nil)
    }

    @Test func `What no one asks for must be well formed all the same`() {
        #expect(failure(#"[{"id":1,"items":[],"other":"\x"}]"#) != nil)
        #expect(failure(#"[{"id":1,"items":[],"other":[1,]}]"#) != nil)
    }

    @Test func `The end of an array is reported`() {
        struct Two: Decodable {
            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                _ = try list.decode(Int.self)
                _ = try list.decode(Int.self)
            }
        }
        #expect {
            try JSONBytesDecoder().decode(Two.self, from: Array("[1]".utf8))
        } throws: { error in
            guard case DecodingError.valueNotFound(_, let context) = error else { return false }
            return path(context) == "1"
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `A number that is not finite is refused with its path`(_ number: Double) {
        #expect {
            try JSONBytesEncoder().encode(["a": [0, number]])
        } throws: { error in
            guard case EncodingError.invalidValue(_, let context) = error else { return false }
            return context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue } == ["a", "1"]
        }
    }

    @Test func `A key written twice is refused`() {
        struct Twice: Encodable {
            enum Key: String, CodingKey { case a, b }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(1, forKey: .a)
                try container.encode(1, forKey: .b)
                try container.encode(2, forKey: .a)
            }
        }
        #expect(throws: EncodingError.self) { try JSONBytesEncoder().encode(Twice()) }
        #expect(throws: EncodingError.self) { try JSONBytesEncoder().encode([Twice()]) }
    }

    @Test(arguments: [2, 31, 32, 33, 34, 500]) func `A key written twice is found among many`(_ count: Int) {
        struct Many: Encodable {
            let count: Int
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Name.self)
                for index in 0..<count { try container.encode(index, forKey: Name("k\(index)\n")) }
                try container.encode(0, forKey: Name("k\(count / 2)\n"))
            }
        }
        struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(_ name: String) { stringValue = name }
            init?(stringValue: String) { self.init(stringValue) }
            init?(intValue: Int) { nil }
        }
        #expect(throws: EncodingError.self) { try JSONBytesEncoder().encode([Many(count: count)]) }
    }

    @Test func `A value that writes nothing is an empty object inside and refused outside`() throws {
        struct Nothing: Encodable { func encode(to encoder: any Encoder) {} }
        #expect(throws: EncodingError.self) { try JSONBytesEncoder().encode(Nothing()) }
        #expect(try JSONBytesEncoder().encode([Nothing()]) == Array("[{}]".utf8))
    }

    @Test func `A failure that a type swallows still fails the whole`() {
        struct Swallowing: Encodable {
            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                try? list.encode([Double.nan])
                try? list.encode(1)
            }
        }
        #expect(throws: EncodingError.self) { try JSONBytesEncoder().encode(Swallowing()) }
    }
}
