import Switchyard

extension StorageConformance {
    static let offlineChecks: [StorageCheck] = [
        StorageCheck("without a network a write returns, shows here, and waits", needs: .offline) { context in
            let other = try await context.device()
            let path = context.document("a")
            try await context.client.disableNetwork()
            let receipt = try await context.client.setDocument(path, ["number": 1])
            let local = try await context.client.document(path, from: .cache)
            try expectEqual(local["number"]?.integerValue, 1, "the number read here")
            try expect(
                local.metadata.hasPendingWrites, "the snapshot says that a write is pending", found: "it does not")
            try await other.expectMissing(path)
            let error = try await context.store.expectFailure(.deadlineExceeded, in: "waiting for the write") {
                try await receipt.acknowledged(within: .milliseconds(1))
            }
            try expect(
                error.message.contains("enableNetwork()"), "the error says what sends the write", found: error.message)
            let queue = context.client.pendingWrites()
            for try await pending in queue {
                let reason = pending.first?.lastError?.message ?? "nothing"
                try expect(reason.contains("enableNetwork()"), "the queue says so too", found: reason)
                break
            }
            try await context.client.enableNetwork()
            try await receipt.acknowledged()
            try await other.expect(path, holds: ["number": 1])
        },
        StorageCheck("waiting writes are sent in their order", needs: .offline) { context in
            let path = context.document("a")
            try await context.client.disableNetwork()
            try await context.client.setDocument(path, ["number": 1, "text": "x"])
            try await context.client.updateDocument(path, ["number": 2])
            try await context.client.mergeDocument(path, ["text": "y"])
            try await context.client.enableNetwork()
            try await context.client.waitForPendingWrites()
            try await context.store.expect(path, holds: ["number": 2, "text": "y"])
        },
        StorageCheck("without a network reads come from the cache", needs: .offline) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            let probe = context.watch(path)
            try await probe.first("the document") { $0.exists && !$0.metadata.isFromCache }
            try await context.client.disableNetwork()
            let snapshot = try await context.client.document(path)
            try expectEqual(snapshot["number"]?.integerValue, 1, "the number")
            try expect(
                snapshot.metadata.isFromCache, "the snapshot says that it comes from the cache", found: "it does not")
            let results = try await context.client.documents(Query(in: context.items))
            try expect(results.metadata.isFromCache, "the results say so too", found: "they do not")
            try await context.client.enableNetwork()
        },
        StorageCheck("a read from the server fails without a network", needs: .offline) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            try await context.client.disableNetwork()
            let error = try await context.store.expectFailure(.unavailable, in: "reading from the server") {
                try await context.client.document(path, from: .server)
            }
            try expect(error.isRetryable, "it is worth a retry", found: "not retryable")
            try await context.client.enableNetwork()
            try await context.store.expect(path, holds: ["number": 1])
        },
        StorageCheck("counting asks the server, and fails without a network", needs: .offline) { context in
            let query = Query(in: context.items)
            try await context.store.seed(context.items, ["a": ["number": 1], "b": ["number": 2]])
            let probe = context.watch(query)
            try await probe.first("both documents") { $0.count == 2 && !$0.metadata.isFromCache }
            try await context.client.disableNetwork()
            let error = try await context.store.expectFailure(.unavailable, in: "counting") {
                try await context.client.count(query)
            }
            try expect(error.isRetryable, "it is worth a retry", found: "not retryable")
            try await context.client.enableNetwork()
            try expectEqual(try await context.client.count(query), 2, "the number of documents")
        },
        StorageCheck("what is not cached cannot be read from the cache", needs: .offline) { context in
            try await context.store.expectFailure(.unavailable, in: "reading from the cache") {
                try await context.client.document(context.document("missing"), from: .cache)
            }
        },
        StorageCheck("a transaction fails without a network", needs: .offline, .transactions) { context in
            try await context.client.disableNetwork()
            let path = context.document("a")
            try await context.store.expectFailure(.unavailable, in: "the transaction") {
                try await context.client.transaction(TransactionOptions(maximumAttempts: 1)) {
                    _ = try await $0.document(path)
                }
            }
            try await context.client.enableNetwork()
        },
        StorageCheck("a query over the cache sees writes that wait", needs: .offline) { context in
            try await context.store.seed(context.items, ["a": ["number": 1], "b": ["number": 2]])
            let probe = context.watch(Query(in: context.items))
            try await probe.first("both documents") { $0.count == 2 && !$0.metadata.isFromCache }
            try await context.client.disableNetwork()
            try await context.client.setDocument(context.document("c"), ["number": 3])
            try await context.client.deleteDocument(context.document("a"))
            let query = Query(in: context.items).where("number", .greaterThan, 0)
            let results = try await context.client.documents(query, from: .cache)
            try expectEqual(results.documents.map(\.id), context.ids("b", "c"), "the results")
            try await context.client.enableNetwork()
            try await context.client.waitForPendingWrites()
            try await context.store.expect(query, gives: ["b", "c"])
        },
        StorageCheck("a stream goes on without a network and catches up after", needs: .offline, .liveStreams) {
            context in
            let other = try await context.device()
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            let probe = context.watch(
                context.client.snapshots(of: path, options: ListenOptions(includesMetadataChanges: true)))
            try await probe.first("the document") { $0.exists && !$0.metadata.isFromCache }
            try await context.client.disableNetwork()
            try await probe.newest("that it comes from the cache now") { $0.metadata.isFromCache }
            try await context.client.setDocument(path, ["number": 2])
            try await probe.newest("the write that waits") {
                $0["number"]?.integerValue == 2 && $0.metadata.hasPendingWrites
            }
            try await context.client.enableNetwork()
            try await probe.newest("the confirmed write") {
                $0["number"]?.integerValue == 2 && !$0.metadata.hasPendingWrites && !$0.metadata.isFromCache
            }
            try await context.client.disableNetwork()
            try await other.set(path, ["number": 3])
            try await context.client.enableNetwork()
            try await probe.newest("what the other device wrote meanwhile") { $0["number"]?.integerValue == 3 }
        },
        StorageCheck(
            "a query's stream catches up with everything that happened meanwhile", needs: .offline, .liveStreams
        ) { context in
            let other = try await context.device()
            try await context.store.seed(context.items, ["a": ["number": 1], "b": ["number": 2], "c": ["number": 3]])
            let probe = context.watch(Query(in: context.items))
            try await probe.first("all three") { $0.count == 3 && !$0.metadata.isFromCache }
            try await context.client.disableNetwork()
            try await other.delete(context.document("a"))
            try await other.set(context.document("b"), ["number": 20])
            try await other.set(context.document("d"), ["number": 4])
            try await context.client.enableNetwork()
            try await probe.newest("the server's state") {
                $0.documents.map(\.id) == context.ids("b", "c", "d") && $0.documents[0]["number"]?.integerValue == 20
            }
            var log = ChangeLog()
            for snapshot in probe.elements { try log.follow(snapshot) }
        },
        StorageCheck("the queue shows what waits, oldest first", needs: .offline) { context in
            try await context.client.disableNetwork()
            let one = try await context.client.setDocument(context.document("a"), ["number": 1])
            let two = try await context.client.setDocument(context.document("b"), ["number": 2])
            let queue = context.watch(context.client.pendingWrites())
            let waiting = try await queue.first("both writes") { $0.count == 2 }
            try expectEqual(waiting.map(\.id), [one.batchID, two.batchID], "the names of the waiting batches")
            try expectEqual(waiting[0].batch.writes.first?.path, context.document("a"), "the first path")
            try await context.client.enableNetwork()
            try await queue.newest("an empty queue") { $0.isEmpty }
        },
        StorageCheck("a waiting write can be taken back", needs: .offline) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            try await context.client.disableNetwork()
            let receipt = try await context.client.setDocument(path, ["number": 2])
            try expect(
                try await context.client.cancelPendingWrite(receipt.batchID), "it is taken back", found: "it is not")
            try expectEqual(
                try await context.client.document(path, from: .cache)["number"]?.integerValue, 1, "the number read here"
            )
            try await context.store.expectFailure(.cancelled, in: "waiting for it") { try await receipt.acknowledged() }
            try await context.client.enableNetwork()
            try await context.store.expect(path, holds: ["number": 1])
            try expect(
                try await !context.client.cancelPendingWrite(receipt.batchID), "a second time it is gone already",
                found: "taken back again")
        },
        StorageCheck("waiting for writes returns at once where none waits", needs: .offline) { context in
            try await context.client.waitForPendingWrites()
            try await context.client.disableNetwork()
            try await context.client.waitForPendingWrites()
            try await context.client.enableNetwork()
        },
        StorageCheck("a refused write is undone here and kept in a list", needs: .offline) { context in
            let path = context.document("a")
            let probe = context.watch(
                context.client.snapshots(of: path, options: ListenOptions(includesMetadataChanges: true)))
            try await probe.first("the missing document") { !$0.exists }
            let refused = context.watch(context.client.refusedWrites())
            try await context.client.disableNetwork()
            let receipt = try await context.client.commit(
                WriteBatch([try .set(path, ["number": 1]).requiring(.exists(true))]))
            try await context.client.enableNetwork()
            try await context.store.expectFailure(.notFound, in: "waiting for it") { try await receipt.acknowledged() }
            let list = try await refused.first("the refused write") { !$0.isEmpty }
            try expectEqual(list[0].id, receipt.batchID, "its name")
            try expectEqual(list[0].error.code, .notFound, "the reason")
            try await probe.newest("the document missing again") { !$0.exists && !$0.metadata.hasPendingWrites }
            try await context.client.resolveRefusedWrite(list[0].id, requeuing: nil)
            try await refused.newest("an empty list") { $0.isEmpty }
        },
        StorageCheck("a refused write can be corrected and queued again", needs: .offline) { context in
            let path = context.document("a")
            try await context.client.disableNetwork()
            let receipt = try await context.client.updateDocument(path, ["number": 1])
            try await context.client.enableNetwork()
            try await context.store.expectFailure(.notFound, in: "waiting for it") { try await receipt.acknowledged() }
            let refused = context.watch(context.client.refusedWrites())
            let list = try await refused.first("the refused write") { !$0.isEmpty }
            try await context.client.resolveRefusedWrite(
                list[0].id, requeuing: WriteBatch([try .set(path, ["number": 1])]))
            try await context.client.waitForPendingWrites()
            try await context.store.expect(path, holds: ["number": 1])
        },
        StorageCheck("increments made without a network all count once", needs: .offline, .transforms) { context in
            let other = try await context.device()
            let path = context.document("a")
            try await context.store.set(path, ["number": 10])
            try await context.client.disableNetwork()
            for _ in 0..<5 { try await context.client.updateDocument(path, ["number": .increment(1)]) }
            try await other.update(path, ["number": .increment(100)])
            try await context.client.enableNetwork()
            try await context.client.waitForPendingWrites()
            try await context.store.expect(path, holds: ["number": 115])
        },
        StorageCheck(
            "a server time that waits is an estimate, and then the server's", needs: .offline, .transforms,
            .field(.moment)
        ) { context in
            let path = context.document("a")
            try await context.client.disableNetwork()
            let receipt = try await context.client.setDocument(path, ["moment": .serverTime])
            let local = try await context.client.document(path, from: .cache)
            try expectEqual(local["moment"]?.timestampValue?.isEstimate, true, "whether it is an estimate")
            try await context.client.enableNetwork()
            try await receipt.acknowledged()
            try expectEqual(
                try await context.store.read(path)["moment"]?.timestampValue?.isEstimate, false,
                "whether it is one still")
        },
        StorageCheck("a listener on the cache alone sees local writes only", needs: .offline, .liveStreams) { context in
            let other = try await context.device()
            let path = context.document("a")
            let probe = context.watch(
                context.client.snapshots(of: Query(in: context.items), options: ListenOptions(source: .cache)))
            try await probe.first("an empty result") { $0.isEmpty }
            try await other.set(context.document("elsewhere"), ["number": 5])
            try await context.client.setDocument(path, ["number": 1])
            try await probe.first("the local write") { $0.documents.map(\.id) == context.ids("a") }
        },
        StorageCheck("the client learns when all listeners have been served", needs: .offline, .liveStreams) {
            context in
            let path = context.document("a")
            let probe = context.watch(path)
            try await probe.first("the missing document")
            let rounds = context.watch(context.client.snapshotsInSync())
            try await context.store.set(path, ["number": 1])
            try await rounds.all("a round") { !$0.isEmpty }
        },
        StorageCheck("switching the network twice the same way does no harm", needs: .offline) { context in
            try await context.client.enableNetwork()
            try await context.client.disableNetwork()
            try await context.client.disableNetwork()
            try await context.client.enableNetwork()
            try await context.client.enableNetwork()
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            try await context.store.expect(path, holds: ["number": 1])
        },
    ].within("offline")
}
