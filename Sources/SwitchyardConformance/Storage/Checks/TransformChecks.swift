import Switchyard

extension StorageConformance {
    static let transformChecks: [StorageCheck] = [
        transform("an increment adds whole numbers", from: ["number": 5], .increment(3), at: "number", gives: 8),
        transform("an increment may be negative", from: ["number": 5], .increment(-7), at: "number", gives: -2),
        transform(
            "an increment of a missing field sets it", from: ["text": "x"], .increment(3), at: "number", gives: 3),
        StorageCheck("whole numbers stop at their limits", needs: .transforms) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": .value(.integer(.max - 1))])
            try await context.store.update(path, ["number": .increment(5)])
            try await context.store.expect(path, holds: ["number": .integer(.max)])
            try await context.store.set(path, ["number": .value(.integer(.min + 1))])
            try await context.store.update(path, ["number": .increment(-5)])
            try await context.store.expect(path, holds: ["number": .integer(.min)])
        },
        openTransform("an increment of text sets the number", from: "five", .increment(3), gives: 3),
        openTransform("a whole number and a fraction make a double", from: 5, .increment(0.5), gives: 5.5),
        openTransform("a double and a whole number make a double", from: 0.5, .increment(2), gives: 2.5),
        openTransform("a double and its opposite make a double that is zero", from: 0.5, .increment(-0.5), gives: 0.0),
        openTransform("a maximum takes the larger number", from: 5, .maximum(7), gives: 7),
        openTransform("a maximum keeps the larger number", from: 5, .maximum(3), gives: 5),
        openTransform("a maximum of equal numbers keeps the stored one", from: 3, .maximum(3.0), gives: 3),
        openTransform("a maximum of text is the operand", from: "x", .maximum(3), gives: 3),
        openTransform("a maximum of nothing is the operand", from: nil, .maximum(-3), gives: -3),
        openTransform("a minimum takes the smaller number", from: 5, .minimum(3.5), gives: 3.5),
        openTransform("a minimum keeps the smaller number", from: 5, .minimum(7), gives: 5),
        openTransform("a minimum of equal numbers keeps the stored one", from: 3.0, .minimum(3), gives: 3.0),
        openTransform("a minimum of nothing is the operand", from: nil, .minimum(3), gives: 3),
        openTransform(
            "a union appends what is not there yet", from: ["a", "b"], .arrayUnion("b", "c", "d", "c"),
            gives: ["a", "b", "c", "d"]),
        openTransform(
            "a union keeps what is there twice already", from: ["a", "a"], .arrayUnion("a", "b"),
            gives: ["a", "a", "b"]),
        openTransform("a union holds 2 and 2.0 for the same", from: [2], .arrayUnion(2.0, 3.0), gives: [2, 3.0]),
        openTransform("a union with what is no array begins with an empty one", from: 5, .arrayUnion(1), gives: [1]),
        openTransform(
            "a union compares maps by their contents", from: [["k": 1]], .arrayUnion(["k": 1], ["k": 2]),
            gives: [["k": 1], ["k": 2]]),
        openTransform(
            "a removal takes every occurrence", from: ["a", "b", "a", "c"], .arrayRemove("a", "c"), gives: ["b"]),
        openTransform("a removal holds 2 and 2.0 for the same", from: [1, 2, 2.0], .arrayRemove(2), gives: [1]),
        openTransform("a removal from what is no array leaves an empty one", from: "x", .arrayRemove(1), gives: []),
        openTransform("a removal from nothing leaves an empty array", from: nil, .arrayRemove(1), gives: []),
        StorageCheck("the server's time is set, and later writes have later ones", needs: .transforms, .field(.moment))
        { context in
            let path = context.document("a")
            try await context.store.set(path, ["moment": .serverTime])
            let snapshot = try await context.store.read(path)
            let first = try expectValue(snapshot["moment"]?.timestampValue, "a time")
            try expect(!first.isEstimate, "the time is the server's", found: "an estimate")
            try await context.store.update(path, ["moment": .serverTime])
            let second = try expectValue(try await context.store.read(path)["moment"]?.timestampValue, "a time")
            try expect(second >= first, "the second time is not earlier", found: "an earlier one")
        },
        StorageCheck("the server's time is close to the time of the commit", needs: .transforms, .field(.moment)) {
            context in
            let path = context.document("a")
            let answer = try await context.store.commit(try .set(path, ["moment": .serverTime]))
            let time = try expectValue(try await context.store.read(path)["moment"]?.timestampValue, "a time")
            let distance = abs(time.seconds - answer.commitTime.seconds)
            try expect(distance <= 5, "they are at most 5 s apart", found: "\(distance) s")
        },
        StorageCheck("all server times of a batch are the same", needs: .transforms, .field(.moment), .batches(of: 2)) {
            context in
            var batch = WriteBatch()
            try batch.set(context.document("a"), ["moment": .serverTime])
            try batch.set(context.document("b"), ["moment": .serverTime, "text": "x"])
            try await context.store.commit(batch)
            let snapshots = try await context.client.documents(batch.writes.map(\.path), from: .server)
            try expectEqual(snapshots[0]["moment"], snapshots[1]["moment"], "the time in “a”")
        },
        StorageCheck("server times are set deep inside of maps", needs: .transforms, .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(path, ["m": ["x": 1, "deep": ["at": .serverTime]]])
            let snapshot = try await context.store.read(path)
            try expectEqual(snapshot["m.x"]?.integerValue, 1, "the field beside it")
            _ = try expectValue(snapshot["m.deep.at"]?.timestampValue, "a time")
        },
        StorageCheck("a write of nothing but transforms leaves the other fields", needs: .transforms) { context in
            let path = context.document("a")
            try await context.store.set(path, ["text": "x", "number": 1])
            try await context.store.merge(path, ["number": .increment(1)])
            try await context.store.expect(path, holds: ["text": "x", "number": 2])
        },
        StorageCheck("a merge of nothing but transforms creates the document", needs: .transforms) { context in
            let path = context.document("a")
            try await context.store.merge(path, ["number": .increment(4)])
            try await context.store.expect(path, holds: ["number": 4])
        },
        StorageCheck("an update of nothing but transforms needs the document", needs: .transforms) { context in
            let path = context.document("a")
            try await context.store.expectFailure(.notFound, in: "the update") {
                try await context.store.update(path, ["number": .increment(4)])
            }
            try await context.store.expectMissing(path)
        },
        StorageCheck("a set with a transform forgets the old value", needs: .transforms) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 40, "text": "x"])
            try await context.store.set(path, ["number": .increment(2)])
            try await context.store.expect(path, holds: ["number": 2])
        },
        StorageCheck("one write may set fields and transform others", needs: .transforms, .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(path, ["n": 1, "list": [1], "t": "old", "gone": 1])
            try await context.store.update(
                path,
                [
                    "n": .increment(1), "list": .arrayUnion(2), "t": "new", "gone": .delete, "top": .maximum(9),
                    "m.deep": .increment(1),
                ])
            try await context.store.expect(
                path, holds: ["n": 2, "list": [1, 2], "t": "new", "top": 9, "m": ["deep": 1]])
        },
        StorageCheck("transforms find field names that need quoting", needs: .transforms, .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(path, ["a.b": 1, "x y": ["c`d": 1]])
            try await context.store.update(path, ["`a.b`": .increment(1), "`x y`.`c\\`d`": .increment(2)])
            try await context.store.expect(path, holds: ["a.b": 2, "x y": ["c`d": 3]])
        },
        StorageCheck("increments from two devices at once all count", needs: .transforms) { context in
            let other = try await context.device()
            let path = context.document("counter")
            try await context.store.set(path, ["number": 0])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<40 {
                    let device = index.isMultiple(of: 2) ? context.store : other
                    group.addTask { try await device.update(path, ["number": .increment(1)]) }
                }
                try await group.waitForAll()
            }
            try await context.store.expect(path, holds: ["number": 40])
        },
        StorageCheck("unions from two devices at once all stay", needs: .transforms, .field(.tags)) { context in
            let other = try await context.device()
            let path = context.document("a")
            try await context.store.set(path, ["tags": []])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<10 {
                    let device = index.isMultiple(of: 2) ? context.store : other
                    group.addTask { try await device.update(path, ["tags": .arrayUnion(.string("t\(index)"))]) }
                }
                try await group.waitForAll()
            }
            let tags = try await context.store.read(path)["tags"]?.arrayValue?.compactMap(\.stringValue) ?? []
            try expectEqual(tags.sorted(), (0..<10).map { "t\($0)" }, "the tags")
        },
    ].within("transforms")

    private static func transform(
        _ name: String, from old: DocumentData, _ value: FieldValue, at field: FieldPath, gives result: DocumentValue
    ) -> StorageCheck {
        StorageCheck(name, needs: .transforms) { context in
            let path = context.document("a")
            try await context.store.set(path, WriteFields(old))
            try await context.store.update(path, FieldUpdates([(field, value)]))
            var expected = old
            expected[field] = result
            try await context.store.expect(path, holds: expected)
        }
    }

    private static func openTransform(
        _ name: String, from old: DocumentValue?, _ value: FieldValue, gives result: DocumentValue
    ) -> StorageCheck {
        StorageCheck(name, needs: .transforms, .openTypes) { context in
            let path = context.document("a")
            try await context.store.set(path, WriteFields(old.map { DocumentData([("v", $0)]) } ?? [:]))
            try await context.store.update(path, ["v": value])
            try await context.store.expect(path, holds: ["v": result])
        }
    }

    static let batchChecks: [StorageCheck] = [
        StorageCheck("a batch carries out all of its writes", needs: .batches(of: 4), .mixedBatches) { context in
            let other = try await context.collection("other")
            try await context.store.seed(context.items, ["old": ["text": "x"], "gone": ["text": "x"]])
            var batch = WriteBatch()
            try batch.set(context.document("new"), ["number": 1])
            try batch.update(context.document("old"), ["number": 2])
            try batch.merge(context.document("elsewhere", in: other), ["number": 3])
            batch.delete(context.document("gone"))
            let answer = try await context.store.commit(batch)
            try expectEqual(answer.updateTimes.count, 4, "the number of versions in the answer")
            try await context.store.expect(context.document("new"), holds: ["number": 1])
            try await context.store.expect(context.document("old"), holds: ["text": "x", "number": 2])
            try await context.store.expect(context.document("elsewhere", in: other), holds: ["number": 3])
            try await context.store.expectMissing(context.document("gone"))
        },
        StorageCheck("a batch with one write that fails carries out none", needs: .batches(of: 3), .mixedBatches) {
            context in
            try await context.store.seed(context.items, ["kept": ["text": "x"]])
            var batch = WriteBatch()
            try batch.set(context.document("new"), ["number": 1])
            batch.delete(context.document("kept"))
            try batch.update(context.document("missing"), ["number": 1])
            try await context.store.expectFailure(.notFound, in: "the batch") {
                try await context.store.commit(batch)
            }
            try await context.store.expectMissing(context.document("new"))
            try await context.store.expect(context.document("kept"), holds: ["text": "x"])
        },
        StorageCheck("a batch that would make an existing document carries out none", needs: .batches(of: 2)) {
            context in
            try await context.store.seed(context.items, ["there": ["text": "x"]])
            var batch = WriteBatch()
            try batch.create(context.document("new"), ["number": 1])
            try batch.create(context.document("there"), ["number": 1])
            try await context.store.expectFailure(.alreadyExists, in: "the batch") {
                try await context.store.commit(batch)
            }
            try await context.store.expectMissing(context.document("new"))
        },
        StorageCheck("the writes of a batch take effect in their order", needs: .batches(of: 4), .mixedBatches) {
            context in
            let path = context.document("a")
            var batch = WriteBatch()
            try batch.set(path, ["text": "one", "number": 1])
            batch.delete(path)
            try batch.create(path, ["text": "two"])
            try batch.update(path, ["number": 3])
            try await context.store.commit(batch)
            try await context.store.expect(path, holds: ["text": "two", "number": 3])
        },
        StorageCheck(
            "a batch may transform one document several times", needs: .batches(of: 3), .mixedBatches, .transforms
        ) {
            context in
            let path = context.document("a")
            var batch = WriteBatch()
            try batch.set(path, ["number": 1])
            try batch.update(path, ["number": .increment(10)])
            try batch.update(path, ["number": .increment(100)])
            try await context.store.commit(batch)
            try await context.store.expect(path, holds: ["number": 111])
        },
        StorageCheck("a deletion that must find something holds back the batch", needs: .batches(of: 2), .mixedBatches)
        {
            context in
            let guardPath = context.document("guard")
            let path = context.document("a")
            let deletion = try DocumentWrite.delete(guardPath).requiring(.exists(true))
            try await context.store.expectFailure(.notFound, in: "the batch") {
                try await context.store.commit(try .set(path, ["number": 1]), deletion)
            }
            try await context.store.expectMissing(path)
        },
        StorageCheck("a batch of sets replaces what is there and makes the rest", needs: .batches(of: 3)) { context in
            try await context.store.seed(context.items, ["a": ["text": "old", "number": 1]])
            var batch = WriteBatch()
            try batch.set(context.document("a"), ["number": 2])
            try batch.set(context.document("b"), ["text": "new"])
            try batch.set(context.document("c"), ["text": "new", "number": 3])
            let answer = try await context.store.commit(batch)
            try expectEqual(answer.updateTimes.count, 3, "the number of versions in the answer")
            try await context.store.expect(context.document("a"), holds: ["number": 2])
            try await context.store.expect(context.document("b"), holds: ["text": "new"])
            try await context.store.expect(context.document("c"), holds: ["text": "new", "number": 3])
        },
        StorageCheck("a batch of deletions removes what is there", needs: .batches(of: 3)) { context in
            try await context.store.seed(context.items, ["a": ["number": 1], "b": ["number": 2], "c": ["number": 3]])
            try await context.store.commit(WriteBatch(["a", "c", "missing"].map { .delete(context.document($0)) }))
            try await context.store.expect(Query(in: context.items), gives: ["b"])
        },
        StorageCheck("a batch of a hundred writes is taken whole", needs: .batches(of: 100)) { context in
            var batch = WriteBatch()
            for index in 0..<100 {
                try batch.set(context.document("d\(index)"), ["number": .value(.integer(Int64(index)))])
            }
            try await context.store.commit(batch)
            try expectEqual(try await context.client.count(Query(in: context.items)), 100, "the number of documents")
        },
        StorageCheck("an empty batch is refused") { context in
            try await context.store.expectFailure(.invalidArgument, in: "the empty batch") {
                try await context.client.commit(WriteBatch())
            }
        },
        StorageCheck("a batch above the bound is refused and leaves nothing", needs: .batchBound) { context in
            let most = context.features.capabilities.maximumBatchSize ?? 0
            var batch = WriteBatch()
            for index in 0...most { try batch.set(context.document("d\(index)"), ["number": 1]) }
            let large = batch
            let error = try await context.store.expectFailure(.invalidArgument, in: "the large batch") {
                try await context.client.commit(large)
            }
            try expect(error.message.contains("\(most)"), "the error names the bound", found: error.message)
            try await context.store.expect(Query(in: context.items), gives: [])
        },
        StorageCheck("no one sees half of a batch", needs: .batches(of: 2), .wholeBatches) { context in
            let other = try await context.device()
            let paths = ["a", "b"].map { context.document($0) }
            try await context.store.seed(context.items, ["a": ["number": 0], "b": ["number": 0]])
            let writer = Task {
                for round in 1...15 {
                    var batch = WriteBatch()
                    for path in paths { try batch.set(path, ["number": .value(.integer(Int64(round)))]) }
                    try await context.store.commit(batch)
                }
            }
            defer { writer.cancel() }
            var last: Int64 = 0
            while last < 15 {
                let seen = try await other.results(Query(in: context.items)).documents.map {
                    $0["number"]?.integerValue
                }
                try expectEqual(seen.count, 2, "the number of documents")
                try expectEqual(seen[0], seen[1], "the number in “a”")
                last = seen[0] ?? 0
                // An in-memory client never waits; without this, the writer might never run.
                await Task.yield()
            }
            try await writer.value
        },
    ].within("batches")
}
