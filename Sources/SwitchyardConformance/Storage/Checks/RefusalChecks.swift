import Switchyard

extension StorageConformance {
    /// A provider refuses undeclared capabilities early and names an alternative.
    static let refusalChecks: [StorageCheck] = [
        refusal(of: .liveStreams, "live streams of documents are refused where they are not declared") { context in
            let probe = context.watch(context.document("a"))
            if let failure = try await probe.end() { throw failure }
        },
        refusal(of: .liveStreams, "live queries are refused where they are not declared") { context in
            let probe = context.watch(Query(in: context.items))
            if let failure = try await probe.end() { throw failure }
        },
        refusal(of: .transactions, "transactions are refused where they are not declared") { context in
            try await context.client.transaction { _ in }
        },
        refusal(of: .collectionGroups, "collection groups are refused where they are not declared") { context in
            _ = try await context.client.documents(Query(group: context.items.id))
        },
        refusal(of: .aggregates, "sums are refused where they are not declared") { context in
            _ = try await context.client.aggregate(Query(in: context.items), [.sum("number")])
        },
        refusal(of: .listCollections, "lists of collections are refused where they are not declared") { context in
            _ = try await context.client.collections(under: context.document("a"))
        },
        refusal(of: .recursiveDelete, "deleting recursively is refused where it is not declared") { context in
            _ = try await context.client.deleteRecursively(context.document("a"))
        },
        refusal(of: .alternatives, "alternatives are refused where they are not declared") { context in
            let filter = Filter.any([.field("number", .equal, 1), .field("text", .equal, "x")])
            _ = try await context.client.documents(Query(in: context.items).where(filter))
        },
        refusal(of: .negations, "negations are refused where they are not declared") { context in
            _ = try await context.client.documents(Query(in: context.items).where("number", .notEqual, 1))
        },
        refusal(of: .negations, "exclusions are refused where they are not declared") { context in
            _ = try await context.client.documents(Query(in: context.items).where("number", .notIn, [1]))
        },
        refusal(of: .versions, "preconditions on versions are refused where they are not declared") { context in
            let write = try DocumentWrite.set(context.document("a"), ["number": 1])
            _ = try await context.store.commit(write.requiring(.updateTime(.at(1))))
        },
        refusal(of: .mixedBatches, and: [.batches(of: 2)], "mixed batches are refused where they are not declared") {
            context in
            var batch = WriteBatch()
            try batch.set(context.document("a"), ["number": 1])
            batch.delete(context.document("b"))
            try await context.store.commit(batch)
        },
        refusal(of: .transforms, "increments are refused where they are not declared") { context in
            try await context.store.merge(context.document("a"), ["number": .increment(1)])
        },
        refusal(of: .openSchema, "collections that were not set up are refused") { context in
            // Nothing to clean up, since the collection cannot be read either.
            let nowhere = context.document("a").collection("nowhere")
            try await context.store.set(context.document("x", in: nowhere), ["text": "x"])
        },
        StorageCheck("values that do not fit their column are refused", needs: .no(.openTypes)) { context in
            let path = context.document("a")
            try await context.store.expectFailure(.unsupported, .invalidArgument, in: "text in a column of numbers") {
                try await context.store.set(path, ["number": "many"])
            }
            try await context.store.expectFailure(.unsupported, .invalidArgument, in: "a field without a column") {
                try await context.store.set(path, ["missingField": 1])
            }
            try await context.store.expectMissing(path)
        },
        refusal(of: .offline, "switching the network off is refused where it is not declared") { context in
            try await context.client.disableNetwork()
        },
        refusal(of: .offline, "switching the network on is refused where it is not declared") { context in
            try await context.client.enableNetwork()
        },
        refusal(of: .offline, "clearing a local store is refused where there is none") { context in
            try await context.client.clearPersistence()
        },
        refusal(of: .offline, "reading from a cache is refused where there is none") { context in
            _ = try await context.client.document(context.document("a"), from: .cache)
        },
        refusal(of: .offline, "reading several documents from a cache is refused where there is none") { context in
            _ = try await context.client.documents([context.document("a")], from: .cache)
        },
        refusal(of: .offline, "querying a cache is refused where there is none") { context in
            _ = try await context.client.documents(Query(in: context.items), from: .cache)
        },
        refusal(
            of: .offline, and: [.liveStreams], "a stream of a document from a cache is refused where there is none"
        ) { context in
            let path = context.document("a")
            try await end(context.watch(context.client.snapshots(of: path, options: ListenOptions(source: .cache))))
        },
        refusal(of: .offline, and: [.liveStreams], "a live query over a cache is refused where there is none") {
            context in
            let query = Query(in: context.items)
            try await end(context.watch(context.client.snapshots(of: query, options: ListenOptions(source: .cache))))
        },
        StorageCheck("without a queue nothing ever waits", needs: .no(.offline)) { context in
            try await context.client.waitForPendingWrites()
            try await context.client.retryPendingWrites()
            try expect(
                try await !context.client.cancelPendingWrite("none"), "there is nothing to take back",
                found: "there was")
            let queue = context.watch(context.client.pendingWrites())
            try expect(try await queue.first("the queue").isEmpty, "it is empty", found: "it is not")
            let refused = context.watch(context.client.refusedWrites())
            try expect(try await refused.first("the list").isEmpty, "it is empty", found: "it is not")
        },
    ].within("refusals")

    /// Throws the failure of a stream. A stream that delivers an element has refused nothing.
    private static func end<Element>(_ probe: StreamProbe<Element>) async throws {
        _ = try? await probe.first("an element or the end")
        guard probe.elements.isEmpty else { return }
        if let failure = try await probe.end() { throw failure }
    }

    private static func refusal(
        of requirement: StorageRequirement, and others: [StorageRequirement] = [], _ name: String,
        _ body: @escaping @Sendable (StorageContext) async throws -> Void
    ) -> StorageCheck {
        StorageCheck(name, needs: [.no(requirement)] + others) { context in
            try await context.store.expectRefusal("the call") { try await body(context) }
        }
    }
}
