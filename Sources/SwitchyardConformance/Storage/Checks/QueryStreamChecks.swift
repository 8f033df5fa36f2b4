import Switchyard

extension StorageConformance {
    /// Streams of query results.
    static let queryStreamChecks: [StorageCheck] = [
        StorageCheck("a query's stream begins with its results, all as added", needs: .liveStreams) { context in
            try await context.store.seed(context.items, ["a": ["number": 2], "b": ["number": 1]])
            let probe = context.watch(Query(in: context.items).ordered(by: "number"))
            let snapshot = try await probe.first("both documents") { $0.count == 2 }
            try expectEqual(snapshot.documents.map(\.id), context.ids("b", "a"), "the results")
            try expectEqual(
                probe.elements[0].changes.map(\.kind), .init(repeating: .added, count: probe.elements[0].count),
                "the changes of the first snapshot")
            var log = ChangeLog()
            for snapshot in probe.elements { try log.follow(snapshot) }
        },
        StorageCheck("a query's stream begins with nothing where nothing is", needs: .liveStreams) { context in
            let probe = context.watch(Query(in: context.items))
            let snapshot = try await probe.first("a result from the server") { !$0.metadata.isFromCache }
            try expect(snapshot.isEmpty && snapshot.changes.isEmpty, "it is empty", found: Readable.text(snapshot))
        },
        step(
            "an added document comes with its place", from: ["a": 1, "c": 3], { try await $0.put("b", 2) },
            to: ["a", "b", "c"]
        ) {
            try expectEqual($0.kind, .added, "the kind of change")
            try expectEqual($0.oldIndex, nil, "the old place")
            try expectEqual($0.newIndex, 1, "the new place")
        },
        step(
            "a removed document comes with its old place", from: ["a": 1, "b": 2, "c": 3], { try await $0.drop("b") },
            to: ["a", "c"]
        ) {
            try expectEqual($0.kind, .removed, "the kind of change")
            try expectEqual($0.document["number"], 2, "the number of the document")
            try expectEqual($0.oldIndex, 1, "the old place")
            try expectEqual($0.newIndex, nil, "the new place")
        },
        step(
            "a document that moves down comes with both places", from: ["a": 1, "b": 2, "c": 3],
            { try await $0.put("a", 9) }, to: ["b", "c", "a"]
        ) {
            try expectEqual($0.kind, .modified, "the kind of change")
            try expectEqual($0.oldIndex, 0, "the old place")
            try expectEqual($0.newIndex, 2, "the new place")
        },
        step(
            "a document that moves up comes with both places", from: ["a": 2, "b": 3, "c": 4],
            { try await $0.put("c", 1) }, to: ["c", "a", "b"]
        ) {
            try expectEqual($0.kind, .modified, "the kind of change")
            try expectEqual($0.oldIndex, 2, "the old place")
            try expectEqual($0.newIndex, 0, "the new place")
        },
        step(
            "a changed document that stays comes with the same place twice", from: ["a": 1, "b": 20, "c": 30],
            { try await $0.put("b", 21) }, to: ["a", "b", "c"]
        ) {
            try expectEqual($0.kind, .modified, "the kind of change")
            try expectEqual($0.oldIndex, 1, "the old place")
            try expectEqual($0.newIndex, 1, "the new place")
        },
        step(
            "a document that no longer matches is removed", from: ["a": 1, "b": 2], { try await $0.put("a", -5) },
            to: ["b"]
        ) {
            try expectEqual($0.kind, .removed, "the kind of change")
            try expectEqual($0.oldIndex, 0, "the old place")
        },
        step(
            "a document that begins to match is added", from: ["a": -1, "b": 2], { try await $0.put("a", 5) },
            to: ["b", "a"]
        ) {
            try expectEqual($0.kind, .added, "the kind of change")
            try expectEqual($0.newIndex, 1, "the new place")
        },
        StorageCheck("what does not match makes no snapshot", needs: .liveStreams) { context in
            try await context.store.seed(context.items, ["a": ["number": 1]])
            let probe = context.watch(Query(in: context.items).where("number", .greaterThan, 0))
            try await probe.first("the document") { $0.count == 1 && !$0.metadata.isFromCache }
            let before = probe.elements.count
            try await context.store.set(context.document("b"), ["number": -1])
            try await context.store.set(context.document("c"), ["number": 5])
            try await probe.newest("the document that matches") { $0.documents.map(\.id) == context.ids("a", "c") }
            let quiet = probe.elements.dropFirst(before).filter { $0.count == 1 && !$0.changes.isEmpty }
            try expectEqual(quiet.count, 0, "the number of snapshots about what does not match")
        },
        StorageCheck("a limited query lets documents in and out", needs: .liveStreams) { context in
            try await context.store.seed(context.items, ["a": ["number": 1], "b": ["number": 2], "c": ["number": 3]])
            let probe = context.watch(Query(in: context.items).ordered(by: "number").limited(to: 2))
            try await probe.newest("the first two") { $0.documents.map(\.id) == context.ids("a", "b") }
            try await context.store.set(context.document("z"), ["number": 0])
            try await probe.newest("the new first one") { $0.documents.map(\.id) == context.ids("z", "a") }
            try await context.store.delete(context.document("z"))
            try await probe.newest("the one that moved up again") { $0.documents.map(\.id) == context.ids("a", "b") }
            try await context.store.delete(context.document("a"))
            try await probe.newest("the one that was beyond the limit") {
                $0.documents.map(\.id) == context.ids("b", "c")
            }
            var log = ChangeLog()
            for snapshot in probe.elements { try log.follow(snapshot) }
        },
        StorageCheck("a query limited to the last follows the end", needs: .liveStreams) { context in
            try await context.store.seed(context.items, ["a": ["number": 1], "b": ["number": 2], "c": ["number": 3]])
            let probe = context.watch(Query(in: context.items).ordered(by: "number").limited(toLast: 2))
            try await probe.newest("the last two") { $0.documents.map(\.id) == context.ids("b", "c") }
            try await context.store.set(context.document("d"), ["number": 4])
            try await probe.newest("the new last one") { $0.documents.map(\.id) == context.ids("c", "d") }
            try await context.store.delete(context.document("d"))
            try await probe.newest("the former last two") { $0.documents.map(\.id) == context.ids("b", "c") }
            var log = ChangeLog()
            for snapshot in probe.elements { try log.follow(snapshot) }
        },
        StorageCheck("a query between cursors stays between them", needs: .liveStreams) { context in
            try await context.store.seed(context.items, ["a": ["number": 1], "b": ["number": 2], "c": ["number": 3]])
            let probe = context.watch(
                Query(in: context.items).ordered(by: "number").starting(after: 1).ending(at: 3))
            try await probe.newest("the middle") { $0.documents.map(\.id) == context.ids("b", "c") }
            try await context.store.set(context.document("a"), ["number": 2])
            try await probe.newest("the one that came in") { $0.documents.map(\.id) == context.ids("a", "b", "c") }
            try await context.store.set(context.document("c"), ["number": 4])
            try await probe.newest("without the one that left") { $0.documents.map(\.id) == context.ids("a", "b") }
        },
        StorageCheck("a batch arrives in one piece", needs: .liveStreams, .batches(of: 3)) { context in
            let other = try await context.device()
            try await context.store.seed(context.items, ["a": ["number": 1], "b": ["number": 1], "c": ["number": 1]])
            let probe = context.watch(other.client.snapshots(of: Query(in: context.items)))
            try await probe.first("the documents") { $0.count == 3 }
            for round in 2...6 {
                var batch = WriteBatch()
                for name in ["a", "b", "c"] {
                    try batch.set(context.document(name), ["number": .value(.integer(Int64(round)))])
                }
                try await context.store.commit(batch)
            }
            try await probe.newest("the last round") { $0.documents.allSatisfy { $0["number"]?.integerValue == 6 } }
            for snapshot in probe.elements where snapshot.count == 3 {
                try expectEqual(
                    Set(snapshot.documents.map { $0["number"]?.integerValue }).count, 1,
                    "the number of rounds in one snapshot")
            }
        },
        StorageCheck("no document is missed under quick writes from two devices", needs: .liveStreams) { context in
            let other = try await context.device()
            let watcher = try await context.device()
            let probe = context.watch(watcher.client.snapshots(of: Query(in: context.items).ordered(by: "number")))
            try await probe.first("the empty result")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (offset, device) in [(0, context.store), (1, other)] {
                    group.addTask {
                        for index in 0..<30 {
                            let number = index * 2 + offset
                            try await device.set(
                                context.document("d\(100 + number)"), ["number": .value(.integer(Int64(number)))])
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await probe.newest("all sixty documents") { $0.count == 60 }
            var log = ChangeLog()
            for snapshot in probe.elements { try log.follow(snapshot) }
        },
        StorageCheck("writes, changes and deletions in a wild mix end in the server's result", needs: .liveStreams) {
            context in
            let other = try await context.device()
            let query = Query(in: context.items).where("number", .greaterThanOrEqual, 3).ordered(by: "number")
                .limited(to: 4)
            let probe = context.watch(query)
            try await probe.first("the empty result")
            for step in 0..<48 {
                let device = step.isMultiple(of: 2) ? context.store : other
                let path = context.document("d\(step * 5 % 7)")
                if step % 6 == 5 {
                    try await device.delete(path)
                } else {
                    try await device.set(path, ["number": .value(.integer(Int64(step * 11 % 13)))])
                }
            }
            let expected = try await other.ids(query)
            try await probe.newest("what the server has: \(expected)") {
                $0.documents.map(\.id) == expected && !$0.metadata.isFromCache
            }
            var log = ChangeLog()
            for snapshot in probe.elements { try log.follow(snapshot) }
        },
        StorageCheck("a slow consumer's changes lead from what it saw to what it sees", needs: .liveStreams) {
            context in
            let probe = context.watch(Query(in: context.items))
            var log = ChangeLog()
            var iterator = context.client.snapshots(of: Query(in: context.items)).makeAsyncIterator()
            try log.follow(try expectValue(try await iterator.next(), "a first snapshot"))
            for round in 1...3 {
                // Several snapshots arrive while this consumer is busy writing; it gets the newest of them.
                for name in ["a", "b", "c"] {
                    try await context.store.set(
                        context.document(name), ["number": .value(.integer(Int64(round)))])
                }
                try await context.store.delete(context.document("b"))
                try await probe.newest("the two that are left, in round \(round)") {
                    $0.documents.map(\.id) == context.ids("a", "c")
                        && $0.documents.allSatisfy { $0["number"]?.integerValue == Int64(round) }
                }
                while log.documents.map({ $0["number"]?.integerValue }) != [Int64(round), Int64(round)] {
                    try log.follow(try expectValue(try await iterator.next(), "another snapshot"))
                }
            }
        },
        StorageCheck("two queries over one collection each see their part", needs: .liveStreams) { context in
            let low = context.watch(Query(in: context.items).where("number", .lessThan, 10))
            let high = context.watch(Query(in: context.items).where("number", .greaterThanOrEqual, 10))
            for probe in [low, high] { try await probe.first("an empty result") }
            try await context.store.seed(context.items, ["a": ["number": 1], "b": ["number": 11]])
            try await low.newest("the low one") { $0.documents.map(\.id) == context.ids("a") }
            try await high.newest("the high one") { $0.documents.map(\.id) == context.ids("b") }
            try await context.store.set(context.document("a"), ["number": 12])
            try await low.newest("nothing") { $0.isEmpty }
            try await high.newest("both") { $0.documents.map(\.id) == context.ids("b", "a") }
        },
        StorageCheck("a stream of one query serves two consumers", needs: .liveStreams) { context in
            let stream = context.client.snapshots(of: Query(in: context.items))
            let one = context.watch(stream)
            try await one.first("an empty result")
            try await context.store.seed(context.items, ["a": ["number": 1]])
            let two = context.watch(stream)
            for probe in [one, two] {
                try await probe.newest("the document") { $0.documents.map(\.id) == context.ids("a") }
            }
            await one.stop()
            try await context.store.delete(context.document("a"))
            try await two.newest("nothing") { $0.isEmpty }
        },
        StorageCheck("a projection's stream leaves only the fields it names", needs: .liveStreams) { context in
            try await context.store.seed(context.items, ["a": ["text": "x", "number": 1]])
            let probe = context.watch(Query(in: context.items).selecting("number"))
            let snapshot = try await probe.first("the document") { $0.count == 1 }
            try expectEqual(snapshot.documents[0]["text"], nil, "the field not asked for")
            try await context.store.update(context.document("a"), ["number": 2])
            try await probe.newest("the change") { $0.documents.first?["number"]?.integerValue == 2 }
        },
        StorageCheck("alternatives are live", needs: .liveStreams, .alternatives) { context in
            let query = Query(in: context.items).where(
                .any([.field("text", .equal, "x"), .field("number", .equal, 5)]))
            let probe = context.watch(query)
            try await probe.first("an empty result")
            try await context.store.seed(
                context.items,
                ["a": ["text": "x", "number": 1], "b": ["text": "y", "number": 5], "c": ["text": "y", "number": 1]])
            try await probe.newest("both that match") { $0.documents.map(\.id) == context.ids("a", "b") }
            try await context.store.update(context.document("a"), ["text": "y"])
            try await probe.newest("the one that is left") { $0.documents.map(\.id) == context.ids("b") }
        },
        StorageCheck("a group is live", needs: .liveStreams, .collectionGroups, .openSchema) { context in
            let one = context.document("one")
            let notes = try context.collection("notes", below: one)
            let deeper = try context.collection("notes", below: context.document("n1", in: notes))
            let probe = context.watch(Query(group: "notes", under: one))
            try await probe.first("an empty result")
            try await context.store.set(context.document("n1", in: notes), ["number": 1])
            try await context.store.set(context.document("n2", in: deeper), ["number": 2])
            try await probe.newest("both") { $0.documents.map(\.id) == context.ids("n1", "n2") }
            try await context.store.delete(context.document("n1", in: notes))
            try await probe.newest("the deeper one") { $0.documents.map(\.id) == context.ids("n2") }
        },
        StorageCheck("a transaction's writes arrive in one piece", needs: .liveStreams, .transactions, .mixedBatches) {
            context in
            let other = try await context.device()
            let paths = ["a", "b"].map { context.document($0) }
            try await context.store.seed(paths.map { ($0, ["number": 0]) })
            let probe = context.watch(other.client.snapshots(of: Query(in: context.items)))
            try await probe.first("both documents") { $0.count == 2 }
            try await context.client.transaction { transaction in
                for path in paths { try await transaction.set(path, ["number": 7]) }
            }
            try await probe.newest("both numbers") { $0.documents.allSatisfy { $0["number"]?.integerValue == 7 } }
            let sums = probe.elements.filter { $0.count == 2 }.map {
                $0.documents.reduce(0) { $0 + ($1["number"]?.integerValue ?? 0) }
            }
            try expect(sums.allSatisfy { $0 == 0 || $0 == 14 }, "no one sees one half", found: "\(sums)")
        },
        StorageCheck(
            "a live result of three hundred documents is whole, and stays so", needs: .liveStreams,
            deadline: .seconds(60)
        ) { context in
            try await context.store.seed(
                (0..<300).map { (context.document("d\(1000 + $0)"), ["number": .integer(Int64($0))]) })
            let probe = context.watch(Query(in: context.items).ordered(by: "number", .descending))
            try await probe.first("all of them") { $0.count == 300 }
            try await context.store.set(context.document("d1000"), ["number": 1000])
            let snapshot = try await probe.first("the one that moved to the front") {
                $0.documents.first?.path == context.document("d1000")
            }
            try expectEqual(snapshot.changes.count, 1, "the number of changes")
            try expectEqual(snapshot.changes.first?.oldIndex, 299, "the old place")
            try expectEqual(snapshot.changes.first?.newIndex, 0, "the new place")
        },
    ].within("streams")

    /// The changes that a step may make to the watched collection.
    private struct Hand: Sendable {
        let context: StorageContext
        func put(_ name: String, _ number: Int64) async throws {
            try await context.store.set(context.document(name), ["number": .value(.integer(number))])
        }
        func drop(_ name: String) async throws { try await context.store.delete(context.document(name)) }
    }

    /// Watches the positive numbers in order, takes one step, and checks the resulting change.
    private static func step(
        _ name: String, from numbers: KeyValuePairs<String, Int64>,
        _ step: @escaping @Sendable (Hand) async throws -> Void, to expected: [String],
        _ inspect: @escaping @Sendable (DocumentChange) throws -> Void
    ) -> StorageCheck {
        let documents = numbers.map { ($0.key, $0.value) }
        return StorageCheck(name, needs: .liveStreams) { context in
            try await context.store.seed(documents.map { (context.document($0), ["number": .integer($1)]) })
            let before = documents.count { $0.1 > 0 }
            let probe = context.watch(Query(in: context.items).where("number", .greaterThan, 0))
            try await probe.newest("the documents from the server") { $0.count == before && !$0.metadata.isFromCache }
            let seen = probe.elements.count
            try await step(Hand(context: context))
            try await probe.newest("\(expected)") { $0.documents.map(\.id) == context.ids(expected) }
            try await probe.all("the change") { $0.dropFirst(seen).contains { !$0.changes.isEmpty } }
            let change = try expectValue(probe.elements.dropFirst(seen).lazy.flatMap(\.changes).first, "a change")
            try inspect(change)
            var log = ChangeLog()
            for snapshot in probe.elements { try log.follow(snapshot) }
        }
    }
}
