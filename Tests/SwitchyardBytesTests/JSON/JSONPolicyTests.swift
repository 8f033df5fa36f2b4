import SwitchyardBytes
import Testing

struct JSONPolicyTests {
    private func parse(_ text: String, _ options: JSONParsingOptions) -> Result<JSON, JSONError> {
        Result { () throws(JSONError) in try JSON(parsing: text, options: options) }
    }

    @Test(arguments: [
        #"{"a":1,"b":2,"a":3}"#, #"{"a":1,"b":2,"\u0061":3}"#, #"{"\u0061":1,"b":2,"a":3}"#,
    ])
    func `A repeated key is refused, or the first or the last one is kept`(_ text: String) {
        #expect(parse(text, .init(duplicateKeys: .keepFirst)) == .success(["a": 1, "b": 2]))
        #expect(parse(text, .init(duplicateKeys: .keepLast)) == .success(["a": 3, "b": 2]))
        guard case .failure(let error) = parse(text, .init()) else {
            Issue.record("accepted")
            return
        }
        #expect(error.reason == .duplicateKey)
        #expect(error.offset == text.utf8.count - (text.contains("\\u0061\":3") ? 11 : 6))
    }

    @Test func `A repeated key is found among thousands, and in an inner object only`() {
        let many = (0..<5000).map { "\"key\($0)\":\($0)" }.joined(separator: ",")
        #expect(throws: Never.self) { try JSON(parsing: "{\(many)}") }
        #expect(throws: JSONError.self) { try JSON(parsing: "{\(many),\"key1234\":0}") }
        #expect(
            parse("{\(many),\"key7\":0}", .init(duplicateKeys: .keepLast))
                == parse("{\(many)}".replacing("\"key7\":7,", with: "\"key7\":0,"), .init()))
        #expect(
            parse(#"{"a":{"a":{"a":1}},"b":{"a":2}}"#, .init())
                == .success(["a": ["a": ["a": 1]], "b": ["a": 2]]))
        #expect(throws: JSONError.self) { try JSON(parsing: #"{"a":{"b":1,"b":2}}"#) }
    }

    @Test(arguments: [#""\uD800""#, #""\uDC00""#, #""\uD800x""#, #""\uD800\n""#, #""\uDC00\uD800""#])
    func `A lone surrogate is refused or replaced`(_ text: String) throws {
        #expect(throws: JSONError(.loneSurrogate, at: 1)) { try JSON(parsing: text) }
        let replaced = try JSON(parsing: text, options: .init(loneSurrogates: .replace)).string
        #expect(replaced?.unicodeScalars.first == "\u{FFFD}")
    }

    @Test func `A surrogate pair behind a lone one is kept whole`() throws {
        let json = try JSON(parsing: #""\uD800\uD83D\uDE00""#, options: .init(loneSurrogates: .replace))
        #expect(json.string == "\u{FFFD}😀")
    }

    @Test func `Depth is limited, also below the default`() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(throws: Never.self) { try JSON(parsing: nested(512)) }
        #expect(throws: JSONError(.tooDeep, at: 512)) { try JSON(parsing: nested(513)) }
        #expect(throws: JSONError(.tooDeep, at: 512)) {
            try JSON(parsing: String(repeating: "[", count: 1_000_000))
        }
        #expect(throws: JSONError(.tooDeep, at: 2)) {
            try JSON(parsing: "[[{}]]", options: .init(maximumDepth: 2))
        }
        let objects = String(repeating: #"{"a":"#, count: 512)
        #expect(throws: Never.self) {
            try JSON(parsing: objects + "1" + String(repeating: "}", count: 512))
        }
        #expect(throws: JSONError.self) {
            try JSON(parsing: objects + "{}" + String(repeating: "}", count: 512))
        }
    }

    @Test(arguments: [
        ("9223372036854775807", JSON.integer(.max)), ("-9223372036854775808", .integer(.min)),
        ("9223372036854775808", .number(9_223_372_036_854_775_808)),
        ("-9223372036854775809", .number(-9_223_372_036_854_775_808)),
        ("18446744073709551616", .number(18_446_744_073_709_551_616)), ("-0", .number(-0.0)), ("0", 0),
        ("1e2", .number(100)),
        ("1.0", .number(1)), ("0.1", .number(0.1)), ("1e23", .number(1e23)),
        ("8.98846567431158e307", .number(8.98846567431158e307)),
        ("2.2250738585072011e-308", .number(Double(bitPattern: 0x000F_FFFF_FFFF_FFFF))),
        ("1e-400", .number(0)),
        ("-1e-400", .number(-0.0)),
        ("9007199254740993", .integer(9_007_199_254_740_993)),
        ("9007199254740993.0", .number(9_007_199_254_740_992)),
        ("0.000000000000000000000000000000000000000000000001", .number(1e-48)),
        ("0e999999999999999999999", .number(0)),
        ("1.7976931348623157e308", .number(.greatestFiniteMagnitude)),
        ("4.9e-324", .number(.leastNonzeroMagnitude)),
        ("123456789012345678901234567890", .number(1.2345678901234568e29)),
    ]) func `A number is the exact integer or the nearest Double`(_ text: String, _ expected: JSON)
        throws
    {
        let parsed = try JSON(parsing: text)
        #expect(parsed == expected)
        #expect(parsed.double?.sign == expected.double?.sign)
    }

    @Test(arguments: ["1e309", "-1e400", "1e99999999999999999999"])
    func `A number beyond every Double is refused, or infinite where that is wanted`(_ text: String) throws {
        #expect(throws: JSONError(.numberOutOfRange, at: 0)) { try JSON(parsing: text) }
        let infinity = JSON.number(text.hasPrefix("-") ? -.infinity : .infinity)
        #expect(try JSON(parsing: "[\(text)]", options: JSONParsingOptions(largeNumbers: .infinite)) == [infinity])
    }
}
