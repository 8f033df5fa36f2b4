import Switchyard
import SwitchyardTestSupport

@testable import SwitchyardSync

/// Writes and queries with the values on which stores, orders and servers disagree most easily.
extension SeededGenerator {
    private static let edge: Int64 = 1 << 53

    private mutating func oddValue() -> DocumentValue {
        switch int(0..<8) {
        case 0:
            let number = pick([-1, 0, 1]) + (chance(50) ? Self.edge : -Self.edge)
            return chance(50) ? .integer(number) : .double(Double(number))
        case 1: return .double(pick([.nan, -0.0, 0, .infinity, .leastNonzeroMagnitude]))
        case 2:
            return .string(pick(["\u{0}", "a\u{0}", "a\u{0}b", "\u{1F600}", "\u{FFFD}", "caf\u{E9}", "cafe\u{301}"]))
        case 3: return (0..<int(1..<18)).reduce(value(depth: 3)) { inner, _ in .map(["a": inner]) }
        default: return value()
        }
    }

    /// So few that documents and queries meet in them.
    private static let oddNames = ["a", "\u{E9}", "e\u{301}"]

    private mutating func oddData() -> DocumentData {
        var data = chance(20) ? data() : DocumentData()
        for name in Self.oddNames where chance(80) { data[name] = oddValue() }
        return data
    }

    private mutating func oddPath() -> StoragePath {
        let collection: CollectionPath = pick([
            "things", "things", CollectionPath("caf\u{E9}"), CollectionPath("cafe\u{301}"),
        ])
        return collection.document(pick(["1", "__id3__", "__id20__", "e\u{301}", "\u{1F600}"]))
    }

    mutating func oddWrites() -> [DocumentWrite] { (0..<int(1..<4)).map { _ in oddWrite() } }

    private mutating func oddWrite() -> DocumentWrite {
        let path = oddPath()
        switch int(0..<10) {
        case 0: return DocumentWrite(path: path, operation: .delete)
        case 1:
            return DocumentWrite(
                path: path, operation: .patch([:], mask: []), transforms: [FieldTransform(topField(), transform())],
                precondition: chance(50) ? .none : .exists(true))
        case 2..<5:
            let fields = Set((0..<int(1..<3)).map { _ in topField() }).sorted { $0.ordering(to: $1) == .before }
            var data = DocumentData()
            for field in fields where chance(80) { data[field] = oddValue() }
            return DocumentWrite(
                path: path, operation: .patch(data, mask: fields),
                precondition: chance(50) ? .none : .exists(chance(80)))
        default: return DocumentWrite(path: path, operation: .set(oddData()))
        }
    }

    private mutating func topField() -> FieldPath { FieldPath(unchecked: [pick(Self.oddNames)]) }

    private mutating func transform() -> FieldTransform.Operation {
        switch int(0..<5) {
        case 0: .serverTime
        case 1: .maximum(.double(pick([.nan, -0.0, 3, .infinity])))
        case 2: .minimum(.integer(Int64(int(-3..<3))))
        case 3: .arrayUnion([oddValue(), oddValue()].filter { $0.arrayValue == nil })
        default: .arrayRemove([oddValue()].filter { $0.arrayValue == nil })
        }
    }

    mutating func oddQuery() -> LiveQuery {
        if chance(20) { return .document(oddPath()) }
        var query: Query
        switch int(0..<6) {
        case 0: query = Query(in: CollectionPath("caf\u{E9}"))
        case 1: query = Query(group: "cafe\u{301}")
        case 2: query = Query(group: "things")
        default: query = Query(in: "things")
        }
        // Several inequalities, on one field or more.
        for _ in 0..<pick([0, 0, 1, 2, 3]) {
            let operation = pick([
                Filter.Operator.lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .notEqual,
            ])
            query = query.trying { $0.where(.comparison(topField(), operation, oddValue())) }
        }
        if chance(10) { query = query.trying { $0.where(filter()) } }
        for _ in 0..<int(0..<3) {
            query = query.trying { $0.ordered(by: topField(), chance(50) ? .ascending : .descending) }
        }
        if chance(50) {
            query = query.trying { chance(50) ? $0.limited(to: int(1..<4)) : $0.limited(toLast: int(1..<4)) }
        }
        if chance(30) { query = query.trying { $0.starting(at: oddValue()) } }
        if chance(20) { query = query.trying { $0.starting(after: oddValue(), oddValue()) } }
        if chance(30) { query = query.trying { $0.ending(before: oddValue()) } }
        return .query(query)
    }
}
