import Foundation
import Switchyard

extension StorageConformance {
    static let orderChecks: [StorageCheck] = [
        StorageCheck("without an order results come by name") { context in
            try await context.store.seed(context.items, ["m": ["number": 1], "z": ["number": 2], "a": ["number": 3]])
            try await context.store.expect(Query(in: context.items), gives: ["a", "m", "z"])
        },
        StorageCheck("names are ordered by their UTF-8 bytes", needs: .openSchema) { context in
            try await context.store.seed(
                context.items,
                ["😀": ["number": 1], "～": ["number": 1], "b": ["number": 1], "B": ["number": 1], "é": ["number": 1]])
            try await context.store.expect(Query(in: context.items), gives: ["B", "b", "é", "～", "😀"])
        },
        StorageCheck("an order sorts by a field, in both directions") { context in
            try await context.store.seed(context.items, ["a": ["number": 3], "b": ["number": 1], "c": ["number": 2]])
            let query = Query(in: context.items)
            try await context.store.expect(query.ordered(by: "number"), gives: ["b", "c", "a"])
            try await context.store.expect(query.ordered(by: "number", .descending), gives: ["a", "c", "b"])
        },
        StorageCheck("what is equal comes by name, in the direction of the order") { context in
            try await context.store.seed(context.items, ["b": ["number": 1], "a": ["number": 1], "c": ["number": 0]])
            let query = Query(in: context.items)
            try await context.store.expect(query.ordered(by: "number"), gives: ["c", "a", "b"])
            try await context.store.expect(query.ordered(by: "number", .descending), gives: ["b", "a", "c"])
        },
        StorageCheck("a second order decides where the first does not") { context in
            try await context.store.seed(
                context.items,
                [
                    "a": ["number": 1, "text": "x"], "b": ["number": 2, "text": "y"], "c": ["number": 1, "text": "z"],
                    "d": ["number": 2, "text": "w"],
                ])
            let query = Query(in: context.items)
            try await context.store.expect(
                query.ordered(by: "number").ordered(by: "text"), gives: ["a", "c", "d", "b"])
            try await context.store.expect(
                query.ordered(by: "number", .descending).ordered(by: "text"), gives: ["d", "b", "a", "c"])
            try await context.store.expect(
                query.ordered(by: "number").ordered(by: "text", .descending), gives: ["c", "a", "b", "d"])
        },
        StorageCheck("text is ordered") { context in
            try await context.store.seed(
                context.items,
                ["1": ["text": "pear"], "2": ["text": "apple"], "3": ["text": "zebra"], "4": ["text": "fig"]])
            try await context.store.expect(Query(in: context.items).ordered(by: "text"), gives: ["2", "4", "1", "3"])
        },
        StorageCheck("a range orders by its field") { context in
            try await context.store.seed(context.items, ["a": ["number": 3], "b": ["number": 1], "c": ["number": 2]])
            try await context.store.expect(
                Query(in: context.items).where("number", .greaterThan, 0), gives: ["b", "c", "a"])
        },
        StorageCheck("an explicit order goes before that of a range") { context in
            try await context.store.seed(
                context.items,
                ["a": ["number": 3, "text": "x"], "b": ["number": 1, "text": "z"], "c": ["number": 2, "text": "y"]])
            try await context.store.expect(
                Query(in: context.items).where("number", .greaterThan, 1).ordered(by: "text", .descending),
                gives: ["c", "a"])
        },
        StorageCheck("an order leaves out documents without the field", needs: .openTypes) { context in
            try await context.store.seed(context.items, ["a": ["v": 1], "b": ["w": 1], "c": ["v": .null]])
            try await context.store.expect(Query(in: context.items).ordered(by: "v"), gives: ["c", "a"])
        },
        StorageCheck("an order by a nested field finds it", needs: .openTypes) { context in
            try await context.store.seed(
                context.items, ["a": ["m": ["k": 2]], "b": ["m": ["k": 1]], "c": ["m": 5], "d": ["m.k": 0]])
            try await context.store.expect(Query(in: context.items).ordered(by: "m.k"), gives: ["b", "a"])
        },
        ladder(
            "values of different kinds stand in one order",
            [
                .null, false, true, .double(.nan), .double(-.infinity), -1, 0.5, .double(.infinity), .time(0), .time(9),
                "",
                "a", .blob(), .blob(0), .link("a/b"), .place(0, 0), [], [1], [:], ["a": 1],
            ]),
        ladder(
            "whole numbers and doubles are ordered exactly",
            [
                .integer(.min), -1.5, -1, 0, .double(.leastNonzeroMagnitude), 1, 1.5, 2, 9_007_199_254_740_992.0,
                9_007_199_254_740_993, .integer(.max - 1), .integer(.max), .double(0x1p63), 1e300,
            ]),
        ladder(
            "text is ordered by its UTF-8 bytes",
            ["", "B", "a", "aa", "b", "e\u{301}", "\u{E9}", "\u{FF5E}", "\u{1F600}"]),
        ladder(
            "times are ordered to the microsecond",
            [.time(-62_135_596_800), .time(-1, microseconds: 999_999), .time(0), .time(0, microseconds: 1), .time(1)]),
        ladder(
            "bytes are ordered as numbers without a sign, the shorter first",
            [.blob(), .blob(0), .blob(0, 0), .blob(0, 255), .blob(1), .blob(127), .blob(128), .blob(255)]),
        ladder(
            "references are ordered segment by segment",
            [.link("a/b"), .link("a/b/c/d"), .link("a/bb"), .link("a/c"), .link("a0/b")]),
        ladder(
            "places are ordered by latitude, then by longitude",
            [.place(-90, 180), .place(0, -1), .place(0, 0), .place(0, 1), .place(1, -180)]),
        ladder(
            "arrays are ordered element by element, the shorter first",
            [[], [.null], [1], [1, 0], [1, 2], [2], ["a"], ["a", 1]]),
        ladder(
            "maps are ordered key by key, then by size",
            [[:], ["a": 1], ["a": 1, "b": 1], ["a": 2], ["aa": 0], ["b": 0]]),
        StorageCheck("vectors are ordered by length, between arrays and maps", needs: .openTypes, .field(.vector)) {
            context in
            try await climb([[1, 2, 3], .vector([5]), .vector([1, 2]), .vector([1, 3]), [:]], context)
        },
    ].within("order")

