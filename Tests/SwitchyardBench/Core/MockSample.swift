import Switchyard
import SwitchyardMock

/// The documents for measuring the mock, the same in every run.
enum MockSample {
    static func backend(documents count: Int) throws -> MockBackend {
        let backend = MockBackend()
        try seed(backend, "items", count)
        return backend
    }

    static func seed(_ backend: MockBackend, _ collection: CollectionPath, _ count: Int) throws {
        try backend.seed((0..<count).map { (collection.document("\($0)"), fields($0)) })
    }

    private static func fields(_ number: Int) -> DocumentData {
        [
            // The score is unordered: a sorted collection would make the query easier or harder.
            "rank": .integer(Int64(number)), "score": .integer(Int64(number) * 7_919 % 100_003),
            "state": .string(number % 3 == 0 ? "open" : "closed"),
            "name": .string("Item number \(number)"), "mark": 0, "isPublic": .bool(number % 2 == 0),
        ]
    }
}
