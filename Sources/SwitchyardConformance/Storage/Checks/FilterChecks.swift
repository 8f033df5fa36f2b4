import Switchyard

extension StorageConformance {
    /// Conditions that a table with fixed columns supports as well.
    static let filterChecks: [StorageCheck] = [
        people("equality finds text", { $0.where("text", .equal, "carol") }, ["c"]),
        people("equality finds numbers", { $0.where("number", .equal, 20) }, ["b", "d"]),
        people("equality finds nothing where nothing is equal", { $0.where("text", .equal, "Carol") }, []),
        people("less finds what is less", { $0.where("number", .lessThan, 20) }, ["a"]),
        people("less or equal finds the bound too", { $0.where("number", .lessThanOrEqual, 20) }, ["a", "b", "d"]),
        people("greater finds what is greater", { $0.where("number", .greaterThan, 20) }, ["c"]),
        people(
            "greater or equal finds the bound too", { $0.where("number", .greaterThanOrEqual, 20) },
            ["b", "d", "c"]),
        people(
            "several conditions must all hold",
            {
                $0.where("number", .greaterThanOrEqual, 20).where("number", .lessThan, 30).where(
                    "text", .equal, "dan")
            },
            ["d"]),
        people("text compares too", { $0.where("text", .greaterThan, "bob") }, ["c", "d"]),
        people("membership finds each of the values", { $0.where("number", .in, [10, 30, 99]) }, ["a", "c"]),
        people("membership of one value is equality", { $0.where("text", .in, ["bob"]) }, ["b"]),
        people(
            "conditions on two fields may both be ranges",
            { $0.where("number", .greaterThanOrEqual, 20).where("text", .lessThan, "dan") }, ["b", "c"]),
        people(
            "a name can be asked for", { $0.where(.documentID, .equal, $1("b")) }, ["b"]),
        people(
            "names can be asked for in a list", { $0.where(.documentID, .in, [$1("d"), $1("a"), $1("zz")]) },
            ["a", "d"]),
        people("names have ranges", { $0.where(.documentID, .greaterThan, $1("b")) }, ["c", "d"]),
        people(
            "inequality finds everything else", needs: [.negations], { $0.where("number", .notEqual, 20) },
            ["a", "c"]),
        people(
            "exclusion finds what is not in the list", needs: [.negations],
            { $0.where("number", .notIn, [10, 20]) }, ["c"]),
        people(
            "one of two conditions is enough", needs: [.alternatives],
            { $0.where(.any([.field("text", .equal, "alice"), .field("number", .greaterThan, 25)])) }, ["a", "c"]),
        people(
            "alternatives hold conjunctions", needs: [.alternatives],
            {
                $0.where(
                    .any([
                        .all([.field("number", .equal, 20), .field("text", .equal, "dan")]),
                        .all([.field("number", .equal, 20), .field("text", .equal, "alice")]),
                        .field("text", .equal, "carol"),
                    ]))
            }, ["c", "d"]),
        people(
            "alternatives stand beside other conditions", needs: [.alternatives],
            {
                $0.where("number", .greaterThanOrEqual, 20)
                    .where(.any([.field("text", .equal, "alice"), .field("text", .equal, "bob")]))
            }, ["b"]),
        people(
            "alternatives find each document once", needs: [.alternatives],
            { $0.where(.any([.field("number", .equal, 20), .field("text", .equal, "bob")])) }, ["b", "d"]),
        people(
            "alternatives in alternatives are alternatives", needs: [.alternatives],
            {
                $0.where(
                    .any([
                        .field("text", .equal, "alice"),
                        .any([.field("text", .equal, "bob"), .all([.any([.field("text", .equal, "carol")])])]),
                    ]))
            }, ["a", "b", "c"]),
        tagged("an array is found by one element", { $0.where("tags", .arrayContains, "red") }, ["a", "b"]),
        tagged(
            "an array is found by any of several elements",
            { $0.where("tags", .arrayContainsAny, ["blue", "red"]) },
            ["a", "b", "c"]),
        tagged("an array is not found by an element that it lacks", { $0.where("tags", .arrayContains, "re") }, []),
        tagged(
            "an array is found by two conditions on it and another field",
            { $0.where("tags", .arrayContains, "red").where("number", .greaterThan, 1) }, ["b"]),
        StorageCheck("truth values are found", needs: .field(.flag)) { context in
            try await context.store.seed(
                context.items, ["a": ["flag": true], "b": ["flag": false], "c": ["flag": true]])
            let query = Query(in: context.items)
            try await context.store.expect(query.where("flag", .equal, true), gives: ["a", "c"])
            try await context.store.expect(query.where("flag", .equal, false), gives: ["b"])
        },
        StorageCheck("times are found to the microsecond", needs: .field(.moment)) { context in
            try await context.store.seed(
                context.items,
                [
                    "a": ["moment": .time(1_700_000_000, microseconds: 1)],
                    "b": ["moment": .time(1_700_000_000, microseconds: 2)], "c": ["moment": .time(-5)],
                ])
            let query = Query(in: context.items)
            let first = DocumentValue.time(1_700_000_000, microseconds: 1)
            try await context.store.expect(query.where("moment", .equal, first), gives: ["a"])
            try await context.store.expect(query.where("moment", .greaterThan, first), gives: ["b"])
            try await context.store.expect(query.where("moment", .lessThan, first), gives: ["c"])
        },
        StorageCheck("fractions are found", needs: .field(.ratio)) { context in
            try await context.store.seed(
                context.items, ["a": ["ratio": 0.1], "b": ["ratio": 0.2], "c": ["ratio": -1.5], "d": ["ratio": 2.0]])
            let query = Query(in: context.items)
            try await context.store.expect(query.where("ratio", .equal, 0.1), gives: ["a"])
            try await context.store.expect(query.where("ratio", .greaterThanOrEqual, 0.2), gives: ["b", "d"])
            try await context.store.expect(query.where("ratio", .equal, 2), gives: ["d"])
        },
        StorageCheck("bytes are found", needs: .field(.blob)) { context in
            try await context.store.seed(
                context.items, ["a": ["blob": .blob(1, 2)], "b": ["blob": .blob(1, 3)], "c": ["blob": .blob(255)]])
            try await context.store.expect(
                Query(in: context.items).where("blob", .equal, .blob(1, 3)), gives: ["b"])
        },
        StorageCheck("hostile text is only text") { context in
            let texts = [
                "'; drop table documents; --", "\" or 1=1", "a,b.c(d)", "%_*", "{\"$ne\":null}", "null", "and=(x.eq.1)",
                "\\", "line\nbreak", "eq.5", "(", "👩‍👩‍👧",
            ]
            try await context.store.seed(
                texts.enumerated().map { (context.document("d\($0)"), ["text": .string($1)]) })
            for (index, text) in texts.enumerated() {
                try await context.store.expect(
                    Query(in: context.items).where("text", .equal, .string(text)), gives: ["d\(index)"])
            }
            try await context.store.expect(
                Query(in: context.items).where("text", .in, .array(texts.prefix(3).map { .string($0) })),
                gives: ["d0", "d1", "d2"])
        },
        StorageCheck("an empty collection has no results") { context in
            let snapshot = try await context.store.results(Query(in: context.items).where("number", .equal, 1))
            try expect(snapshot.isEmpty && snapshot.changes.isEmpty, "there are none", found: Readable.text(snapshot))
        },
        StorageCheck("the results hold their data, names and paths") { context in
            try await context.store.seed(
                context.items, ["a": ["text": "x", "number": 1], "b": ["text": "y", "number": 2]])
            let snapshot = try await context.store.results(Query(in: context.items))
            try expectEqual(
                snapshot.documents.map(\.path), ["a", "b"].map { context.document($0) }, "the paths")
            try context.store.expect(snapshot.documents[1], holds: ["text": "y", "number": 2])
            try expectEqual(
                snapshot.changes.map(\.kind), [.added, .added], "the changes of a result that is read once")
            try expectEqual(snapshot.changes.map(\.newIndex), [0, 1], "their new places")
        },
    ].within("filters")