    /// Values from the lowest to the highest, sorted by the backend in both directions.
    private static func ladder(_ name: String, _ values: [DocumentValue]) -> StorageCheck {
        StorageCheck(name, needs: .openTypes) { context in try await climb(values, context) }
    }

    private static func climb(_ values: [DocumentValue], _ context: StorageContext) async throws {
        // Names in reverse order of the values, so that sorting by name cannot pass.
        let names = values.indices.map { "d\(100 - $0)" }
        try await context.store.seed(
            zip(names, values).map { (context.document($0), DocumentData([("v", $1)])) })
        let query = Query(in: context.items)
        try await context.store.expect(query.ordered(by: "v"), gives: names)
        try await context.store.expect(query.ordered(by: "v", .descending), gives: names.reversed())
    }

    static let cursorChecks: [StorageCheck] = [
        numbers("starting at a value includes it", { $0.starting(at: 2) }, ["b", "c", "d", "e"]),
        numbers("starting after a value leaves it out", { $0.starting(after: 2) }, ["d", "e"]),
        numbers("ending at a value includes it", { $0.ending(at: 2) }, ["a", "b", "c"]),
        numbers("ending before a value leaves it out", { $0.ending(before: 2) }, ["a"]),
        StorageCheck("cursors need not meet a value", needs: .openTypes) { context in
            try await seedNumbers(context)
            let query = Query(in: context.items).ordered(by: "number")
            try await context.store.expect(query.starting(at: 1.5).ending(at: 3.5), gives: ["b", "c", "d"])
        },
        numbers("two cursors make a window", { $0.starting(after: 1).ending(before: 4) }, ["b", "c", "d"]),
        numbers("cursors that cross leave nothing", { $0.starting(at: 4).ending(at: 1) }, []),
        numbers(
            "cursors beyond the ends leave everything", { $0.starting(at: -9).ending(at: 99) },
            ["a", "b", "c", "d", "e"]),
        numbers("a cursor with a name stands among equals", { $0.starting(after: 2, $1("b")) }, ["c", "d", "e"]),
        numbers("an inclusive cursor with a name has it", { $0.ending(at: 2, $1("b")) }, ["a", "b"]),
        numbers("a limit counts from the cursor on", { $0.starting(after: 1).limited(to: 2) }, ["b", "c"]),
        StorageCheck("cursors in a descending order run down") { context in
            try await seedNumbers(context)
            let query = Query(in: context.items).ordered(by: "number", .descending)
            try await context.store.expect(query.starting(at: 2), gives: ["c", "b", "a"])
            try await context.store.expect(query.starting(after: 2), gives: ["a"])
            try await context.store.expect(query.ending(before: 2), gives: ["e", "d"])
            try await context.store.expect(query.ending(at: 2, context.name("c")), gives: ["e", "d", "c"])
        },
        StorageCheck("a cursor may give values for the first orders only") { context in
            try await context.store.seed(
                context.items,
                [
                    "a": ["number": 1, "text": "x"], "b": ["number": 1, "text": "y"], "c": ["number": 2, "text": "a"],
                    "d": ["number": 2, "text": "z"],
                ])
            let query = Query(in: context.items).ordered(by: "number").ordered(by: "text")
            try await context.store.expect(query.starting(at: 2), gives: ["c", "d"])
            try await context.store.expect(query.starting(after: 1), gives: ["c", "d"])
            try await context.store.expect(query.starting(after: 1, "x"), gives: ["b", "c", "d"])
            try await context.store.expect(query.ending(at: 2, "a"), gives: ["a", "b", "c"])
        },
        StorageCheck("without an order cursors are names") { context in
            try await seedNumbers(context)
            let query = Query(in: context.items)
            try await context.store.expect(query.starting(at: context.name("c")), gives: ["c", "d", "e"])
            try await context.store.expect(query.starting(after: context.name("c")).limited(to: 1), gives: ["d"])
            try await context.store.expect(query.ending(before: context.name("b")), gives: ["a"])
        },
        StorageCheck("a document is a cursor, in all four ways") { context in
            try await seedNumbers(context)
            let middle = try await context.store.read(context.document("c"))
            let query = Query(in: context.items).ordered(by: "number")
            try await context.store.expect(query.starting(at: middle), gives: ["c", "d", "e"])
            try await context.store.expect(query.starting(after: middle), gives: ["d", "e"])
            try await context.store.expect(query.ending(at: middle), gives: ["a", "b", "c"])
            try await context.store.expect(query.ending(before: middle), gives: ["a", "b"])
        },
        StorageCheck("a document is a cursor of a query with a range") { context in
            try await seedNumbers(context)
            let middle = try await context.store.read(context.document("b"))
            let query = Query(in: context.items).where("number", .greaterThan, 1)
            try await context.store.expect(query.starting(after: middle), gives: ["c", "d", "e"])
        },
        StorageCheck("pages by the last document meet every document once") { context in
            let documents = (0..<23).map {
                (context.document("d\(10 + $0)"), DocumentData([("number", .integer(Int64($0 / 5)))]))
            }
            try await context.store.seed(documents)
            let query = Query(in: context.items).ordered(by: "number", .descending).limited(to: 4)
            var found: [String] = []
            var page = try await context.store.results(query)
            while let last = page.documents.last {
                found += page.documents.map(\.id)
                page = try await context.store.results(query.starting(after: last))
            }
            try expectEqual(found.count, 23, "the number of documents on all pages")
            try expectEqual(Set(found).count, 23, "the number of different ones")
            try expectEqual(
                found, try await context.store.ids(Query(in: context.items).ordered(by: "number", .descending)),
                "the pages together")
        },
        StorageCheck("cursors of any kind of value find their place", needs: .openTypes) { context in
            let values: [DocumentValue] = [
                .null, true, .double(.nan), 3, .time(5), "text", .blob(9), .link("a/b"), .place(1, 2), [1], ["a": 1],
            ]
            try await context.store.seed(
                values.enumerated().map { (context.document("d\(10 + $0)"), DocumentData([("v", $1)])) })
            let query = Query(in: context.items).ordered(by: "v")
            let names = values.indices.map { "d\(10 + $0)" }
            for index in values.indices {
                try await context.store.expect(query.starting(at: values[index]), gives: Array(names[index...]))
                try await context.store.expect(query.ending(before: values[index]), gives: Array(names[..<index]))
            }
        },
    ].within("cursors")

