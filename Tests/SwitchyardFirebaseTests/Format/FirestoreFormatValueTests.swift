import Foundation
import Switchyard
import SwitchyardBytes
import Testing

@testable import SwitchyardFirestoreFormat

@Suite struct FirestoreFormatValueTests {
    @Test(arguments: valueSamples.indices) func `Every type of value goes to its text and back`(index: Int) throws {
        let (value, text) = valueSamples[index]
        #expect(canonical(value.firestore(in: database)) == canonical(try json(text)))
        #expect(try DocumentValue(firestore: json(text), in: database) == value)
    }

    @Test func `A geo point's missing coordinates are zero`() throws {
        let point = try GeoPoint(latitude: 1.5, longitude: 0)
        #expect(
            try DocumentValue(firestore: json(#"{"geoPointValue":{"latitude":1.5}}"#), in: database) == .geoPoint(point)
        )
        #expect(
            try DocumentValue(firestore: json(#"{"geoPointValue":{}}"#), in: database)
                == .geoPoint(GeoPoint(latitude: 0, longitude: 0)))
        #expect(
            canonical(DocumentValue.geoPoint(point).firestore(in: database))
                == #"{"geoPointValue":{"latitude":1.5,"longitude":0.0}}"#)
    }

    @Test(arguments: [
        (#"{"integerValue":7}"#, DocumentValue.integer(7)),
        (#"{"nullValue":"NULL_VALUE"}"#, .null),
        (#"{"doubleValue":5}"#, .double(5)),
        (#"{"doubleValue":-0.0}"#, .double(-0.0)),
        (#"{"bytesValue":"_-8"}"#, .bytes(Data([0xFF, 0xEF]))),
        (#"{"bytesValue":"AA=="}"#, .bytes(Data([0]))),
        (#"{"timestampValue":"1970-01-01T02:00:01+02:00"}"#, .timestamp(Timestamp(microseconds: 1_000_000))),
        (
            #"{"timestampValue":"1970-01-01T00:00:00.0000019999Z"}"#,
            .timestamp(Timestamp(clampingSeconds: 0, nanoseconds: 1999))
        ),
        (
            #"{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"integerValue":"2"}]}}}}}"#,
            .vector([2])
        ),
    ])
    func `Other spellings of a value are read too`(text: String, value: DocumentValue) throws {
        #expect(try DocumentValue(firestore: json(text), in: database) == value)
    }

    @Test func `A map that only resembles a vector stays a map`() throws {
        let text = #"{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"stringValue":"x"}}}}"#
        #expect(
            try DocumentValue(firestore: json(text), in: database)
                == .map(["__type__": .string("__vector__"), "value": .string("x")]))
    }

    @Test(arguments: [
        "{}", "7", #"{"stringValue":"a","integerValue":"1"}"#, #"{"stringValue":7}"#, #"{"integerValue":"1.5"}"#,
        #"{"integerValue":"9223372036854775808"}"#, #"{"integerValue":1.5}"#, #"{"doubleValue":"x"}"#,
        #"{"doubleValue":true}"#, #"{"booleanValue":"true"}"#, #"{"nullValue":0}"#, #"{"timestampValue":"yesterday"}"#,
        #"{"timestampValue":"0000-12-31T00:00:00Z"}"#, #"{"bytesValue":"*"}"#, #"{"referenceValue":"c/x"}"#,
        #"{"referenceValue":"projects/p/databases/d/documents/c"}"#,
        #"{"referenceValue":"projects/p/databases/d/documents/c//x"}"#,
        #"{"geoPointValue":{"latitude":91}}"#, #"{"arrayValue":7}"#, #"{"arrayValue":{"values":{}}}"#,
        #"{"mapValue":{"fields":[]}}"#, #"{"pipelineValue":{}}"#,
    ])
    func `What is no value is refused`(text: String) throws {
        #expect(throws: FirestoreFormatError.self) { try DocumentValue(firestore: json(text), in: database) }
    }

    @Test func `Deep values neither overflow nor lose anything`() throws {
        var value = DocumentValue.integer(1)
        for _ in 0..<100 { value = .map(["m": .array([value])]) }
        #expect(try DocumentValue(firestore: value.firestore(in: database), in: database) == value)
    }
}
