import SwitchyardBytes
import Testing

@testable import SwitchyardLocalSupabase

/// How values of other types are taken, as the vendor's validator does.
struct RequestSchemaTests {
    private static let schema = RequestSchema([
        "flag": .boolean, "count": .positive, "name": .string, "order": .word(["asc", "desc"]), "size": .size,
        "names": .nullable(.list(of: .string, count: 1...2)), "inner": .object(RequestSchema(["limit": .count])),
    ])

    @Test(
        arguments: [
            ("flag", "true", true), ("flag", 1, true), ("flag", "false", false), ("flag", 0, false),
            ("flag", .null, false), ("flag", [true], true),
            ("count", "60", 60), ("count", " 60 ", 60), ("count", "1e2", 100), ("count", "0x10", 16),
            ("count", true, 1),
            ("count", 3.0, 3), ("count", "5.", 5), ("count", .number(1e300), .integer(.max)),
            ("name", 5, "5"), ("name", true, "true"), ("name", .null, ""), ("name", ["a"], "a"),
            ("order", ["desc"], "desc"),
            ("size", "1.5MB", 1_500_000), ("size", "1.2345gb", 1_230_000_000), ("size", "7b", 7), ("size", "12", 12),
            ("size", .null, .null), ("size", 0, 0),
            ("names", "a", ["a"]), ("names", 7, ["7"]), ("names", [1, .null], ["1", ""]), ("names", .null, .null),
            ("inner", ["limit": "3"], ["limit": 3]), ("other", [1, 2], [1, 2]),
        ] as [(String, JSON, JSON)])
    func `A value becomes what is meant`(_ name: String, _ given: JSON, _ expected: JSON) throws {
        let converted = try Self.schema.converted([name: given], as: "body")
        #expect(converted[name] == expected)
    }

    @Test(
        arguments: [
            ("flag", "yes", "body/flag must be boolean"), ("flag", 2, "body/flag must be boolean"),
            ("count", "abc", "body/count must be integer"), ("count", 1.5, "body/count must be integer"),
            ("count", "", "body/count must be integer"), ("count", "nan", "body/count must be integer"),
            ("count", [1, 2], "body/count must be integer"), ("count", .null, "body/count must be >= 1"),
            ("count", -1, "body/count must be >= 1"), ("name", ["a", "b"], "body/name must be string"),
            ("name", [:], "body/name must be string"),
            ("order", "up", "body/order must be equal to one of the allowed values"),
            ("names", [], "body/names must NOT have fewer than 1 items"),
            ("names", ["a", "b", "c"], "body/names must NOT have more than 2 items"),
            ("names", [["a", "b"]], "body/names/0 must be string"), ("names", [:], "body/names must be array"),
            ("inner", .null, "body/inner must be object"), ("inner", ["limit": -1], "body/inner/limit must be >= 0"),
        ] as [(String, JSON, String)])
    func `A value that cannot be meant is refused, with its place`(_ name: String, _ given: JSON, _ message: String) {
        let failure = #expect(throws: LocalSupabaseFileError.self) {
            try Self.schema.converted([name: given], as: "body")
        }
        #expect(failure?.message == message)
        #expect(failure?.code == "InvalidRequest" && failure?.error == "Error")
    }

    @Test(arguments: ["5 MB", "MB", ".5MB", "1.MB", "5TB", "-1MB", "1.5"])
    func `Sizes that cannot be read are refused for every form they could have`(_ text: String) {
        let failure = #expect(throws: LocalSupabaseFileError.self) {
            try Self.schema.converted(["size": .string(text)], as: "body")
        }
        #expect(failure?.message.hasPrefix("body/size must be integer, ") == true)
        #expect(failure?.message.hasSuffix(", body/size must match a schema in anyOf") == true)
    }

    @Test func `Required members, and one of several, are demanded`() {
        let all = RequestSchema(["name": .string], required: ["name"])
        let some = RequestSchema(["public": .boolean, "size": .size], oneOf: ["public", "size"])
        for (schema, json, message) in [
            (all, [:], "body must have required property 'name'"), (all, [], "body must be object"),
            (all, .null, "body must be object"), (some, ["id": "x"], "body must have required property 'public'"),
        ] as [(RequestSchema, JSON, String)] {
            let failure = #expect(throws: LocalSupabaseFileError.self) { try schema.converted(json, as: "body") }
            #expect(failure?.message == message)
        }
    }
}