    static let windowChecks: [StorageCheck] = [
        numbers("a limit gives the first results", { $0.limited(to: 2) }, ["a", "b"]),
        numbers(
            "a limit above the number of results gives all", { $0.limited(to: 50) }, ["a", "b", "c", "d", "e"]),
        numbers("a limit to the last gives the last results, in order", { $0.limited(toLast: 2) }, ["d", "e"]),
        numbers(
            "a limit to the last above the number of results gives all", { $0.limited(toLast: 50) },
            ["a", "b", "c", "d", "e"]),
        numbers("a limit to the last ends at the cursor", { $0.ending(before: 4).limited(toLast: 2) }, ["c", "d"]),
        numbers(
            "a limit to the last begins at the cursor", { $0.starting(after: 2).limited(toLast: 5) }, ["d", "e"]),
        numbers("an offset leaves out the first results", { $0.skipping(3) }, ["d", "e"]),
        numbers("an offset and a limit cut out the middle", { $0.skipping(1).limited(to: 2) }, ["b", "c"]),
        numbers("an offset beyond the end leaves nothing", { $0.skipping(9) }, []),
        numbers("an offset counts from the cursor on", { $0.starting(at: 2).skipping(1).limited(to: 1) }, ["c"]),
        StorageCheck("a limit applies after the conditions") { context in
            try await seedNumbers(context)
            try await context.store.expect(
                Query(in: context.items).where("number", .greaterThan, 1).limited(to: 2), gives: ["b", "c"])
        },
        StorageCheck("a projection leaves only the fields it names") { context in
            try await context.store.seed(
                context.items, ["a": ["text": "x", "number": 1], "b": ["text": "y", "number": 2]])
            let results = try await context.store.results(Query(in: context.items).selecting("number"))
            try expectEqual(results.documents.map(\.id), context.ids("a", "b"), "the names")
            for (document, number) in zip(results.documents, [1, 2]) {
                try expectEqual(document["number"]?.integerValue, Int64(number), "the field asked for")
                try expectEqual(document["text"], nil, "the field not asked for")
            }
        },
        StorageCheck("a projection reaches into maps", needs: .openTypes) { context in
            try await context.store.seed(context.items, ["a": ["m": ["x": 1, "y": 2], "n": 3, "with.dot": 4]])
            let results = try await context.store.results(
                Query(in: context.items).selecting("m.x", "`with.dot`", "missing"))
            try expectEqual(results.documents.first?.data, ["m": ["x": 1], "with.dot": 4], "the data")
        },
        StorageCheck("a projection may leave out the field of the order") { context in
            try await seedNumbers(context)
            let query = Query(in: context.items).ordered(by: "number", .descending).selecting("text")
            try await context.store.expect(query, gives: ["e", "d", "c", "b", "a"])
        },
        StorageCheck("a projection does not spoil later reads") { context in
            let path = context.document("a")
            try await context.store.set(path, ["text": "x", "number": 1])
            _ = try await context.client.documents(Query(in: context.items).selecting("number"))
            try context.store.expect(try await context.client.document(path), holds: ["text": "x", "number": 1])
            try expectEqual(
                try await context.client.documents(Query(in: context.items)).documents.first?["text"], "x",
                "the field that was not asked for")
        },
        StorageCheck("a thousand two hundred results come whole and in order", deadline: .seconds(90)) { context in
            let count = 1200
            try await context.store.seed(
                (0..<count).map {
                    (
                        context.document("d\(10_000 + $0)"),
                        DocumentData([("number", .integer(Int64(count - $0)))])
                    )
                })
            let found = try await context.store.results(Query(in: context.items).ordered(by: "number"))
            try expectEqual(found.count, count, "the number of results")
            try expectEqual(
                found.documents.map { $0["number"]?.integerValue ?? 0 }, (1...count).map { Int64($0) }, "the numbers")
        },
    ].within("windows")

    /// Five documents, a to e, with the numbers 1, 2, 2, 3, 4.
    private static func seedNumbers(_ context: StorageContext) async throws {
        try await context.store.seed(
            context.items,
            [
                "e": ["number": 4, "text": "e"], "c": ["number": 2, "text": "c"], "a": ["number": 1, "text": "a"],
                "d": ["number": 3, "text": "d"], "b": ["number": 2, "text": "b"],
            ])
    }

    /// A query over these five documents, ordered by number.
    private static func numbers(
        _ name: String, _ make: @escaping @Sendable (Query) throws -> Query, _ expected: [String]
    ) -> StorageCheck {
        numbers(name, { query, _ in try make(query) }, expected)
    }

    /// The same for a query that needs the names of documents.
    private static func numbers(
        _ name: String, _ make: @escaping @Sendable (Query, StorageContext.Naming) throws -> Query,
        _ expected: [String]
    ) -> StorageCheck {
        StorageCheck(name) { context in
            try await seedNumbers(context)
            let query = Query(in: context.items).ordered(by: "number")
            try await context.store.expect(make(query, context.name), gives: expected)
        }
    }
}