    /// Conditions on values of any kind in one field.
    static let openFilterChecks: [StorageCheck] = [
        mixed("equality finds null only when asked for null", { $0.where("v", .equal, .null) }, ["null"]),
        mixed("a test for null finds null and not what is missing", { $0.where("v", .isNull) }, ["null"]),
        mixed(
            "a test for anything but null finds every other value", needs: [.negations],
            { $0.where("v", .isNotNull) },
            ["false", "nan", "d1", "i1", "i2", "time", "text", "array", "map"]),
        mixed("a test for NaN finds NaN", { $0.where("v", .isNaN) }, ["nan"]),
        mixed("equality with NaN is the test for it", { $0.where("v", .equal, .double(.nan)) }, ["nan"]),
        mixed(
            "a test for anything but NaN finds neither NaN nor null", needs: [.negations],
            { $0.where("v", .isNotNaN) }, ["false", "d1", "i1", "i2", "time", "text", "array", "map"]),
        mixed("1 and 1.0 are equal", { $0.where("v", .equal, 1.0) }, ["d1", "i1"]),
        mixed("numbers compare with numbers only", { $0.where("v", .lessThan, 2) }, ["d1", "i1"]),
        mixed(
            "a range from a number on ends with the numbers", { $0.where("v", .greaterThan, 0) },
            ["d1", "i1", "i2"]),
        mixed("text compares with text only", { $0.where("v", .greaterThanOrEqual, "") }, ["text"]),
        mixed("truth values compare with truth values only", { $0.where("v", .lessThan, true) }, ["false"]),
        mixed("times compare with times only", { $0.where("v", .greaterThan, .time(0)) }, ["time"]),
        mixed("arrays are equal as a whole", { $0.where("v", .equal, [1, "x"]) }, ["array"]),
        mixed("an array is not one of its elements", { $0.where("v", .in, [[1, "x"], "x"]) }, ["array"]),
        mixed("maps are equal as a whole", { $0.where("v", .equal, ["a": 1]) }, ["map"]),
        mixed("a field in a map is found by its path", { $0.where("v.a", .equal, 1) }, ["map"]),
        mixed("elements of an array of different kinds are found", { $0.where("v", .arrayContains, 1) }, ["array"]),
        mixed("membership spans kinds", { $0.where("v", .in, [1, "abc", false]) }, ["d1", "false", "i1", "text"]),
        mixed("null in a membership list finds nothing", { $0.where("v", .in, [.null, 2]) }, ["i2"]),
        mixed(
            "inequality skips null and what is missing, and keeps NaN", needs: [.negations],
            { $0.where("v", .notEqual, 1) }, ["false", "nan", "i2", "time", "text", "array", "map"]),
        mixed(
            "exclusion skips null and what is missing, and keeps NaN", needs: [.negations],
            { $0.where("v", .notIn, [1, "abc"]) }, ["false", "nan", "i2", "time", "array", "map"]),
        mixed(
            "exclusion with null in its list finds nothing", needs: [.negations],
            { $0.where("v", .notIn, [.null, 1]) }, []),
        mixed("a field that no one has finds nothing", { $0.where("zzz", .equal, 1) }, []),
        StorageCheck("fields whose names need quoting are found", needs: .openTypes) { context in
            try await context.store.seed(
                context.items,
                ["a": ["x.y": 1, "sp ace": ["b`t": 2]], "b": ["x": ["y": 1], "sp ace": ["b`t": 3]], "c": ["é": 5]])
            let query = Query(in: context.items)
            try await context.store.expect(query.where("`x.y`", .equal, 1), gives: ["a"])
            try await context.store.expect(query.where("x.y", .equal, 1), gives: ["b"])
            try await context.store.expect(query.where("`sp ace`.`b\\`t`", .greaterThan, 2), gives: ["b"])
            try await context.store.expect(query.where("é", .equal, 5), gives: ["c"])
        },
        StorageCheck("references and places are found", needs: .openTypes) { context in
            try await context.store.seed(
                context.items,
                [
                    "a": ["v": .link("users/a")], "b": ["v": .link("users/b")], "c": ["v": .place(1, 2)],
                    "d": ["v": .place(1, 3)],
                ])
            let query = Query(in: context.items)
            try await context.store.expect(query.where("v", .equal, .link("users/b")), gives: ["b"])
            try await context.store.expect(query.where("v", .greaterThan, .link("users/a")), gives: ["b"])
            try await context.store.expect(query.where("v", .equal, .place(1, 2)), gives: ["c"])
            try await context.store.expect(query.where("v", .greaterThan, .place(1, 2)), gives: ["d"])
        },
        StorageCheck("numbers near the limits are told apart", needs: .openTypes) { context in
            try await context.store.seed(
                context.items,
                [
                    "a": ["v": 9_007_199_254_740_992], "b": ["v": 9_007_199_254_740_993], "c": ["v": .integer(.max)],
                    "d": ["v": .double(0x1p63)],
                ])
            let query = Query(in: context.items)
            try await context.store.expect(query.where("v", .equal, 9_007_199_254_740_993), gives: ["b"])
            try await context.store.expect(query.where("v", .equal, 9_007_199_254_740_992.0), gives: ["a"])
            try await context.store.expect(query.where("v", .equal, .integer(.max)), gives: ["c"])
            try await context.store.expect(query.where("v", .greaterThan, .integer(.max)), gives: ["d"])
        },
        StorageCheck("composed and decomposed accents are told apart", needs: .openTypes) { context in
            try await context.store.seed(context.items, ["a": ["v": "\u{E9}"], "b": ["v": "e\u{301}"]])
            let query = Query(in: context.items)
            try await context.store.expect(query.where("v", .equal, "\u{E9}"), gives: ["a"])
            try await context.store.expect(query.where("v", .in, ["e\u{301}"]), gives: ["b"])
        },
        StorageCheck("thirty alternatives are no problem", needs: .openTypes) { context in
            try await context.store.seed(
                (0..<40).map { (context.document("d\(10 + $0)"), ["v": .integer(Int64($0))]) })
            let wanted = (5..<35).map { DocumentValue.integer(Int64($0)) }
            try await context.store.expect(
                Query(in: context.items).where("v", .in, .array(wanted)), gives: (15..<45).map { "d\($0)" })
        },
        StorageCheck("alternatives over fields that some documents lack", needs: .openTypes, .alternatives) { context in
            try await context.store.seed(
                context.items, ["a": ["x": 1], "b": ["y": 1], "c": ["z": 1], "d": ["x": 1, "y": 1]])
            try await context.store.expect(
                Query(in: context.items).where(.any([.field("x", .equal, 1), .field("y", .equal, 1)])),
                gives: ["a", "b", "d"])
        },
    ].within("filters")

