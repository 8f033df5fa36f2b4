import Foundation
package import Switchyard

/// Random values, documents and queries from a small world, so that equal and nearly equal ones meet often.
extension SeededGenerator {
    package static let names = ["a", "b", "c", "é", "e\u{301}", "with space"]

    package mutating func value(depth: Int = 0) -> DocumentValue {
        switch int(0..<(depth < 3 ? 14 : 11)) {
        case 0: return .null
        case 1: return .bool(chance(50))
        case 2, 3: return .integer(Int64(int(-2..<4)))
        case 4: return .double(pick([0, -0.0, 1, 1.5, -2, .nan, .infinity, -.infinity, 0x1p63]))
        case 5: return .integer(pick([.min, .max, .max - 1]))
        case 6: return .timestamp(Timestamp(microseconds: Int64(int(-2..<3))))
        case 7, 8: return .string(pick(["", "a", "b", "ab", "é", "e\u{301}", "～", "😀", "\u{0}"]))
        case 9: return .bytes(Data((0..<int(0..<3)).map { UInt8(truncatingIfNeeded: $0 * 255) }))
        case 10:
            return chance(50)
                ? .reference(DocumentReference(path(), origin: chance(20) ? "other" : nil))
                : .geoPoint(try! GeoPoint(latitude: Double(int(-1..<2)), longitude: Double(int(-1..<2))))
        case 11: return .vector((0..<int(0..<3)).map { Double($0) })
        case 12: return .array((0..<int(0..<4)).map { _ in value(depth: depth + 1) }.filter { $0.arrayValue == nil })
        default: return .map(data(depth: depth + 1))
        }
    }

    package mutating func data(depth: Int = 0) -> DocumentData {
        DocumentData((0..<int(0..<5)).map { _ in (pick(SeededGenerator.names), value(depth: depth)) })
    }

    package mutating func path() -> StoragePath {
        let collection: CollectionPath = pick(["things", "things/1/parts", "others", "a/é/things"])
        return collection.document(pick(["1", "2", "__id3__", "é", "x", "\u{301}y"]) + String(int(0..<20)))
    }

    package mutating func snapshot(at path: StoragePath? = nil) -> DocumentSnapshot {
        let path = path ?? self.path()
        guard !chance(15) else { return .missing(path) }
        return .existing(path, data(), updateTime: Timestamp(microseconds: Int64(int(0..<1000))))
    }

    package mutating func field() -> FieldPath {
        chance(10)
            ? .documentID : try! FieldPath(components: (0..<int(1..<3)).map { _ in pick(SeededGenerator.names) })
    }

    package mutating func filter(depth: Int = 0) -> Filter {
        switch int(0..<(depth < 2 ? 5 : 3)) {
        case 0: return .test(field(), pick(Filter.Test.allCases))
        case 1, 2:
            let operation = pick(Filter.Operator.allCases)
            return switch operation {
            case .in, .notIn, .arrayContainsAny:
                .comparison(field(), operation, .array((0..<int(0..<4)).map { _ in value() }))
            default: .comparison(field(), operation, value())
            }
        case 3: return .all((0..<int(0..<3)).map { _ in filter(depth: depth + 1) })
        default: return .any((0..<int(0..<3)).map { _ in filter(depth: depth + 1) })
        }
    }

    /// A query from random steps; steps that it refuses are left out.
    package mutating func query() -> Query {
        var query =
            chance(70)
            ? Query(in: pick(["things", "things/1/parts"]))
            : Query(group: "things", under: chance(30) ? "a/é" : nil)
        for _ in 0..<int(0..<3) where chance(60) { query = query.trying { $0.where(filter()) } }
        for _ in 0..<int(0..<3) where chance(60) {
            query = query.trying { $0.ordered(by: field(), chance(50) ? .ascending : .descending) }
        }
        if chance(30) { query = query.trying { $0.skipping(int(0..<4)) } }
        if chance(60) {
            query = query.trying { chance(60) ? $0.limited(to: int(0..<6)) : $0.limited(toLast: int(1..<6)) }
        }
        if chance(25) { query = query.trying { $0.starting(at: value()) } }
        if chance(15) { query = query.trying { $0.starting(after: value(), value()) } }
        if chance(25) { query = query.trying { $0.ending(before: value()) } }
        return query
    }
}

extension Query {
    /// The query after `step`; without it where that is refused.
    package func trying(_ step: (Query) -> Query) -> Query {
        let next = step(self)
        return next.mistake == nil ? next : self
    }
}
