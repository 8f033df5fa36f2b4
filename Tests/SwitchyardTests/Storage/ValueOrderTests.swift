import Foundation
import Switchyard
import Testing

@Suite struct ValueOrderTests {
    /// From the lowest to the highest; neighbours in one inner list are the same to a query.
    static let ascending: [[DocumentValue]] = [
        [.null], [false], [true], [.double(.nan)], [.double(-.infinity)], [.integer(.min)], [-1, -1.0],
        [.double(-0.0), 0, 0.0], [.double(.leastNonzeroMagnitude)], [1, 1.0], [1.5],
        [.integer(.max - 1)], [.integer(.max)], [.double(0x1p63)], [.double(.infinity)],
        [.timestamp(.distantPast)], [.timestamp(Timestamp(microseconds: -1))], [.timestamp(Timestamp(microseconds: 0))],
        [""], ["\u{1}"], ["B"], ["a"], ["aa"], ["b"], ["e\u{301}"], ["\u{e9}"], ["\u{FF5E}"], ["😀"],
        [.bytes(Data())], [.bytes(Data([0]))], [.bytes(Data([0, 1]))], [.bytes(Data([255]))],
        [StoragePath("a/b").documentValue], [StoragePath("a/b/c/d").documentValue], [StoragePath("a/c").documentValue],
        [.array([])], [[1]], [[1, "a"]], [[2]],
        [.vector([])], [.vector([9])], [.vector([1, 1])],
        [.map([:])], [["a": 1]], [["a": 1, "b": 1]], [["a": 2]], [["aa": 0]], [["b": 0]],
    ]

    @Test func `Values of all types stand in one total order`() {
        for (low, left) in Self.ascending.enumerated() {
            for (high, right) in Self.ascending.enumerated() {
                for (left, right) in left.flatMap({ left in right.map { (left, $0) } }) {
                    #expect(left.ordering(to: right) == Ordering(low, high), "\(low) against \(high)")
                }
            }
        }
    }

    @Test(arguments: [Query.Direction.ascending, .descending])
    func `A query puts values of all types in that order`(_ direction: Query.Direction) throws {
        var places: [StoragePath: Int] = [:]
        var documents: [DocumentSnapshot] = []
        let sorted: [DocumentValue] =
            Self.ascending.flatMap { $0.prefix(1) }
            + [.timestamp(Timestamp(microseconds: 0).asEstimate), .timestamp(Timestamp(microseconds: 1).asEstimate)]
        let inOrder = sorted.sorted { $0.ordering(to: $1) == .before }
        for (place, value) in inOrder.enumerated() {
            let path = StoragePath("values", "\(place)")
            places[path] = place
            documents.append(.existing(path, ["value": value]))
        }
        let query = Query(in: "values").ordered(by: "value", direction)
        let found = QueryEvaluator(query).results(among: documents.shuffled()).compactMap { places[$0.path] }
        #expect(found == (direction == .ascending ? Array(inOrder.indices) : inOrder.indices.reversed()))
    }

    @Test func `Text that Swift holds for equal is different to a document`() {
        #expect(DocumentValue.string("e\u{301}") != .string("\u{e9}"))
        let data: DocumentData = ["e\u{301}": 1, "\u{e9}": 2]
        #expect(data.count == 2)
        #expect(data["\u{e9}"] == 2)
    }

    @Test func `Numeric names sort before others and by their number`() throws {
        let paths = ["__id9__", "__id10__", "__id-3__", "0", "a", "a!b", "a"].map {
            CollectionPath("c").document($0)
        }
        #expect(paths.sorted().map(\.id) == ["__id-3__", "__id9__", "__id10__", "0", "a", "a", "a!b"])
        #expect(try StoragePath(validating: "a/b/c/d") < StoragePath(validating: "a!/b"))
    }
}
