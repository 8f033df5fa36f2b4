import SwitchyardBytes
import Testing

struct JSONWritingTests {
    private static let texts: [(JSON, String)] = [
        (JSON.null, "null"), (true, "true"), (false, "false"), (0, "0"), (-1, "-1"), (10, "10"),
        (1_234_567_890, "1234567890"),
        (.integer(.max), "9223372036854775807"), (.integer(.min), "-9223372036854775808"),
        (1.0, "1.0"), (-0.0, "-0.0"), (0.1, "0.1"), (1e300, "1e+300"),
        (.number(.leastNonzeroMagnitude), "5e-324"),
        (.number(.nan), "null"), (.number(-.infinity), "null"),
        ("", #""""#), ("a", #""a""#), ("\"\\/\u{8}\u{c}\n\r\t", #""\"\\/\b\f\n\r\t""#),
        ("\u{0}\u{1f}\u{7f}", "\"\\u0000\\u001f\u{7f}\""), ("é€😀", #""é€😀""#),
        (.array([]), "[]"), ([[], [:]], "[[],{}]"), (["b": 1, "a": [true]], #"{"b":1,"a":[true]}"#),
    ]

    @Test(arguments: texts)
    func `Each value has its text`(_ value: JSON, _ text: String) {
        #expect(value.text() == text)
    }

    @Test func `Sorted keys follow their bytes at every level`() {
        let value: JSON = ["b": ["z": 1, "é": 3, "a": 2], "B": 0, "a": 1]
        #expect(
            value.text(JSONWritingOptions(sortsKeys: true)) == #"{"B":0,"a":1,"b":{"a":2,"z":1,"é":3}}"#)
    }

    @Test func `The pretty layout breaks lines and leaves empty containers whole`() {
        let value: JSON = ["a": [1, []], "b": [:]]
        #expect(
            value.text(JSONWritingOptions(isPretty: true)) == """
                {
                  "a": [
                    1,
                    []
                  ],
                  "b": {}
                }
                """)
    }

    @Test func `Appending leaves what is there`() {
        var output: [UInt8] = Array("x=".utf8)
        (["a": 1] as JSON).write(to: &output)
        #expect(output == Array(#"x={"a":1}"#.utf8))
    }

    @Test func `An escape is found at every place of a long string`() {
        for length in 0..<40 {
            for place in 0...length {
                let text =
                    String(repeating: "x", count: place) + "\n"
                    + String(repeating: "y", count: length - place)
                let expected =
                    "\"" + String(repeating: "x", count: place) + "\\n"
                    + String(repeating: "y", count: length - place) + "\""
                #expect(JSON.string(text).text() == expected)
            }
        }
    }
}
