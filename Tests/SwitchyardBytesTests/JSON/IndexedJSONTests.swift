import SwitchyardBytes
import SwitchyardTestSupport
import Testing

/// Values read from an index of a text, without a tree in between, against the parser's tree.
struct IndexedJSONTests {
    private static let options = JSONParsingOptions(duplicateKeys: .keepLast, largeNumbers: .infinite)

    private func indexed(_ text: String) throws -> IndexedJSON { try IndexedJSON(parsing: Array(text.utf8)) }

    /// The tree, made by walking the index place by place.
    private func tree(_ text: IndexedJSON, at place: Int) -> JSON {
        if text.isArray(at: place) { return .array(text.elements(of: place).map { tree(text, at: $0) }) }
        guard text.isObject(at: place) else { return text.json(at: place) }
        return .object(
            JSONObject(text.keys(of: place).map { (key: text.string(at: $0), value: tree(text, at: $0 + 1)) }))
    }

    /// Every place in the order of the text.
    private func places(_ text: IndexedJSON) -> [Int] { Array(0..<text.end(of: 0)) }

    struct Scalar: Sendable, CustomTestStringConvertible {
        let text: String
        let kind: IndexedJSON.Kind
        let value: JSON
        var string: String?
        var testDescription: String { text }
    }

    @Test(arguments: [
        Scalar(text: "null", kind: .null, value: .null), Scalar(text: " true ", kind: .yes, value: true),
        Scalar(text: "false", kind: .no, value: false), Scalar(text: "-0", kind: .number, value: .number(-0.0)),
        Scalar(text: "9007199254740993", kind: .number, value: 9_007_199_254_740_993),
        Scalar(text: "9223372036854775808", kind: .number, value: .number(0x1p63)),
        Scalar(text: "1.0", kind: .number, value: .number(1)),
        Scalar(text: "1e400", kind: .number, value: .number(.infinity)),
        Scalar(text: "-1e400", kind: .number, value: .number(-.infinity)),
        Scalar(text: "\"\"", kind: .string, value: "", string: ""),
        Scalar(text: "\"a é 😀\"", kind: .string, value: "a é 😀", string: "a é 😀"),
        Scalar(text: #""a\n\u00e9\ud83d\ude00\"""#, kind: .escapedString, value: "a\né😀\"", string: "a\né😀\""),
    ])
    func `A value by itself is what it says`(_ scalar: Scalar) throws {
        let text = try indexed(scalar.text)
        #expect(text.kind(at: 0) == scalar.kind)
        #expect(text.json(at: 0) == scalar.value)
        #expect(text.text(at: 0) == scalar.string)
        #expect(text.isString(at: 0) == (scalar.string != nil))
        #expect(text.isNull(at: 0) == (scalar.kind == .null))
        #expect(text.end(of: 0) == 1)
        #expect(text.keys(of: 0).isEmpty && text.elements(of: 0).isEmpty && text.value(of: "a", in: 0) == nil)
    }

    @Test func `The literal of a number is there, digit by digit`() throws {
        let text = try indexed("[123456789012345.123456789012, -1E+2]")
        #expect(text.elements(of: 0).map { text.string(at: $0) } == ["123456789012345.123456789012", "-1E+2"])
    }

    @Test func `An object's keys and values take turns, and an array's elements follow each other`() throws {
        let text = try indexed(#"{"a": [1, [2, 3], {}], "b": {"c": null}, "\u0061b": "x"}"#)
        #expect(text.keys(of: 0).map { text.string(at: $0) } == ["a", "b", "ab"])
        let list = try #require(text.value(of: "a", in: 0))
        #expect(text.isArray(at: list) && text.elements(of: list).map { text.json(at: $0) } == [1, [2, 3], [:]])
        #expect(text.end(of: list) == list + 6)
        let inner = try #require(text.value(of: "b", in: 0))
        #expect(text.value(of: "c", in: inner).map { text.isNull(at: $0) } == true)
        #expect(text.value(of: "ab", in: 0).flatMap { text.text(at: $0) } == "x")
        #expect(text.value(of: "c", in: 0) == nil, "that of an inner object")
    }

    @Test func `Of several values for a key, the last one counts`() throws {
        let text = try indexed(#"{"a": 1, "b": 2, "\u0061": 3}"#)
        #expect(text.value(of: "a", in: 0).map { text.json(at: $0) } == 3)
        #expect(text.keys(of: 0).count == 3)
        #expect(text.json(at: 0)["a"] == 3)
    }

    @Test func `Keys are compared by their bytes`() throws {
        let text = try indexed("{\"e\u{301}\": 1, \"\u{e9}\": 2}")
        #expect(text.value(of: "\u{e9}", in: 0).map { text.json(at: $0) } == 2)
        #expect(text.value(of: "e\u{301}", in: 0).map { text.json(at: $0) } == 1)
    }

    @Test(arguments: [
        ("\"2026-11-27T10:00:00Z\"", true), (#""2026-11-27T10:00:00\u005a""#, true), ("\"2026-11-27\"", false),
        ("20261127", false), ("null", false),
    ])
    func `A text that is a time is read as one`(_ text: String, _ isOne: Bool) throws {
        let moment = try indexed(text).moment(at: 0)
        #expect((moment != nil) == isOne)
        if isOne { #expect(moment == RFC3339.parse("2026-11-27T10:00:00Z")) }
    }

    @Test(arguments: [
        (#"{"a": 5, "b": [6, 7], "c": "x"}"#, true), (#"{ "a":{"z":[]},"b":null,"c":1}"#, true),
        (#"{"a": 1, "b": 2}"#, false), (#"{"a": 1, "b": 2, "c": 3, "d": 4}"#, false),
        (#"{"a": 1, "c": 3, "b": 2}"#, false), (#"{"a": 1, "b": 2, "\u0063": 3}"#, false),
        (#"{"a": 1, "bb": 2, "c": 3}"#, false), ("[1, 2, 3]", false), ("{}", false),
    ])
    func `The values of an object like another one are found at once`(_ other: String, _ isFound: Bool) throws {
        let text = try indexed(#"[{"a": 1, "b": 2, "c": 3}, \#(other)]"#)
        let elements = text.elements(of: 0)
        var places = [0, 0, 0]
        #expect(text.findValues(of: elements[1], like: elements[0], in: &places) == isFound)
        if isFound {
            #expect(places.map(Optional.some) == ["a", "b", "c"].map { text.value(of: $0, in: elements[1]) })
        }
    }

    @Test(arguments: JSONCase.accepted + JSONCase.refusedStructure + JSONCase.refusedTokens + JSONCase.either)
    func `It takes what the parser takes, and holds the same`(_ item: JSONCase) {
        // Large numbers are refused where they are, and a key repeated is not minded.
        let text = try? IndexedJSON(parsing: item.bytes)
        let parsed = try? JSON(parsing: item.bytes, options: Self.options)
        guard let text else { return #expect(parsed == nil || (try? JSON(parsing: item.bytes)) == nil) }
        #expect(text.json(at: 0) == parsed)
        #expect(tree(text, at: 0) == parsed)
    }

    @Test(arguments: 0..<RunSize.full(40, part: 10))
    func `Any text holds what the parser's tree holds, at every place`(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed) &+ 900)
        for _ in 0..<50 {
            let value = JSONSamples.value(&random, depth: 5)
            let layout = JSONWritingOptions(sortsKeys: random.chance(50), isPretty: random.chance(50))
            let bytes = value.bytes(layout)
            let text = try IndexedJSON(parsing: bytes)
            let parsed = try JSON(parsing: bytes, options: Self.options)
            #expect(text.json(at: 0) == parsed)
            #expect(tree(text, at: 0) == parsed)
            for place in places(text) {
                #expect(text.end(of: place) > place)
                if text.isObject(at: place), case .object(let object) = text.json(at: place) {
                    for member in object.members {
                        let found = text.value(of: member.key, in: place)
                        #expect(found.map { text.json(at: $0) } == member.value)
                    }
                }
                if text.isArray(at: place) {
                    #expect(text.json(at: place).array?.count == text.elements(of: place).count)
                }
            }
        }
    }
}
