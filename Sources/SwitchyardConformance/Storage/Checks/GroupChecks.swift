import Switchyard

extension StorageConformance {
    static let groupChecks: [StorageCheck] = [
        StorageCheck("a group finds documents of every collection of its name", needs: .collectionGroups) { context in
            let mark = DocumentValue.string(context.namespace.rawValue)
            let other = try await context.collection("other")
            try await context.store.seed(
                context.items, ["a": ["text": mark, "number": 1], "b": ["text": mark, "number": 3]])
            try await context.store.seed(
                other, ["c": ["text": mark, "number": 2], "d": ["text": "else", "number": 4]])
            let query = Query(group: context.items.id).where("text", .equal, mark).ordered(by: "number")
            guard context.items.id == other.id else { return }  // a backend with its own collection names
            let found = try await context.store.results(query)
            try expectEqual(found.documents.map(\.id), context.ids("a", "c", "b"), "the names")
            try expectEqual(found.documents[1].path, context.document("c", in: other), "the path of the second")
        },
        StorageCheck("a group below a document stays there", needs: .collectionGroups, .openSchema) { context in
            let (one, two) = try await seedTree(context)
            try await context.store.expect(Query(group: "notes", under: one), gives: ["n1", "n2", "deep"])
            try await context.store.expect(Query(group: "notes", under: two), gives: ["n3"])
        },
        StorageCheck(
            "a group does not find collections that only begin with its name", needs: .collectionGroups, .openSchema
        ) { context in
            let (one, _) = try await seedTree(context)
            try await context.store.expect(Query(group: "note", under: one), gives: [])
            try await context.store.expect(Query(group: "notes2", under: one), gives: ["x"])
        },
        StorageCheck("a group is filtered, ordered and limited", needs: .collectionGroups, .openSchema) { context in
            let (one, _) = try await seedTree(context)
            let query = Query(group: "notes", under: one)
            try await context.store.expect(query.where("number", .greaterThan, 1), gives: ["n2", "deep"])
            try await context.store.expect(
                query.ordered(by: "number", .descending).limited(to: 2), gives: ["deep", "n2"])
            try await context.store.expect(query.where("text", .equal, "first"), gives: ["n1"])
        },
        StorageCheck("a group is ordered by whole paths", needs: .collectionGroups, .openSchema) { context in
            let (one, two) = try await seedTree(context)
            let found = try await context.store.results(Query(group: "notes", under: one)).documents.map(\.path)
            try expectEqual(found, found.sorted(), "the paths")
            try expect(
                !found.contains { $0.rawValue.hasPrefix(two.rawValue) }, "nothing of the other tree", found: "some")
        },
        StorageCheck("a document of a group is a cursor", needs: .collectionGroups, .openSchema) { context in
            let (one, _) = try await seedTree(context)
            let query = Query(group: "notes", under: one).ordered(by: "number")
            let first = try expectValue(try await context.store.results(query).documents.first, "a first result")
            try await context.store.expect(query.starting(after: first), gives: ["n2", "deep"])
        },
        StorageCheck("a group is counted", needs: .collectionGroups, .openSchema) { context in
            let (one, _) = try await seedTree(context)
            try expectEqual(
                try await context.client.count(Query(group: "notes", under: one)), 3, "the number of documents")
        },
    ].within("collection groups")

    /// `one/notes/n1`, `one/notes/n2`, `one/notes/n2/more/m/notes/deep`, `one/notes2/x`, `two/notes/n3`.
    private static func seedTree(_ context: StorageContext) async throws -> (one: StoragePath, two: StoragePath) {
        let one = context.document("one")
        let two = context.document("two")
        let notes = try context.collection("notes", below: one)
        let more = try context.collection("more", below: context.document("n2", in: notes))
        let deep = try context.collection("notes", below: context.document("m", in: more))
        let similar = try context.collection("notes2", below: one)
        let others = try context.collection("notes", below: two)
        try await context.store.seed([
            (context.document("n1", in: notes), ["number": 1, "text": "first"]),
            (context.document("n2", in: notes), ["number": 2]),
            (context.document("deep", in: deep), ["number": 3]), (context.document("x", in: similar), ["number": 4]),
            (context.document("n3", in: others), ["number": 5]),
        ])
        return (one, two)
    }