    /// A query over four people: alice 10, bob 20, carol 30, dan 20.
    private static func people(
        _ name: String, needs: [StorageRequirement] = [], _ make: @escaping @Sendable (Query) throws -> Query,
        _ expected: [String]
    ) -> StorageCheck {
        over(people, name, needs: needs, { query, _ in try make(query) }, expected)
    }

    /// The same for a query that needs the names of documents.
    private static func people(
        _ name: String, _ make: @escaping @Sendable (Query, StorageContext.Naming) throws -> Query,
        _ expected: [String]
    ) -> StorageCheck {
        over(people, name, needs: [], make, expected)
    }

    private static let people: KeyValuePairs<String, DocumentData> = [
        "a": ["text": "alice", "number": 10], "b": ["text": "bob", "number": 20],
        "c": ["text": "carol", "number": 30], "d": ["text": "dan", "number": 20],
    ]

    private static func tagged(
        _ name: String, _ make: @escaping @Sendable (Query) throws -> Query, _ expected: [String]
    ) -> StorageCheck {
        over(
            [
                "a": ["tags": ["red", "green"], "number": 1], "b": ["tags": ["red"], "number": 2],
                "c": ["tags": ["blue"], "number": 3], "d": ["tags": [], "number": 4],
            ], name, needs: [.field(.tags)], { query, _ in try make(query) }, expected)
    }

    /// A query over documents with values of all kinds in the field `v`, including a missing one.
    private static func mixed(
        _ name: String, needs: [StorageRequirement] = [], _ make: @escaping @Sendable (Query) throws -> Query,
        _ expected: [String]
    ) -> StorageCheck {
        over(
            [
                "null": ["v": .null], "false": ["v": false], "nan": ["v": .double(.nan)], "i1": ["v": 1],
                "d1": ["v": 1.0],
                "i2": ["v": 2], "time": ["v": .time(1000)], "text": ["v": "abc"], "array": ["v": [1, "x"]],
                "map": ["v": ["a": 1]], "missing": ["w": 1],
            ], name, needs: [.openTypes] + needs, { query, _ in try make(query) }, expected)
    }

    private static func over(
        _ documents: KeyValuePairs<String, DocumentData>, _ name: String, needs: [StorageRequirement],
        _ make: @escaping @Sendable (Query, StorageContext.Naming) throws -> Query, _ expected: [String]
    ) -> StorageCheck {
        StorageCheck(name, needs: needs) { context in
            try await context.store.seed(context.items, documents)
            try await context.store.expect(make(Query(in: context.items), context.name), gives: expected)
        }
    }
}
