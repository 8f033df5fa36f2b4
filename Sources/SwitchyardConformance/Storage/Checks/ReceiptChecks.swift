import Switchyard
import SwitchyardBytes

extension StorageConformance {
    static let receiptChecks: [StorageCheck] = [
        StorageCheck("the states of a receipt end with the server's answer") { context in
            let receipt = try await context.client.setDocument(context.document("a"), ["number": 1])
            let states = context.watch(receipt.states)
            let answer = try await receipt.acknowledged()
            try await states.expectEnd(.acknowledged(answer))
            let later = context.watch(receipt.states)
            try await later.expectEnd(.acknowledged(answer))
            try expectEqual(later.elements.count, 1, "the number of states of a write that is over")
        },
        StorageCheck("a write that waits is local, then sent, then acknowledged", needs: .offline) { context in
            try await context.client.disableNetwork()
            let receipt = try await context.client.setDocument(context.document("a"), ["number": 1])
            let states = context.watch(receipt.states)
            try await states.first("the first state")
            try expectEqual(states.elements, [.local], "the states before it is sent")
            try await context.client.enableNetwork()
            try await states.expectEnd(.acknowledged(try await receipt.acknowledged()))
            try expect(states.elements.contains(.sent), "it was sent", found: Readable.text(states.elements))
        },
        StorageCheck("each waiting write has its own states, in the order of the queue", needs: .offline) { context in
            try await context.client.disableNetwork()
            let first = try await context.client.setDocument(context.document("a"), ["number": 1])
            let second = try await context.client.setDocument(context.document("b"), ["number": 2])
            let (one, two) = (context.watch(first.states), context.watch(second.states))
            try expect(first != second, "two receipts differ", found: "they are equal")
            try await context.client.enableNetwork()
            try await context.client.waitForPendingWrites()
            for (states, receipt) in [(one, first), (two, second)] {
                try await states.expectEnd(.acknowledged(try await receipt.acknowledged()))
            }
        },
        StorageCheck("the states of a write that the server rejects end with the reason", needs: .offline) { context in
            try await context.client.disableNetwork()
            let receipt = try await context.client.updateDocument(context.document("missing"), ["number": 1])
            let states = context.watch(receipt.states)
            try await states.first("the first state")
            try await context.client.enableNetwork()
            let error = try await context.store.expectFailure(.notFound, in: "waiting for it") {
                try await receipt.acknowledged()
            }
            try await states.expectEnd(.rejected(error))
        },
        StorageCheck("the states of a write that is taken back end with that, unsent", needs: .offline) { context in
            try await context.client.disableNetwork()
            let receipt = try await context.client.setDocument(context.document("a"), ["number": 1])
            let states = context.watch(receipt.states)
            try await states.first("the first state")
            _ = try await context.client.cancelPendingWrite(receipt.batchID)
            let error = try await context.store.expectFailure(.cancelled, in: "waiting for it") {
                try await receipt.acknowledged()
            }
            try await states.expectEnd(.rejected(error))
            try expectEqual(states.elements.count, 2, "the number of its states")
            try await context.client.enableNetwork()
        },
        StorageCheck("waiting writes that may be merged are one write, and end with one answer", needs: .offline) {
            context in
            let path = context.document("a")
            let typing = context.client.mergingWaitingWrites()
            try await context.client.disableNetwork()
            let first = try await typing.setDocument(path, ["number": 1, "text": "a"])
            let queue = context.watch(context.client.pendingWrites())
            let waiting = try await queue.newest("the first write") { $0.map(\.id) == [first.batchID] }
            let second = try await typing.updateDocument(path, ["number": 2])
            let third = try await typing.mergeDocument(path, ["text": "c"])
            let merged = try await queue.newest("the one write") { $0.map(\.id) == [third.batchID] }
            try expectEqual(merged[0].queuedAt, waiting[0].queuedAt, "since when it waits")
            for (receipt, next) in [(first, second), (second, third)] {
                let states = context.watch(receipt.states)
                _ = try await states.end()
                try expectEqual(states.elements, [.superseded(by: next.batchID)], "the states of an earlier write")
            }
            let local = try await context.client.document(path, from: .cache)
            try expectEqual(local["number"]?.integerValue, 2, "the number read here")
            try expectEqual(local["text"]?.stringValue, "c", "the text read here")
            try await context.client.enableNetwork()
            let answer = try await third.acknowledged()
            for receipt in [first, second] {
                try expectEqual(
                    try await receipt.acknowledged().commitTime, answer.commitTime, "the time of the commit")
            }
            try await context.store.expect(path, holds: ["number": 2, "text": "c"])
        },
        StorageCheck("only neighbours of one document are merged, and only if both may be", needs: .offline) {
            context in
            let path = context.document("a")
            let typing = context.client.mergingWaitingWrites()
            try await context.client.disableNetwork()
            try await context.client.setDocument(path, ["number": 1, "text": "a"])
            try await typing.updateDocument(path, ["number": 2])
            try await typing.setDocument(context.document("b"), ["number": 1, "text": "b"])
            try await typing.updateDocument(path, ["number": 3])
            try await typing.updateDocument(path, ["text": "c"])
            try await context.client.updateDocument(path, ["number": 4])
            try await typing.deleteDocument(context.document("b"))
            let queue = context.watch(context.client.pendingWrites())
            try await queue.newest("six writes") { $0.count == 6 }
            try await context.client.enableNetwork()
            try await context.client.waitForPendingWrites()
            try await context.store.expect(path, holds: ["number": 4, "text": "c"])
            try await context.store.expectMissing(context.document("b"))
        },
        StorageCheck("what a merged write is rejected for, the earlier ones are rejected for", needs: .offline) {
            context in
            let typing = context.client.mergingWaitingWrites()
            try await context.client.disableNetwork()
            let first = try await typing.updateDocument(context.document("missing"), ["number": 1])
            let second = try await typing.updateDocument(context.document("missing"), ["number": 2])
            try await context.client.enableNetwork()
            for receipt in [first, second] {
                try await context.store.expectFailure(.notFound, in: "waiting for it") {
                    try await receipt.acknowledged()
                }
            }
            let refused = context.watch(context.client.refusedWrites())
            try await refused.newest("one rejected write") { $0.map(\.id) == [second.batchID] }
        },
        StorageCheck("the status tells what waits, since when and why", needs: .offline) { context in
            let status = context.watch(context.client.syncStatus())
            try await context.client.disableNetwork()
            try await status.newest("that it is offline") { $0.isOnline == false && $0.pendingCount == 0 }
            let receipt = try await context.client.setDocument(context.document("a"), ["number": 1])
            try await context.client.setDocument(context.document("b"), ["number": 2])
            let waiting = try await status.newest("both writes") { $0.pendingCount == 2 }
            try expectEqual(waiting.oldestPending?.id, receipt.batchID, "the write that waits longest")
            let reason = waiting.firstError?.message ?? "nothing"
            try expect(reason.includes("enableNetwork()"), "the error says what sends it", found: reason)
            try await context.client.enableNetwork()
            let synced = try await status.newest("that all is saved") { $0.pendingCount == 0 && !$0.isWorking }
            try expectEqual(synced.isOnline, true, "whether it is online")
            try expectEqual(synced.firstError, nil, "what is wrong")
            _ = try expectValue(synced.lastSynced, "the time at which the server answered")
        },
        StorageCheck("the status keeps the reason of a rejection until it is resolved", needs: .offline) { context in
            let status = context.watch(context.client.syncStatus())
            let receipt = try await context.client.updateDocument(context.document("missing"), ["number": 1])
            try await context.store.expectFailure(.notFound, in: "waiting for it") { try await receipt.acknowledged() }
            try await status.newest("the reason") { $0.pendingCount == 0 && $0.firstError?.code == .notFound }
            try await context.client.resolveRefusedWrite(receipt.batchID, requeuing: nil)
            try await status.newest("that nothing is wrong") { $0.firstError == nil }
        },
        StorageCheck("the status of a client without a queue has nothing that waits") { context in
            try await context.client.setDocument(context.document("a"), ["number": 1]).acknowledged()
            let status = context.watch(context.client.syncStatus())
            let first = try await status.newest("that nothing waits") { $0.pendingCount == 0 && !$0.isWorking }
            try expectEqual(first.oldestPending, nil, "the oldest write")
            try expectEqual(first.firstError, nil, "what is wrong")
        },
    ].within("receipts")
}

extension StreamProbe<WriteReceipt.State> {
    /// Waits for the end, and expects the only final state to be this one, after those of a write that is under way. Which of
    /// them the probe sees first depends on how far the write is.
    fileprivate func expectEnd(
        _ final: WriteReceipt.State, file: String = #fileID, line: Int = #line
    ) async throws {
        _ = try await end(file: file, line: line)
        try expectEqual(elements.last, final, "the last state", file: file, line: line)
        let before = elements.dropLast()
        try expect(
            before.allSatisfy { $0 == .local || $0 == .sent }
                && zip(before, before.dropFirst()).allSatisfy { $0 != $1 },
            "the states before are local and sent by turns", found: Readable.text(elements), file: file, line: line)
    }
}
