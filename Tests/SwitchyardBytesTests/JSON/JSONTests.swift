import SwitchyardBytes
import Testing

struct JSONTests {
    private let json: JSON = [
        "name": "Ada", "age": 36, "height": 1.5, "whole": 2.0, "admin": true, "none": .null,
        "tags": ["a", "b"], "inner": ["deep": ["x": 1]],
    ]

    @Test func `Accessors give the value of the kind they name and nothing of another`() {
        #expect(json["name"]?.string == "Ada")
        #expect(json["age"]?.int == 36)
        #expect(json["age"]?.double == 36)
        #expect(json["whole"]?.int64 == 2)
        #expect(json["height"]?.int64 == nil)
        #expect(json["height"]?.double == 1.5)
        #expect(json["admin"]?.bool == true)
        #expect(json["none"]?.isNull == true)
        #expect(json["tags"]?.array?.count == 2)
        #expect(json["tags"]?[1]?.string == "b")
        #expect(json["tags"]?[2] == nil)
        #expect(json["inner"]?["deep"]?["x"]?.int == 1)
        #expect(json["name"]?.int == nil)
        #expect(json["age"]?.string == nil)
        #expect(json["missing"] == nil)
        #expect(json[0] == nil)
        #expect(json["name"]?["x"] == nil)
    }

    @Test func `Members keep their order and can be set and removed`() {
        var object: JSONObject = ["b": 1, "a": 2]
        object["c"] = 3
        object["b"] = 4
        #expect(object.keys == ["b", "a", "c"])
        object["a"] = nil
        object["unknown"] = nil
        #expect(object.keys == ["b", "c"])
        #expect(object["b"] == 4)
        #expect(object.dictionary == ["b": 4, "c": 3])
        #expect(JSON.object(object).text() == #"{"b":4,"c":3}"#)
    }

    @Test func `A key given twice in a literal keeps the first place and the last value`() {
        let object: JSONObject = ["a": 1, "b": 2, "a": 3]
        #expect(object.map(\.key) == ["a", "b"])
        #expect(object["a"] == 3)
    }

    @Test func `Keys that look alike but differ in bytes are two keys`() throws {
        let parsed = try JSON(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(parsed["\u{E9}"] == 1)
        #expect(parsed["e\u{301}"] == 2)
        var object = JSONObject()
        object["\u{E9}"] = 1
        object["e\u{301}"] = 2
        #expect(object.count == 2)
        #expect(JSONObject([(key: "\u{E9}", value: 1), (key: "e\u{301}", value: 2)]).count == 2)
    }

    @Test func `Every kind of input gives the same value`() throws {
        let bytes: [UInt8] = Array(#"{"a":[1,2]}"#.utf8)
        let expected: JSON = ["a": [1, 2]]
        #expect(try JSON(parsing: bytes) == expected)
        #expect(try JSON(parsing: bytes.span) == expected)
        #expect(try JSON(parsing: bytes[...]) == expected)
        #expect(try JSON(parsing: #"{"a":[1,2]}"#) == expected)
        #expect(try bytes.withUnsafeBufferPointer { try JSON(parsing: $0) } == expected)
        #expect(try JSON(parsing: AnyCollection(bytes)) == expected)
    }

    @Test func `An error says where and why, and nothing of the text`() {
        let error = #expect(throws: JSONError.self) { try JSON(parsing: #"{"secret":"x","a":tru}"#) }
        #expect(error == JSONError(.unexpectedByte, at: 21))
        #expect(error?.description == "Invalid JSON at byte 21: an unexpected character.")
    }
}
