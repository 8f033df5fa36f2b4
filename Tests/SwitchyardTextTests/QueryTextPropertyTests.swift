import Foundation
import Switchyard
import SwitchyardTestSupport
import Testing

@testable import SwitchyardText

/// Random queries and random texts.
@Suite struct QueryTextPropertyTests {
    @Test func `Every query has a text, which means this query`() throws {
        var maker = QueryMaker(seed: 7)
        var valid = 0
        for _ in 0..<RunSize.full(40_000, part: 4_000) {
            let query = maker.query()
            guard query.mistake == nil else { continue }
            valid += 1
            let text = QueryText.text(of: query)
            let again = try QueryText(parsing: text).applied(to: Query(source: query.source))
            #expect(again == query, "\(text)")
            guard again == query else { return }
        }
        #expect(valid > 500)
    }

    @Test func `Damaged texts are read or refused with a place in them`() throws {
        var maker = QueryMaker(seed: 11)
        let pieces = [
            "where", "(", ")", "'", "\"", "`", "\\u12", "and", "[", "}", "é", "😀", "\n", " ", "-", "1e", ",", "\u{0}",
        ]
        for _ in 0..<RunSize.full(40_000, part: 4_000) {
            var text = Array(QueryText.text(of: maker.query()))
            for _ in 0..<Int.random(in: 1...4, using: &maker.random) {
                let place = Int.random(in: 0...text.count, using: &maker.random)
                if Bool.random(using: &maker.random), place < text.count {
                    text.remove(at: place)
                } else {
                    text.insert(contentsOf: pieces.randomElement(using: &maker.random)!, at: place)
                }
            }
            let damaged = String(text)
            do throws(TextMistake) {
                _ = try QueryText(parsing: damaged).applied(to: Query(in: "users"))
            } catch {
                #expect(error.range.lowerBound >= 0 && error.range.upperBound <= damaged.utf8.count)
                #expect(error.shown.split(separator: "\n", omittingEmptySubsequences: false).count == 2)
            }
        }
    }
}

/// Makes random queries and values.
struct QueryMaker {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func one(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }
    private mutating func maybe(_ chance: Int = 2) -> Bool { one(1...chance) == 1 }

    mutating func query() -> Query {
        var query = Query(in: maybe() ? "users" : "users/alice/notes")
        if maybe() { query = query.where(filter(depth: 0)) }
        for _ in 0..<one(0...2) { query = query.ordered(by: field(), maybe() ? .ascending : .descending) }
        if maybe(3) { query = maybe(3) ? query.limited(toLast: one(1...9)) : query.limited(to: one(1...9)) }
        if maybe(3) { query = query.skipping(one(0...9)) }
        if maybe(3) { query = query.withStart((0..<one(1...2)).map { _ in value(depth: 0) }, isInclusive: maybe()) }
        if maybe(3) { query = query.withEnd([value(depth: 0)], isInclusive: maybe()) }
        if maybe(4) { query = query.selecting((0..<one(1...3)).map { _ in field() }) }
        return query
    }

    private mutating func field() -> FieldPath {
        let names = [
            "a", "b", "age", "first name", "x.y", "not", "order", "5th", "größe", "`", "\\", "in", "limit", "a-b",
        ]
        return FieldPath(unchecked: (0..<one(1...2)).map { _ in names.randomElement(using: &random)! })
    }

    private mutating func filter(depth: Int) -> Filter {
        if depth < 3, maybe(2) {
            let parts = (0..<one(2...3)).map { _ in filter(depth: depth + 1) }
            return maybe() ? .all(parts) : .any(parts)
        }
        if maybe(5) { return .test(field(), Filter.Test.allCases.randomElement(using: &random)!) }
        let operation = Filter.Operator.allCases.randomElement(using: &random)!
        switch operation {
        case .in, .notIn, .arrayContainsAny:
            return .comparison(field(), operation, .array((0..<one(1...3)).map { _ in value(depth: 1) }))
        default: return .comparison(field(), operation, value(depth: 0))
        }
    }

    mutating func value(depth: Int) -> DocumentValue {
        switch one(0...(depth > 2 ? 9 : 12)) {
        case 0: return .null
        case 1: return .bool(maybe())
        case 2: return .integer(Int64.random(in: .min ... .max, using: &random))
        case 3: return .integer(Int64(one(-9...9)))
        case 4:
            return .double(
                [0.5, -0.0, 1e300, .infinity, -.infinity, .nan, 3, .leastNonzeroMagnitude].randomElement(
                    using: &random)!)
        case 5:
            let seconds = Int64.random(in: -62_135_596_800...253_402_300_799, using: &random)
            return .timestamp(
                Timestamp(clampingSeconds: seconds, nanoseconds: Int32(one(0...999_999_999))))
        case 6:
            return .string(
                ["", "Ulm", "it's", "\"", "\\", "é\n\t", "😀", "\u{0}", "and"].randomElement(using: &random)!)
        case 7: return .bytes(Data((0..<one(0...9)).map { UInt8($0 * 29) }))
        case 8: return .reference(DocumentReference("users/bob", origin: maybe() ? nil : "projects/x"))
        // A place on Earth.
        case 9: return .geoPoint(try! GeoPoint(latitude: Double(one(-90...90)), longitude: 10.25))
        case 10: return .array((0..<one(0...3)).map { _ in value(depth: depth + 1) })
        case 11: return .vector((0..<one(0...3)).map { Double($0) / 3 })
        default:
            return .map(
                DocumentData(
                    (0..<one(0...3)).map { _ in
                        (["a", "b c", "\"", "x"].randomElement(using: &random)!, value(depth: depth + 1))
                    }))
        }
    }
}
