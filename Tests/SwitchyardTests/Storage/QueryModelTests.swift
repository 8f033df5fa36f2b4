import Switchyard
import SwitchyardTestSupport
import Testing

/// The evaluator against a model that shares no code with it.
@Suite struct QueryModelTests {
    @Test func `A query gives what the plain model gives`() {
        var selective = 0
        let rounds = RandomRun.rounds(250)
        for seed in 0..<rounds {
            var world = RandomWorld(seed: UInt64(seed))
            let documents = world.documents()
            for _ in 0..<4 {
                let query = world.query()
                let found = QueryEvaluator(query).results(among: documents)
                let expected = QueryModel(query: query).results(among: documents)
                #expect(found.map(\.path) == expected.map(\.path), "seed \(seed): \(query)")
                if query.filter != nil, (1..<documents.count).contains(found.count) { selective += 1 }
            }
        }
        #expect(selective > rounds / 2, "too few queries tell documents apart")
    }

    @Test func `What is rejected by its data is no result, and its first field agrees with the whole order`() {
        var rejected = 0
        let rounds = RandomRun.rounds(250)
        for seed in 0..<rounds {
            var world = RandomWorld(seed: UInt64(seed))
            let documents = world.documents()
            for _ in 0..<4 {
                let evaluator = QueryEvaluator(world.query())
                for document in documents {
                    guard let data = document.data, evaluator.rejects(data) else { continue }
                    rejected += 1
                    #expect(!evaluator.matches(document), "seed \(seed): \(evaluator.query)")
                }
                let results = documents.filter(evaluator.matches)
                for (left, right) in zip(results, results.dropFirst()) {
                    let first = evaluator.firstOrdering(left.data ?? [:], right.data ?? [:])
                    #expect(first == .same || first == evaluator.ordering(left, right), "seed \(seed)")
                }
            }
        }
        #expect(rejected > rounds, "too little is rejected")
    }

    @Test func `Every result lies within the bounds of its fields, also of those narrowed to its end`() {
        var (ruledOut, narrowed) = (0, 0)
        let rounds = RandomRun.rounds(250)
        func fits(_ document: DocumentSnapshot, _ bounds: [FieldBounds]) -> Bool {
            bounds.allSatisfy { bound in
                document[FieldPath(unchecked: [bound.name])].map { bound.ranks.contains($0.sortRank) } ?? false
            }
        }
        for seed in 0..<rounds {
            var world = RandomWorld(seed: UInt64(seed))
            let documents = world.documents()
            for _ in 0..<4 {
                let evaluator = QueryEvaluator(world.query())
                let bounds = evaluator.fieldBounds
                for document in documents where !fits(document, bounds) {
                    ruledOut += 1
                    #expect(!evaluator.matches(document), "seed \(seed): \(evaluator.query)")
                }
                let results = documents.filter(evaluator.matches).sorted { evaluator.ordering($0, $1) == .before }
                for (index, edge) in results.enumerated() {
                    for (isReversed, within) in [(false, results[...index]), (true, results[index...])] {
                        var tighter = bounds
                        evaluator.narrow(&tighter, to: edge.data ?? [:], isReversed: isReversed)
                        #expect(within.allSatisfy { fits($0, tighter) }, "seed \(seed): \(evaluator.query)")
                        narrowed += results.count { !fits($0, tighter) }
                    }
                }
            }
        }
        #expect(ruledOut > rounds && narrowed > rounds, "too little is ruled out: \(ruledOut), \(narrowed)")
    }

    @Test func `The document's name comes last in the implied order, also with a condition on it`() throws {
        let query = Query(in: "things").where("a", .greaterThan, 0).where(.documentID, .greaterThan, "0")
        #expect(query.effectiveOrders.map(\.field) == ["a", .documentID])
        let documents = ([1, 3, 2] as [Int64]).enumerated().map { index, number in
            DocumentSnapshot.existing(StoragePath(unchecked: "things/\(index + 1)"), ["a": .integer(number)])
        }
        #expect(QueryEvaluator(query).results(among: documents).map(\.id) == ["1", "3", "2"])
    }
}

/// Few names and few values, so that documents meet the queries' operands and each other's values often.
private struct RandomWorld {
    private var random: SeededGenerator
    private let values: [DocumentValue]
    private static let fields: [FieldPath] = [
        "a", "a", "B", FieldPath(unchecked: ["é"]), FieldPath(unchecked: ["e\u{301}"]), "a.b", .documentID,
    ]

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        values = (0..<8).map { _ in random.value() } + [1, 1.0, .null, .double(.nan), ["b": 1]]
        self.random = random
    }

    private mutating func value() -> DocumentValue { random.chance(90) ? random.pick(values) : random.value() }

    private mutating func path() -> StoragePath {
        let collection: CollectionPath = random.pick(["things", "things", "things/1/parts", "a/é/things", "a/b/things"])
        let name = random.pick([
            "__id9__", "__id10__", "__id-1__", "__id", "_", "1", "10", "9", "é", "e\u{301}", "\u{301}y",
        ])
        return StoragePath(unchecked: "\(collection.rawValue)/\(name)")
    }

    mutating func documents() -> [DocumentSnapshot] {
        var documents: [StoragePath: DocumentSnapshot] = [:]
        for _ in 0..<30 {
            let path = path()
            var data = DocumentData()
            for name in ["a", "B", "é", "e\u{301}"] where random.chance(80) { data[name] = value() }
            documents[path] = random.chance(5) ? .missing(path) : .existing(path, data)
        }
        return documents.values.sorted { $0.path.rawValue < $1.path.rawValue }
    }

    private mutating func condition(_ depth: Int = 0) -> Filter {
        if depth < 2, random.chance(30) {
            let parts = (0..<random.int(1..<4)).map { _ in condition(depth + 1) }
            return random.chance(65) ? .any(parts) : .all(parts)
        }
        let field = random.pick(Self.fields)
        if !field.isDocumentID, random.chance(15) { return .test(field, random.pick(Filter.Test.allCases)) }
        func operand() -> DocumentValue { field.isDocumentID ? path().documentValue : value() }
        let operation = random.pick(Filter.Operator.allCases)
        return switch operation {
        case .in, .notIn, .arrayContainsAny:
            .comparison(field, operation, .array((0..<random.int(1..<4)).map { _ in operand() }))
        default: .comparison(field, operation, operand())
        }
    }

    /// From random steps; those that a query refuses are left out.
    mutating func query() -> Query {
        var query = Query(in: "things")
        if random.chance(40) { query = Query(group: "things", under: random.pick([nil, "a/é"])) }
        func step(_ percent: Int, _ change: (Query) -> Query) {
            if random.chance(percent) { query = query.trying(change) }
        }
        step(75) { $0.where(condition()) }
        step(25) { $0.where(condition()) }
        for _ in 0..<2 {
            step(40) { $0.ordered(by: random.pick(Self.fields), random.pick([.ascending, .descending])) }
        }
        step(20) { $0.skipping(random.int(0..<4)) }
        step(20) { $0.limited(to: random.int(1..<8)) }
        step(20) { $0.limited(toLast: random.int(1..<8)) }
        step(25) { $0.withStart(cursor($0), isInclusive: random.chance(50)) }
        step(25) { $0.withEnd(cursor($0), isInclusive: random.chance(50)) }
        return query
    }

    private mutating func cursor(_ query: Query) -> [DocumentValue] {
        let orders = query.effectiveOrders
        return orders.prefix(random.int(1..<orders.count + 1)).map {
            $0.field.isDocumentID ? path().documentValue : value()
        }
    }
}
