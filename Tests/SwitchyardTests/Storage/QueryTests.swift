import Switchyard
import SwitchyardTestSupport
import Testing

@Suite struct QueryTests {
    static let things = Query(in: "things")

    @Test func `What no backend can run is a mistake that the query keeps, with what to change`() throws {
        let things = Self.things
        let many = DocumentValue.array((0..<31).map { .integer($0) })
        let some = DocumentValue.array((0..<6).map { .integer($0) })
        let document = DocumentSnapshot.existing("things/1", ["a": 1])
        let attempts: [Query] = [
            things.limited(to: 0),
            things.limited(to: -1),
            things.limited(to: .max),
            things.limited(toLast: 1),
            things.ordered(by: "a").limited(toLast: 0),
            things.skipping(-1),
            things.skipping(.max),
            things.skipping(1).ordered(by: "a").limited(toLast: 1),
            things.ordered(by: "a").limited(toLast: 1).skipping(1),
            things.ordered(by: "a").ordered(by: "a", .descending),
            things.selecting([]),
            things.where("a", .in, .array([])),
            things.where("a", .in, many),
            things.where("a", .in, 5),
            things.where("a", .notIn, .array((0..<11).map { .integer($0) })),
            things.where("a", .arrayContainsAny, many),
            things.where("a", .lessThan, .null),
            things.where("a", .greaterThan, .double(.nan)),
            things.where(.all([])),
            things.where(.any([.all([])])),
            things.where(.documentID, .isNull),
            things.where(.documentID, .arrayContains, "x"),
            things.where(.documentID, .equal, 5),
            things.where(.documentID, .equal, "a/b"),
            things.where("a", .notIn, some).where("b", .in, some),
            things.where("a", .notIn, some).where("b", .notEqual, 1),
            things.where("a", .in, some).where("b", .in, some),
            things.where("a", .notEqual, 1).where("b", .notEqual, 1),
            things.where(.any([.field("a", .notEqual, 1), .field("b", .notEqual, 1)])),
            things.where("a", .notEqual, 1).where("b", .isNotNull),
            things.where("a", .notIn, some).where("a", .isNotNull),
            things.where("a", .isNotNull).where("b", .isNotNaN),
            things.where("a", .arrayContains, 1).where("b", .arrayContains, 1),
            things.where("a", .arrayContains, 1).where("a", .arrayContainsAny, some),
            things.where("a", .arrayContainsAny, some).where("b", .arrayContainsAny, some),
            things.where("a", .arrayContains, 1)
                .where(.any([.field("b", .arrayContains, 1), .field("c", .equal, 1)])),
            things.where(.all((0...10).map { .field(FieldPath(unchecked: ["f\($0)"]), .greaterThan, 1) })),
            things.ordered(by: .documentID).ordered(by: "a"),
            things.ordered(by: .documentID).where("a", .greaterThan, 1),
            things.where("a", .isNotNull).ordered(by: .documentID),
            things.where("a", .greaterThan, 1).ordered(by: "b").ordered(by: .documentID),
            things.where(.documentID, .equal, "x").where("a", .greaterThan, 1),
            things.where(.documentID, .in, .array(["x", "y"])).where("a", .notEqual, 1),
            things.where(.any([.field(.documentID, .equal, "x"), .field("a", .greaterThan, 1)])),
            things.where(.all((0...99).map { .field(FieldPath(unchecked: ["f\($0)"]), .equal, 1) })),
            (0...99).reduce(things) { $0.ordered(by: FieldPath(unchecked: ["f\($1)"])) },
            things.starting(at: "x", "y"),
            things.withStart([], isInclusive: true),
            things.ordered(by: "a").starting(at: 1).ordered(by: "b"),
            things.ordered(by: "a").starting(at: 1).where("b", .equal, 1),
            things.ordered(by: "b").starting(after: document),
            things.starting(after: .missing("things/1")),
            Query(group: "a/b"),
            Query(group: "a", under: "users/\("")"),
            Query(in: "users/\("x/y")/todos"),
            things.where("a", .equal, StoragePath("users", "").documentValue),
            things.where("a", .in, .array([StoragePath("users", "x/y").documentValue])),
            things.starting(at: StoragePath("users", "x/y").documentValue),
            Query(group: ""),
        ]
        for (index, attempt) in attempts.enumerated() {
            #expect(attempt.mistake?.code == .invalidArgument, "attempt \(index)")
            #expect(attempt.limited(to: 1).where("a", .equal, 1).mistake?.message == attempt.mistake?.message)
            let error = #expect(throws: StorageError.self, "attempt \(index)") { try attempt.checked() }
            #expect(error?.message == attempt.mistake?.message)
        }
        var nested = Filter.field("a", .equal, 1)
        for _ in 0..<1000 { nested = .all([nested]) }
        #expect(things.where(nested).mistake != nil)
        #expect(things.mistake == nil && things.ordered(by: "a").limited(to: 2).mistake == nil)
    }