    static let aggregateChecks: [StorageCheck] = [
        StorageCheck("counting gives the number of results") { context in
            try await context.store.seed(
                context.items, ["a": ["number": 1], "b": ["number": 2], "c": ["number": 2], "d": ["number": 3]])
            let query = Query(in: context.items)
            try expectEqual(try await context.client.count(query), 4, "the number of all")
            try expectEqual(try await context.client.count(query.where("number", .equal, 2)), 2, "the number of twos")
            try expectEqual(try await context.client.count(query.where("number", .equal, 9)), 0, "the number of nines")
        },
        StorageCheck("counting stops at the limit") { context in
            try await context.store.seed(context.items, ["a": ["number": 1], "b": ["number": 2], "c": ["number": 3]])
            try expectEqual(try await context.client.count(Query(in: context.items).limited(to: 2)), 2, "the number")
        },
        StorageCheck("counting an empty collection gives zero") { context in
            try expectEqual(try await context.client.count(Query(in: context.items)), 0, "the number")
        },
        aggregate("the sum of whole numbers is whole", [1, 2, 39], [.sum("number")], [42]),
        aggregate("the sum over nothing is a whole zero", [], [.sum("number")], [0]),
        aggregate("the mean is a double", [1, 2, 4, 5], [.average("number")], [3.0]),
        aggregate("the mean over nothing is null", [], [.average("number")], [.null]),
        aggregate(
            "several aggregates come in the order asked for", [1, 2, 3],
            [.average("number"), .count, .sum("number")], [2.0, 3, 6]),
        StorageCheck("counting beside a sum counts the documents without the field too", needs: .aggregates) {
            context in
            try await context.store.seed(
                context.items, ["a": ["number": 1], "b": ["text": "x"], "c": ["number": 4, "text": "y"]])
            let found = try await context.client.aggregate(
                Query(in: context.items), [.count, .sum("number"), .average("number")])
            try expectEqual(found, [3, 5, 2.5], "the number, the sum and the mean")
        },
        StorageCheck("aggregates see only the results of the query", needs: .aggregates) { context in
            try await context.store.seed(
                context.items, ["a": ["number": 1], "b": ["number": 10], "c": ["number": 100]])
            let query = Query(in: context.items).where("number", .greaterThan, 1)
            let found = try await context.client.aggregate(query, [.sum("number")])
            try expectEqual(found, [110], "the sum")
        },
        StorageCheck("a fraction makes the sum a double", needs: .aggregates, .openTypes) { context in
            try await context.store.seed(context.items, ["a": ["number": 1], "b": ["number": 1.5]])
            let found = try await context.client.aggregate(
                Query(in: context.items), [.sum("number"), .average("number")])
            try expectEqual(found, [2.5, 1.25], "the sum and the mean")
        },
        StorageCheck("aggregates pass over what is no number", needs: .aggregates, .openTypes) { context in
            try await context.store.seed(
                context.items,
                [
                    "a": ["number": 1], "b": ["number": "2"], "c": ["number": .null], "d": ["text": "x"],
                    "e": ["number": 4],
                ])
            let found = try await context.client.aggregate(
                Query(in: context.items), [.sum("number"), .average("number")])
            try expectEqual(found, [5, 2.5], "the sum and the mean")
        },
        StorageCheck("NaN makes the sum and the mean NaN", needs: .aggregates, .openTypes) { context in
            try await context.store.seed(context.items, ["a": ["number": 1], "b": ["number": .double(.nan)]])
            let found = try await context.client.aggregate(
                Query(in: context.items), [.sum("number"), .average("number")])
            try expectEqual(found, [.double(.nan), .double(.nan)], "the sum and the mean")
        },
        StorageCheck("aggregates reach into maps", needs: .aggregates, .openTypes) { context in
            try await context.store.seed(context.items, ["a": ["m": ["k": 1]], "b": ["m": ["k": 2]]])
            let found = try await context.client.aggregate(Query(in: context.items), [.sum("m.k")])
            try expectEqual(found, [3], "the sum")
        },
    ].within("aggregates")

    private static func aggregate(
        _ name: String, _ numbers: [Int64], _ aggregations: [Aggregation], _ expected: [DocumentValue]
    ) -> StorageCheck {
        StorageCheck(name, needs: .aggregates) { context in
            try await context.store.seed(
                numbers.enumerated().map { (context.document("d\($0)"), ["number": .integer($1)]) })
            let found = try await context.client.aggregate(Query(in: context.items), aggregations)
            try expectEqual(found, expected, "the values")
        }
    }
}
