import Foundation
import Switchyard
import Testing

@Suite struct RevealedTests {
    private static func data() throws -> DocumentData {
        [
            "title": "Mi\"lk", "done": false, "count": 3, "price": 1.5, "none": .null,
            "created": .timestamp(Timestamp(Date(timeIntervalSince1970: 0))), "image": .bytes(Data([1, 2, 3])),
            "owner": .reference(DocumentReference("users/alice")), "tags": ["a", "b"], "place": ["city": "Ulm"],
            "at": .geoPoint(try GeoPoint(latitude: 48.4, longitude: 9.9)), "embedding": .vector([1, 0.5]),
        ]
    }

    @Test func `A debugger is shown what logs are not`() throws {
        let data = try Self.data()
        #expect(
            data.revealed == """
                {at: (48.4, 9.9), count: 3, created: 1970-01-01T00:00:00Z, done: false, embedding: vector[1.0, 0.5], \
                image: 3 bytes, none: null, owner: users/alice, place: {city: "Ulm"}, price: 1.5, tags: ["a", "b"], \
                title: "Mi\\"lk"}
                """)
        #expect("\(data)" == "DocumentData(12 fields)")
        #expect(String(reflecting: data) == "DocumentData(12 fields)")
    }
}