    @Test func `The first mistake counts, and the steps behind it change nothing`() {
        let query = Self.things.where("a", .equal, 1).limited(to: 0).where("b", .in, 5).ordered(by: "c")
        #expect(query.mistake?.message.contains("limit") == true)
        #expect(query.filter?.conditions.count == 1 && query.orders.isEmpty)
        #expect(query != Self.things.where("a", .equal, 1), "it is not the query without the step")
    }

    @Test func `A query with a mistake is refused by every operation and runs nowhere`() async throws {
        let toy = ToyStorage(["things/1": ["a": 1]])
        let client: any StorageClient = Routed(Route(to: toy as any StorageClient))
        let query = Self.things.where("a", .equal, 1).limited(to: -1)
        let attempts: [@Sendable () async throws -> Void] = [
            { _ = try await client.documents(query) }, { _ = try await client.count(query) },
            { _ = try await client.first(of: query) }, { _ = try await client.sum(of: "a", in: query) },
            { for try await _ in client.snapshots(of: query) {} },
            { for try await _ in client.pages(of: query, size: 5) {} },
        ]
        for (index, attempt) in attempts.enumerated() {
            let error = await #expect(throws: StorageError.self, "attempt \(index)") { try await attempt() }
            #expect(error?.code == .invalidArgument && error?.message == query.mistake?.message, "attempt \(index)")
        }
        #expect(toy.queries.isEmpty)
        let document = DocumentSnapshot.existing("things/1", ["a": 1])
        #expect(query.results(among: [document]).isEmpty && !query.matches(document), "nor without checking")
    }

    @Test func `A number that is out of bounds gets an error with both`() {
        let attempts: [Query] = [
            Self.things.limited(to: .max),
            Self.things.ordered(by: "a").limited(toLast: .max),
            Self.things.skipping(.max),
        ]
        for (attempt, least) in zip(attempts, [1, 1, 0]) {
            #expect(attempt.mistake?.message.contains("between \(least) and \(Int32.max)") == true)
        }
    }

