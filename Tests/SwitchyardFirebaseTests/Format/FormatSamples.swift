import Foundation
import Switchyard
import SwitchyardBytes

@testable import SwitchyardFirestoreFormat

/// Short ways to write down JSON and values in these tests.
let database = FirestoreDatabase(project: "p", database: "d")
let root = "projects/p/databases/d/documents"

func json(_ text: String) throws -> JSON { try JSON(parsing: text) }

/// The same text for the same value, whatever the order of members.
func canonical(_ json: JSON) -> String { json.text(JSONWritingOptions(sortsKeys: true)) }

/// Each type of value with the text that stands for it, as seen on a server.
let valueSamples: [(value: DocumentValue, text: String)] = [
    (.null, #"{"nullValue":null}"#),
    (.bool(true), #"{"booleanValue":true}"#),
    (.integer(.max), #"{"integerValue":"9223372036854775807"}"#),
    (.integer(.min), #"{"integerValue":"-9223372036854775808"}"#),
    (.double(1.5), #"{"doubleValue":1.5}"#),
    (.double(5), #"{"doubleValue":5.0}"#),
    (.double(-0.0), #"{"doubleValue":"-0"}"#),
    (.double(.nan), #"{"doubleValue":"NaN"}"#),
    (.double(.infinity), #"{"doubleValue":"Infinity"}"#),
    (.double(-.infinity), #"{"doubleValue":"-Infinity"}"#),
    (.timestamp(Timestamp(microseconds: 1_500_000)), #"{"timestampValue":"1970-01-01T00:00:01.500Z"}"#),
    (
        .timestamp(Timestamp(clampingSeconds: -1, nanoseconds: 999_999_999)),
        #"{"timestampValue":"1969-12-31T23:59:59.999999999Z"}"#
    ),
    (.string("a\u{0}é😀"), #"{"stringValue":"a\u0000é😀"}"#),
    (.bytes(Data([0, 0xFF, 0xFE])), #"{"bytesValue":"AP/+"}"#),
    (.reference(DocumentReference("c/x")), #"{"referenceValue":"\#(root)/c/x"}"#),
    (
        .reference(DocumentReference("c/x", origin: "projects/other/databases/(default)")),
        #"{"referenceValue":"projects/other/databases/(default)/documents/c/x"}"#
    ),
    (.array([.integer(1), .map([:])]), #"{"arrayValue":{"values":[{"integerValue":"1"},{"mapValue":{}}]}}"#),
    (.array([]), #"{"arrayValue":{}}"#),
    (
        .vector([1, 2.5]),
        #"{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"doubleValue":1.0},{"doubleValue":2.5}]}}}}}"#
    ),
    (
        .vector([]),
        #"{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{}}}}}"#
    ),
    (.map(["a.b": .string("x")]), #"{"mapValue":{"fields":{"a.b":{"stringValue":"x"}}}}"#),
]
