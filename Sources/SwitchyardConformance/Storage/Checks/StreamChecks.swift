import Switchyard

extension StorageConformance {
    /// Streams of a single document.
    static let streamChecks: [StorageCheck] = [
        StorageCheck("a stream begins with the document as it is", needs: .liveStreams) { context in
            let path = context.document("a")
            try await context.store.set(path, ["text": "x"])
            let probe = context.watch(path)
            let first = try await probe.first("the document") { $0.exists && !$0.metadata.isFromCache }
            try context.store.expect(first, holds: ["text": "x"])
            try expectEqual(first.path, path, "the path")
        },
        StorageCheck("a stream begins with a missing document that does not exist", needs: .liveStreams) { context in
            let probe = context.watch(context.document("missing"))
            let first = try await probe.first("the missing document") { !$0.metadata.isFromCache }
            try expect(!first.exists, "it does not exist", found: Readable.text(first))
        },
        StorageCheck("a stream shows the document being made, changed and deleted", needs: .liveStreams) { context in
            let path = context.document("a")
            let probe = context.watch(path)
            try await probe.first("the missing document") { !$0.exists }
            try await context.store.set(path, ["number": 1])
            try await probe.newest("the new document") { $0["number"]?.integerValue == 1 }
            try await context.store.update(path, ["number": 2])
            try await probe.newest("the changed document") { $0["number"]?.integerValue == 2 }
            try await context.store.delete(path)
            try await probe.newest("the deletion") { !$0.exists }
            try await context.store.set(path, ["number": 3])
            try await probe.newest("the document made again") { $0["number"]?.integerValue == 3 }
        },
        StorageCheck("a stream shows what another device writes", needs: .liveStreams) { context in
            let other = try await context.device()
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            let probe = context.watch(path)
            try await probe.first("the document") { $0.exists }
            try await other.set(path, ["number": 2])
            try await probe.newest("the other device's number") { $0["number"]?.integerValue == 2 }
            try await other.delete(path)
            try await probe.newest("the deletion") { !$0.exists }
        },
        StorageCheck("a stream comes to rest on what the server has", needs: .liveStreams) { context in
            let path = context.document("a")
            let probe = context.watch(
                context.client.snapshots(of: path, options: ListenOptions(includesMetadataChanges: true)))
            try await context.store.set(path, ["number": 1])
            try await probe.newest("the document without pending writes") {
                $0["number"]?.integerValue == 1 && !$0.metadata.hasPendingWrites && !$0.metadata.isFromCache
            }
        },
        StorageCheck("a stream that begins after a write was taken shows nothing pending", needs: .liveStreams) {
            context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            let probe = context.watch(
                context.client.snapshots(of: path, options: ListenOptions(includesMetadataChanges: true)))
            try await probe.newest("the document, confirmed") { $0.exists && !$0.metadata.isFromCache }
            let pending = probe.elements.count { $0.metadata.hasPendingWrites }
            try expectEqual(pending, 0, "the number of snapshots with pending writes")
        },
        StorageCheck("a stream shows the result of transforms", needs: .liveStreams, .transforms, .field(.moment)) {
            context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            let probe = context.watch(path)
            try await probe.first("the document") { $0.exists }
            try await context.store.update(path, ["number": .increment(4), "moment": .serverTime])
            try await probe.newest("the sum and the server's time") {
                $0["number"]?.integerValue == 5 && $0["moment"]?.timestampValue?.isEstimate == false
            }
        },
        StorageCheck("quick writes end in the last of them", needs: .liveStreams) { context in
            let path = context.document("a")
            let probe = context.watch(path)
            try await probe.first("the missing document")
            for number in 1...60 {
                try await context.store.set(path, ["number": .value(.integer(Int64(number)))])
            }
            try await probe.newest("the last number") { $0["number"]?.integerValue == 60 }
        },
        StorageCheck("a document never goes back to an older state", needs: .liveStreams) { context in
            let other = try await context.device()
            let path = context.document("a")
            try await context.store.set(path, ["number": 0])
            let probe = context.watch(other.client.snapshots(of: path))
            try await probe.first("the document") { $0.exists }
            for number in 1...40 {
                try await context.store.set(path, ["number": .value(.integer(Int64(number)))])
            }
            try await probe.newest("the last number") { $0["number"]?.integerValue == 40 }
            let seen = probe.elements.compactMap { $0["number"]?.integerValue }
            try expectEqual(seen, seen.sorted(), "the numbers in the order in which they came")
        },
        StorageCheck("increments from two devices end in their sum on both", needs: .liveStreams, .transforms) {
            context in
            let other = try await context.device()
            let path = context.document("a")
            try await context.store.set(path, ["number": 0])
            let probes = [context.watch(path), context.watch(other.client.snapshots(of: path))]
            for probe in probes { try await probe.first("the document") { $0.exists } }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<20 {
                    let device = index.isMultiple(of: 2) ? context.store : other
                    group.addTask { try await device.update(path, ["number": .increment(1)]) }
                }
                try await group.waitForAll()
            }
            for probe in probes { try await probe.newest("the sum") { $0["number"]?.integerValue == 20 } }
        },
        StorageCheck("a second consumer of one stream gets everything too", needs: .liveStreams) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            let stream = context.client.snapshots(of: path)
            let one = context.watch(stream)
            try await one.first("the document") { $0.exists }
            let two = context.watch(stream)
            try await two.first("the document, for the second consumer") { $0.exists }
            try await context.store.set(path, ["number": 2])
            for probe in [one, two] { try await probe.newest("the change") { $0["number"]?.integerValue == 2 } }
        },
        StorageCheck("one consumer's leaving does not disturb the other", needs: .liveStreams) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            let stays = context.watch(path)
            let leaves = context.watch(path)
            for probe in [stays, leaves] { try await probe.first("the document") { $0.exists } }
            await leaves.stop()
            let seen = leaves.elements.count
            try await context.store.set(path, ["number": 2])
            try await stays.newest("the change") { $0["number"]?.integerValue == 2 }
            try expectEqual(leaves.elements.count, seen, "the number of snapshots of the one that left")
        },
        StorageCheck("leaving the loop ends the stream, and another can begin", needs: .liveStreams) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            for round in 1...3 {
                for try await snapshot in context.client.snapshots(of: path) where snapshot.exists {
                    try expectEqual(snapshot["number"]?.integerValue, Int64(round), "the number")
                    break
                }
                try await context.store.set(path, ["number": .value(.integer(Int64(round + 1)))])
            }
        },
        StorageCheck("cancelling the consumer ends the stream without an error", needs: .liveStreams) { context in
            let path = context.document("a")
            let probe = context.watch(path)
            try await probe.first("the missing document")
            await probe.stop()
            let failure = try await probe.end()
            try expect(failure == nil, "the stream ends without an error", found: Readable.text(failure))
        },
        StorageCheck("a cancelled task gets no elements", needs: .liveStreams) { context in
            let path = context.document("a")
            let stream = context.client.snapshots(of: path)
            let task = Task { () -> Int in
                withUnsafeCurrentTask { $0?.cancel() }
                var count = 0
                for try await _ in stream { count += 1 }
                return count
            }
            try expectEqual(try await task.value, 0, "the number of elements")
        },
        StorageCheck("thirty streams at once all see their own document", needs: .liveStreams) { context in
            let paths = (0..<30).map { context.document("d\($0)") }
            let probes = paths.map { context.watch($0) }
            for probe in probes { try await probe.first("the missing document") }
            try await context.store.seed(paths.enumerated().map { ($1, ["number": .integer(Int64($0))]) })
            for (index, probe) in probes.enumerated() {
                try await probe.newest("document \(index)") { $0["number"]?.integerValue == Int64(index) }
            }
        },
        StorageCheck("the stream of documents by its other name is the same", needs: .liveStreams) { context in
            let path = context.document("a")
            try await context.store.set(path, ["text": "x"])
            let probe = context.watch(context.client.snapshots(of: path))
            try await probe.first("the document") { $0["text"]?.stringValue == "x" }
        },
        StorageCheck("nothing happens before somebody listens", needs: .liveStreams) { context in
            let path = context.document("a")
            let stream = context.client.snapshots(of: path)
            try await context.store.set(path, ["number": 1])
            try await context.store.set(path, ["number": 2])
            let probe = context.watch(stream)
            let first = try await probe.first("the document") { $0.exists && !$0.metadata.isFromCache }
            try expectEqual(first["number"]?.integerValue, 2, "the number that comes first")
        },
        StorageCheck("a document that rules forbid ends its stream for good", needs: .liveStreams, .forbiddenDocument) {
            context in
            let path = try await context.harness.forbiddenDocument(in: context.namespace)
            let allowed = context.watch(context.document("a"))
            let probe = context.watch(path)
            let failure = try await probe.end()
            let code = (failure as? StorageError)?.code
            try expect(
                code == .unauthorized || code == .unauthenticated, "the stream fails with unauthorized",
                found: Readable.text(failure))
            try await allowed.first("the other stream's document")
            try await context.store.set(context.document("a"), ["number": 1])
            try await allowed.newest("a change, since the other stream is not disturbed") { $0.exists }
        },
        StorageCheck("a document that rules forbid cannot be read", needs: .forbiddenDocument) { context in
            let path = try await context.harness.forbiddenDocument(in: context.namespace)
            let error = try await context.store.expectFailure(.unauthorized, .unauthenticated, in: "reading it") {
                try await context.store.read(path)
            }
            try expect(!error.isRetryable, "it is not worth a retry", found: "isRetryable")
        },
    ].within("streams")
}