    @Test func `Equality with null and NaN becomes a test, groups of one are unwrapped`() throws {
        #expect(try Self.things.where("a", .equal, .null).filter == .test("a", .isNull))
        #expect(try Self.things.where("a", .notEqual, .double(.nan)).filter == .test("a", .isNotNaN))
        #expect(try Self.things.where(.any([.all([.field("a", .equal, 1)])])).filter == .comparison("a", .equal, 1))
        let both = Self.things.where("a", .equal, 1).where("b", .equal, 2).where(.all([.field("c", .equal, 3)]))
        #expect(both.filter?.conditions.count == 3)
        #expect(
            try Self.things.where(.documentID, .equal, "x").filter
                == .comparison(.documentID, .equal, StoragePath("things/x").documentValue))
    }

    @Test func `The implied order has fields with inequalities by name, then the document's name`() throws {
        func orders(_ query: Query) -> [String] {
            query.effectiveOrders.map { "\($0.field)\($0.direction == .descending ? " desc" : "")" }
        }
        #expect(orders(Self.things) == ["__name__"])
        #expect(orders(Self.things.ordered(by: "b", .descending)) == ["b desc", "__name__ desc"])
        let unequal = Self.things.where("z", .greaterThan, 1).where("a", .notEqual, 2).where("m", .equal, 3)
        #expect(orders(unequal) == ["a", "z", "__name__"])
        #expect(orders(unequal.ordered(by: "z", .descending)) == ["z desc", "a desc", "__name__ desc"])
        #expect(
            orders(unequal.ordered(by: "a").ordered(by: "z").ordered(by: .documentID)) == ["a", "z", "__name__"])
    }

    static let values: [(String, DocumentValue?)] = [
        ("null", .null), ("nan", .double(.nan)), ("one", 1), ("oneDouble", .double(1)), ("two", 2), ("text", "a"),
        ("array", [1, "x", .null]), ("missing", nil), ("true", true),
    ]

    static let conditions: [(Filter, [String])] = [
        (.field("v", .equal, 1), ["one", "oneDouble"]),
        (.field("v", .notEqual, 1), ["nan", "two", "text", "array", "true"]),
        (.field("v", .lessThan, 2), ["one", "oneDouble"]),
        (.field("v", .lessThanOrEqual, 2), ["one", "oneDouble", "two"]),
        (.field("v", .greaterThan, 1), ["two"]),
        (.field("v", .greaterThanOrEqual, "a"), ["text"]),
        (.field("v", .arrayContains, 1), ["array"]),
        (.field("v", .arrayContains, DocumentValue.null), []),
        (.field("v", .arrayContainsAny, DocumentValue.array([7, "x"])), ["array"]),
        (.field("v", .in, DocumentValue.array([1, "a", .null])), ["one", "oneDouble", "text"]),
        (.field("v", .notIn, DocumentValue.array([1, "a"])), ["nan", "two", "array", "true"]),
        (.field("v", .notIn, DocumentValue.array([1, .null])), []),
        (.field("v", .isNull), ["null"]),
        (.field("v", .isNotNull), ["nan", "one", "oneDouble", "two", "text", "array", "true"]),
        (.field("v", .isNaN), ["nan"]),
        (.field("v", .isNotNaN), ["one", "oneDouble", "two", "text", "array", "true"]),
        (.any([.field("v", .equal, 2), .field("v", .equal, "a")]), ["two", "text"]),
        (.all([.field("v", .greaterThan, 0), .field("v", .lessThan, 2)]), ["one", "oneDouble"]),
        (.field(.documentID, .equal, "two"), ["two"]),
        (.field(.documentID, .greaterThan, "text"), ["true", "two"]),
    ]

    @Test(arguments: conditions)
    func `Conditions match what servers match`(filter: Filter, expected: [String]) throws {
        let query = Self.things.where(filter)
        let evaluator = QueryEvaluator(query)
        let matching = Self.values.filter { name, value in
            evaluator.matches(.existing(StoragePath(unchecked: "things/\(name)"), value.map { ["v": $0] } ?? [:]))
        }
        #expect(Set(matching.map(\.0)) == Set(expected))
    }

    @Test func `Cursors cut the order, prefixes and documents included`() throws {
        let documents = (0..<10).map {
            DocumentSnapshot.existing(StoragePath(unchecked: "things/\($0)"), ["n": .integer(Int64($0 / 2))])
        }
        func ids(_ query: Query) -> String { QueryEvaluator(query).results(among: documents).map(\.id).joined() }
        let ordered = Self.things.ordered(by: "n")
        #expect(ids(ordered.starting(at: 2)) == "456789")
        #expect(ids(ordered.starting(after: 2)) == "6789")
        #expect(ids(ordered.ending(at: 2)) == "012345")
        #expect(ids(ordered.ending(before: 2)) == "0123")
        #expect(ids(ordered.starting(after: documents[4])) == "56789")
        #expect(ids(ordered.starting(at: documents[4]).ending(before: documents[7])) == "456")
        #expect(ids(ordered.starting(at: 2, "5")) == "56789")
        #expect(ids(Self.things.ordered(by: "n", .descending).starting(at: 3)) == "76543210")
        #expect(ids(ordered.skipping(2).limited(to: 3)) == "234")
        #expect(ids(ordered.starting(at: 1).limited(toLast: 3)) == "789")
        #expect(ids(Self.things.starting(at: "5")) == "56789")
    }

    @Test func `A group reads everywhere, or only below a document, and never at other names`() throws {
        let paths: [StoragePath] = [
            "things/1", "a/b/things/2", "a/c/things/3", "a/bb/things/4", "xthings/5", "a/b/xthings/6",
        ]
        let documents = paths.map { DocumentSnapshot.existing($0, [:]) }
        func ids(_ query: Query) -> [String] { QueryEvaluator(query).results(among: documents).map(\.id).sorted() }
        #expect(ids(Query(group: "things")) == ["1", "2", "3", "4"])
        #expect(ids(Query(group: "things", under: "a/b")) == ["2"])
        #expect(ids(Query(in: "things")) == ["1"])
        #expect(ids(Query(in: "a/b/things")) == ["2"])
    }

    @Test(arguments: 1...20)
    func `Selecting the nearest few gives what sorting everything gives`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let query = random.query()
        var world: [StoragePath: DocumentSnapshot] = [:]
        for _ in 0..<random.int(0..<300) {
            let document = random.snapshot()
            world[document.path] = document
        }
        #expect(QueryEvaluator(query).results(among: world.values) == QueryViewTests.window(of: query, world.values))
    }
}
