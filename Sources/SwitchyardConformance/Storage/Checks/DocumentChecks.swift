import Switchyard

extension StorageConformance {
    static let documentChecks: [StorageCheck] = [
        StorageCheck("a missing document is no error") { context in
            let snapshot = try await context.client.document(context.document("missing"))
            try expect(!snapshot.exists, "the document does not exist", found: Readable.text(snapshot))
            try expectEqual(snapshot.data, nil, "its data")
            try expectEqual(snapshot.updateTime, nil, "its version")
        },
        StorageCheck("a document that was set is read back") { context in
            let path = context.document("a")
            try await context.store.set(path, ["text": "hello", "number": 1])
            let snapshot = try await context.store.read(path)
            try context.store.expect(snapshot, holds: ["text": "hello", "number": 1])
            try expectEqual(snapshot.path, path, "the snapshot's path")
            try expect(!snapshot.metadata.hasPendingWrites, "no write is pending", found: "some are")
        },
        StorageCheck("setting a document replaces all of it") { context in
            let path = context.document("a")
            try await context.store.set(path, ["text": "old", "number": 1])
            try await context.store.set(path, ["number": 2])
            try await context.store.expect(path, holds: ["number": 2])
        },
        StorageCheck("a later write has a later version and leaves the time of creation", needs: .versions) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            let first = try await context.store.read(path)
            try await context.store.set(path, ["number": 2])
            let second = try await context.store.read(path)
            let old = try expectValue(first.updateTime, "a version")
            let new = try expectValue(second.updateTime, "a version")
            try expect(new > old, "the version rises", found: "\(new.seconds).\(new.nanoseconds)")
            try expectEqual(second.createTime, first.createTime, "the time of creation")
        },
        StorageCheck("reading does not change the version", needs: .versions) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            let first = try await context.store.read(path)
            _ = try await context.store.results(Query(in: context.items))
            try expectEqual(try await context.store.read(path).updateTime, first.updateTime, "the version")
        },
        StorageCheck("the receipt has the version that is then read", needs: .versions) { context in
            let path = context.document("a")
            let answer = try await context.store.commit(.set(path, ["number": 1]))
            try expectEqual(answer.updateTimes.count, 1, "the number of versions for one write")
            guard let version = answer.updateTimes[0] else { return }  // a backend need not return it
            try expectEqual(try await context.store.read(path).updateTime, version, "the version")
        },
        StorageCheck("creating makes a document that is not there") { context in
            let path = context.document("a")
            try await context.store.create(path, ["text": "new"])
            try await context.store.expect(path, holds: ["text": "new"])
        },
        StorageCheck("creating fails where a document is, and leaves it") { context in
            let path = context.document("a")
            try await context.store.set(path, ["text": "first"])
            let error = try await context.store.expectFailure(.alreadyExists, in: "creating it again") {
                try await context.store.create(path, ["text": "second"])
            }
            try expect(!error.isRetryable, "the failure is not worth a retry", found: "isRetryable")
            try await context.store.expect(path, holds: ["text": "first"])
        },
        StorageCheck("deleting removes a document") { context in
            let path = context.document("a")
            try await context.store.set(path, ["text": "x"])
            try await context.store.delete(path)
            try await context.store.expectMissing(path)
            try await context.store.expect(Query(in: context.items), gives: [])
        },
        StorageCheck("deleting what is not there is no error") { context in
            let path = context.document("a")
            try await context.store.delete(path)
            try await context.store.expectMissing(path)
        },
        StorageCheck("a deleted document can be made again") { context in
            let path = context.document("a")
            try await context.store.set(path, ["text": "one", "number": 1])
            try await context.store.delete(path)
            try await context.store.create(path, ["text": "two"])
            try await context.store.expect(path, holds: ["text": "two"])
        },
        StorageCheck("a document made again has a later version than before", needs: .versions) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            let old = try expectValue(try await context.store.read(path).updateTime, "a version")
            try await context.store.delete(path)
            try await context.store.set(path, ["number": 1])
            let new = try expectValue(try await context.store.read(path).updateTime, "a version")
            try expect(new > old, "the version rises", found: "an older one or the same")
        },
        StorageCheck("deleting a document leaves those below it", needs: .openSchema) { context in
            let parent = context.document("parent")
            let notes = try context.collection("notes", below: parent)
            let child = context.document("child", in: notes)
            try await context.store.set(parent, ["text": "p"])
            try await context.store.set(child, ["text": "c"])
            try await context.store.delete(parent)
            try await context.store.expectMissing(parent)
            try await context.store.expect(child, holds: ["text": "c"])
        },
        StorageCheck("documents may lie below one that does not exist", needs: .openSchema) { context in
            let notes = try context.collection("notes", below: context.document("ghost"))
            let child = context.document("child", in: notes)
            try await context.store.set(child, ["text": "c"])
            try await context.store.expect(child, holds: ["text": "c"])
            try await context.store.expect(Query(in: notes), gives: ["child"])
            try await context.store.expect(Query(in: context.items), gives: [])
        },
        StorageCheck("collections are as deep as one likes", needs: .openSchema) { context in
            var collection = context.items
            for level in 0..<6 {
                collection = try context.collection("c\(level)", below: context.document("d", in: collection))
            }
            let path = context.document("bottom", in: collection)
            try await context.store.set(path, ["text": "deep"])
            try await context.store.expect(path, holds: ["text": "deep"])
        },
        StorageCheck("documents of one name in two collections are two") { context in
            let other = try await context.collection("other")
            try await context.store.set(context.document("same"), ["text": "here"])
            try await context.store.set(context.document("same2", in: other), ["text": "there"])
            try await context.store.expect(Query(in: context.items), gives: ["same"])
            try await context.store.expect(Query(in: other), gives: ["same2"])
        },
        StorageCheck("several documents come in the order asked for, missing and repeated ones too") { context in
            try await context.store.seed(context.items, ["a": ["number": 1], "b": ["number": 2]])
            let paths = ["b", "missing", "a", "b"].map { context.document($0) }
            let snapshots = try await context.client.documents(paths)
            try expectEqual(snapshots.map(\.path), paths, "the paths of the snapshots")
            try expectEqual(snapshots.map(\.exists), [true, false, true, true], "which exist")
            try expectEqual(snapshots[2]["number"]?.integerValue, 1, "the number in “a”")
        },
        StorageCheck("asking for no documents gives none") { context in
            let none: [StoragePath] = []
            try expectEqual(try await context.client.documents(none).count, 0, "the number of snapshots")
        },
        StorageCheck("two hundred documents are read at once") { context in
            let documents = (0..<200).map {
                (context.document("d\($0)"), DocumentData([("number", .integer(Int64($0)))]))
            }
            try await context.store.seed(documents)
            let snapshots = try await context.client.documents(documents.map(\.0), from: .server)
            try expectEqual(
                snapshots.map { $0["number"]?.integerValue ?? -1 }, (0..<200).map { Int64($0) }, "the numbers")
        },
        StorageCheck("one device reads what another wrote") { context in
            let other = try await context.device()
            let path = context.document("a")
            try await context.store.set(path, ["text": "from one"])
            try await other.expect(path, holds: ["text": "from one"])
            try await other.set(path, ["text": "from two"])
            try await context.store.expect(path, holds: ["text": "from two"])
        },
        StorageCheck("names that are made up are all different and can be written", needs: .madeUpNames) { context in
            let paths = (0..<50).map { _ in context.client.newDocument(in: context.items) }
            try expectEqual(Set(paths).count, 50, "the number of different names")
            try await context.store.set(paths[0], ["text": "x"])
            try await context.store.expect(paths[0], holds: ["text": "x"])
        },
        StorageCheck("twenty writes at the same time all arrive") { context in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<20 {
                    group.addTask {
                        try await context.store.set(
                            context.document("d\(index)"), ["number": .value(.integer(Int64(index)))])
                    }
                }
                try await group.waitForAll()
            }
            try expectEqual(try await context.client.count(Query(in: context.items)), 20, "the number of documents")
        },
        StorageCheck("a receipt may be asked more than once") { context in
            let path = context.document("a")
            let receipt = try await context.client.setDocument(path, ["text": "x"])
            let first = try await receipt.acknowledged()
            let second = try await receipt.acknowledged()
            try expectEqual(first, second, "the second answer")
            try expect(!receipt.batchID.isEmpty, "the batch has a name", found: "an empty one")
        },
        StorageCheck("everything below a document goes with it", needs: .recursiveDelete, .openSchema) { context in
            let parent = context.document("parent")
            let notes = try context.collection("notes", below: parent)
            let deeper = try context.collection("more", below: context.document("n1", in: notes))
            try await context.store.set(parent, ["text": "p"])
            try await context.store.set(context.document("n1", in: notes), ["text": "n"])
            try await context.store.set(context.document("m1", in: deeper), ["text": "m"])
            try await context.store.set(context.document("parent2"), ["text": "stays"])
            let count = try await context.client.deleteRecursively(parent)
            try expectEqual(count, 3, "the number of documents deleted")
            try await context.store.expectMissing(parent)
            try await context.store.expectMissing(context.document("n1", in: notes))
            try await context.store.expectMissing(context.document("m1", in: deeper))
            try await context.store.expect(context.document("parent2"), holds: ["text": "stays"])
        },
        StorageCheck("the collections below a document are listed by name", needs: .listCollections, .openSchema) {
            context in
            let parent = context.document("parent")
            for name in ["zebra", "apple", "mango"] {
                try await context.store.set(
                    context.document("x", in: context.collection(name, below: parent)), ["number": 1])
            }
            let found = try await context.client.collections(under: parent)
            try expectEqual(found.map(\.id), context.ids("apple", "mango", "zebra"), "the names of the collections")
            try expectEqual(found.first?.parent, parent, "the parent of the first")
        },
        StorageCheck("a document without collections lists none", needs: .listCollections) { context in
            let path = context.document("a")
            try await context.store.set(path, ["text": "x"])
            try expectEqual(try await context.client.collections(under: path).count, 0, "the number of collections")
        },
        StorageCheck("the collections at the top are listed", needs: .listCollections) { context in
            try await context.store.set(context.document("a"), ["text": "x"])
            let top = try await context.client.collections(under: nil)
            let own = context.items.segments[0]
            try expect(top.contains { $0.rawValue == own }, "“\(own)” is listed", found: "\(top.map(\.rawValue))")
        },
    ].within("documents")
}
