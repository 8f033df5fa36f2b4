import Foundation
import Switchyard
import SwitchyardTestSupport

@testable import SwitchyardSync

/// Rows of every shape, from few enough names that they meet often.
struct RandomRows {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(0...(elements.count - 1))] }

    static let collections: [CollectionPath] = ["a", "b", "a/x/c", "a/y/c", "b/x/c", "a/x/c/z/a", "é"]

    mutating func path() -> StoragePath {
        let names = ["x", "y", "z", "é", "e\u{301}", "__id7__", "long name with spaces", "😀"]
        return StoragePath(unchecked: "\(pick(RandomRows.collections).rawValue)/\(pick(names))")
    }

    mutating func paths() -> Set<StoragePath> { Set((0..<number(0...5)).map { _ in path() }) }

    mutating func source() -> Query.Source {
        switch number(0...2) {
        case 0: .group(id: pick(["a", "b", "c", "nowhere"]), under: chance(50) ? "a/x" : nil)
        default: .collection(pick(RandomRows.collections))
        }
    }

    mutating func time() -> Timestamp {
        pick([
            .never, Timestamp(microseconds: Int64(number(1...20))), .distantPast, .distantFuture,
            Timestamp(clampingSeconds: Int64(number(0...3)), nanoseconds: Int32(number(0...999_999_999))),
            Timestamp(clampingSeconds: -5, nanoseconds: 1, isEstimate: true),
        ])
    }

    /// Without estimates, and in a range that stores order exactly.
    mutating func readTime() -> Timestamp {
        Timestamp(clampingSeconds: Int64(number(0...2)), nanoseconds: Int32(number(0...5)))
    }

    mutating func value(depth: Int = 0) -> DocumentValue {
        switch number(0...(depth > 3 ? 10 : 13)) {
        case 0: return .null
        case 1: return .bool(chance(50))
        case 2: return .integer(pick([0, 1, -1, .max, .min, Int64(number(-1000...1000))]))
        case 3: return .double(pick([0, -0.0, 1.5, .nan, .infinity, -.infinity, .leastNonzeroMagnitude, 1e300]))
        case 4: return .timestamp(time())
        case 5: return .string(pick(["", "a", "\u{0}", "é", "e\u{301}", String(repeating: "😀", count: 40)]))
        case 6: return .bytes(Data((0..<number(0...200)).map { UInt8(truncatingIfNeeded: $0) }))
        case 7: return .reference(DocumentReference(path()))
        case 8: return .reference(DocumentReference(path(), origin: "projects/p/databases/d"))
        case 9:
            let point = try? GeoPoint(latitude: Double(number(-90...90)), longitude: Double(number(-180...180)))
            return point.map { .geoPoint($0) } ?? .null
        case 10: return .vector((0..<number(0...4)).map(Double.init))
        case 11: return .array((0..<number(0...3)).map { _ in value(depth: depth + 1) })
        default: return .map(data(depth: depth + 1))
        }
    }

    mutating func data(depth: Int = 0) -> DocumentData {
        DocumentData((0..<number(0...4)).map { _ in (pick(["a", "b", "c.d", "`", "é"]), value(depth: depth)) })
    }

    mutating func document() -> CachedDocument {
        let state = pick([CachedDocument.State.found, .found, .missing, .unknown])
        return CachedDocument(
            path: path(), state: state, data: state == .found ? data() : nil, createTime: chance(50) ? time() : nil,
            version: time(), readTime: readTime(), hasCommittedMutations: chance(30),
            tag: tag())
    }

    mutating func tag() -> DocumentTag? { pick([nil, "1", "\u{e9}", "e\u{301}"]).map { DocumentTag(rawValue: $0) } }

    mutating func field() -> FieldPath { pick(["a", "b.c", "`x.y`.z", "é"]) }

    mutating func write() -> DocumentWrite {
        let operation: DocumentWrite.Operation =
            switch number(0...3) {
            case 0: .set(data())
            case 1: .patch(data(), mask: (0..<number(0...3)).map { _ in field() })
            case 2: .delete
            default: .verify
            }
        let transforms = (0..<number(0...3)).map { _ in
            FieldTransform(
                field(),
                pick([
                    .serverTime, .increment(.integer(3)), .increment(.double(-0.5)), .maximum(1), .minimum(2.5),
                    .arrayUnion([value()]), .arrayRemove([]),
                ]))
        }
        return DocumentWrite(
            path: path(), operation: operation, transforms: transforms,
            precondition: pick([.none, .exists(true), .exists(false), .updateTime(time())]))
    }

    mutating func batch(number batchNumber: Int) -> QueuedBatch {
        QueuedBatch(
            number: batchNumber, id: "store-\(batchNumber)", writes: (0...number(0...2)).map { _ in write() },
            baseWrites: chance(30) ? [write()] : [], queuedAt: time(), attempts: number(0...3),
            lastError: chance(30) ? .unavailable : nil,
            bases: pick([nil, [], [tag()], [tag(), tag()]]), provisional: chance(30) ? paths() : [],
            isAddition: chance(20))
    }

    mutating func filter(depth: Int = 0) -> Filter {
        switch number(0...(depth > 2 ? 1 : 3)) {
        case 0: .comparison(field(), pick(Filter.Operator.allCases), value())
        case 1: .test(field(), pick(Filter.Test.allCases))
        case 2: .all((0..<number(1...3)).map { _ in filter(depth: depth + 1) })
        default: .any((0..<number(1...3)).map { _ in filter(depth: depth + 1) })
        }
    }

    mutating func query() -> Query {
        var query = Query(source: source())
        if chance(50) { query.filter = filter() }
        query.orders = (0..<number(0...2)).map { _ in Query.Order(field(), pick([.ascending, .descending])) }
        query.limit = pick([nil, .first(3), .last(7)])
        query.offset = number(0...2)
        if chance(30) { query.start = Query.Cursor(values: [value()], isInclusive: chance(50)) }
        if chance(30) { query.end = Query.Cursor(values: [value()], isInclusive: chance(50)) }
        if chance(30) { query.projection = [field()] }
        return query
    }

    mutating func target(id: Int) -> TargetRecord {
        // One target for an ID, as an engine has it.
        var own = RandomRows(seed: UInt64(id) &+ 77)
        let target: WatchTarget = own.chance(30) ? .document(own.path()) : .query(own.query())
        return TargetRecord(
            target: target, id: id, sequenceNumber: Int64(number(0...100)),
            resumeToken: (0..<number(0...20)).map { UInt8($0) }, version: time(), lastLimboFreeVersion: time(),
            isDecided: chance(50))
    }

    mutating func owner() -> QueueOwner { QueueOwner(pick([nil, "", "alice", "é"])) }

    mutating func globals() -> StoreGlobals {
        var globals = StoreGlobals()
        globals.lastSnapshotVersion = time()
        globals.highestVersion = time()
        globals.highestTargetID = number(0...1000)
        globals.highestSequenceNumber = Int64(number(0...1000))
        globals.highestBatchNumber = number(0...1000)
        return globals
    }
}
