import Switchyard
import Synchronization

extension StorageConformance {
    static let transactionChecks: [StorageCheck] = [
        StorageCheck("a transaction writes what it worked out from what it read", needs: .transactions) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 20])
            let result = try await context.client.transaction { transaction in
                let number = try await transaction.document(path)["number"]?.integerValue ?? 0
                try await transaction.update(path, ["number": .value(.integer(number + 1))])
                return number
            }
            try expectEqual(result, 20, "the result of the closure")
            try await context.store.expect(path, holds: ["number": 21])
        },
        StorageCheck("a transaction that only reads gives what is there", needs: .transactions, .mixedBatches) {
            context in
            try await context.store.seed(context.items, ["a": ["number": 1], "b": ["number": 2]])
            let paths = ["b", "a", "missing"].map { context.document($0) }
            let numbers = try await context.client.transaction { transaction in
                try await transaction.documents(paths).map { $0["number"]?.integerValue }
            }
            try expectEqual(numbers, [2, 1, nil], "the numbers")
        },
        StorageCheck("a transaction that does nothing succeeds", needs: .transactions) { context in
            try expectEqual(try await context.client.transaction { _ in 5 }, 5, "the result of the closure")
        },
        StorageCheck(
            "a transaction sets, merges, creates and deletes, all at once", needs: .transactions, .mixedBatches
        ) {
            context in
            let paths = ["a", "b", "c", "d"].map { context.document($0) }
            try await context.store.seed([(paths[1], ["text": "x", "number": 1]), (paths[3], ["text": "gone"])])
            try await context.client.transaction { transaction in
                _ = try await transaction.documents(paths)
                try await transaction.set(paths[0], ["number": 10])
                try await transaction.merge(paths[1], ["number": 20])
                try await transaction.create(paths[2], ["number": 30])
                try await transaction.delete(paths[3])
            }
            try await context.store.expect(paths[0], holds: ["number": 10])
            try await context.store.expect(paths[1], holds: ["text": "x", "number": 20])
            try await context.store.expect(paths[2], holds: ["number": 30])
            try await context.store.expectMissing(paths[3])
        },
        StorageCheck("a transaction may write without reading", needs: .transactions) { context in
            let path = context.document("a")
            try await context.client.transaction { try await $0.set(path, ["number": 1]) }
            try await context.store.expect(path, holds: ["number": 1])
        },
        StorageCheck("a transaction transforms", needs: .transactions, .transforms) { context in
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            try await context.client.transaction { transaction in
                _ = try await transaction.document(path)
                try await transaction.update(path, ["number": .increment(5)])
            }
            try await context.store.expect(path, holds: ["number": 6])
        },
        StorageCheck("no one sees a transaction before its end", needs: .transactions) { context in
            let other = try await context.device()
            let path = context.document("a")
            try await context.client.transaction { transaction in
                try await transaction.set(path, ["number": 1])
                try await other.expectMissing(path)
            }
            try await other.expect(path, holds: ["number": 1])
        },
        StorageCheck("a transaction whose closure fails writes nothing", needs: .transactions) { context in
            let path = context.document("a")
            let error = try await context.store.expectFailure(.aborted, in: "the transaction") {
                try await context.client.transaction { transaction in
                    try await transaction.set(path, ["number": 1])
                    throw GaveUp()
                }
            }
            try expect(
                error.underlying is GaveUp, "the closure's error is kept", found: Readable.text(error.underlying))
            try expect(!error.isRetryable, "it is not worth a retry", found: "isRetryable")
            try await context.store.expectMissing(path)
        },
        StorageCheck("a storage error of the closure comes out as it is, after one attempt", needs: .transactions) {
            context in
            let attempts = Counter()
            try await context.store.expectFailure(.notFound, in: "the transaction") {
                try await context.client.transaction { _ in
                    attempts.add()
                    throw StorageError(.notFound, "There is no such thing.")
                }
            }
            try expectEqual(attempts.value, 1, "the number of attempts")
        },
        StorageCheck("reading after writing is refused", needs: .transactions) { context in
            let path = context.document("a")
            try await context.store.expectFailure(.invalidArgument, in: "the transaction") {
                try await context.client.transaction { transaction in
                    try await transaction.set(path, ["number": 1])
                    _ = try await transaction.document(path)
                }
            }
            try await context.store.expectMissing(path)
        },
        StorageCheck("updating what was read as missing fails at once", needs: .transactions) { context in
            let path = context.document("a")
            let attempts = Counter()
            try await context.store.expectFailure(.notFound, in: "the transaction") {
                try await context.client.transaction { transaction in
                    attempts.add()
                    _ = try await transaction.document(path)
                    try await transaction.update(path, ["number": 1])
                }
            }
            try expectEqual(attempts.value, 1, "the number of attempts")
        },
        StorageCheck(
            "a document that was read and is changed meanwhile makes for a second attempt", needs: .transactions
        ) { context in
            let other = try await context.device()
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            let attempts = Counter()
            try await context.client.transaction { transaction in
                let number = try await transaction.document(path)["number"]?.integerValue ?? 0
                if attempts.add() == 1 { try await other.set(path, ["number": 100]) }
                try await transaction.update(path, ["number": .value(.integer(number + 1))])
            }
            try expectEqual(attempts.value, 2, "the number of attempts")
            try await context.store.expect(path, holds: ["number": 101])
        },
        StorageCheck(
            "a document that was only read and is changed meanwhile counts too", needs: .transactions, .mixedBatches
        ) { context in
            let other = try await context.device()
            let source = context.document("source")
            let target = context.document("target")
            try await context.store.set(source, ["number": 1])
            let attempts = Counter()
            try await context.client.transaction { transaction in
                let number = try await transaction.document(source)["number"]?.integerValue ?? 0
                if attempts.add() == 1 { try await other.set(source, ["number": 7]) }
                try await transaction.set(target, ["number": .value(.integer(number))])
            }
            try expectEqual(attempts.value, 2, "the number of attempts")
            try await context.store.expect(target, holds: ["number": 7])
        },
        StorageCheck("a document that was read as missing and is made meanwhile counts too", needs: .transactions) {
            context in
            let other = try await context.device()
            let path = context.document("a")
            let attempts = Counter()
            try await context.client.transaction { transaction in
                let number = try await transaction.document(path)["number"]?.integerValue ?? 0
                if attempts.add() == 1 { try await other.set(path, ["number": 5]) }
                try await transaction.set(path, ["number": .value(.integer(number + 1))])
            }
            try expectEqual(attempts.value, 2, "the number of attempts")
            try await context.store.expect(path, holds: ["number": 6])
        },
        StorageCheck("a document that was read and is deleted meanwhile counts too", needs: .transactions) { context in
            let other = try await context.device()
            let path = context.document("a")
            try await context.store.set(path, ["number": 5])
            let attempts = Counter()
            try await context.client.transaction { transaction in
                let found = try await transaction.document(path).exists
                if attempts.add() == 1 { try await other.delete(path) }
                try await transaction.set(path, ["text": .of(found ? "was there" : "was gone")])
            }
            try expectEqual(attempts.value, 2, "the number of attempts")
            try await context.store.expect(path, holds: ["text": "was gone"])
        },
        StorageCheck("a transaction that never succeeds ends after its attempts", needs: .transactions) { context in
            let other = try await context.device()
            let path = context.document("a")
            try await context.store.set(path, ["number": 0])
            let attempts = Counter()
            try await context.store.expectFailure(.aborted, .failedPrecondition, in: "the transaction") {
                try await context.client.transaction(TransactionOptions(maximumAttempts: 3)) { transaction in
                    _ = try await transaction.document(path)
                    let attempt = attempts.add()
                    try await other.set(path, ["number": .value(.integer(Int64(attempt)))])
                    try await transaction.set(path, ["number": -1])
                }
            }
            try expectEqual(attempts.value, 3, "the number of attempts")
            try await context.store.expect(path, holds: ["number": 3])
        },
        StorageCheck("a transaction of no attempts is refused", needs: .transactions) { context in
            try await context.store.expectFailure(.invalidArgument, in: "the transaction") {
                try await context.client.transaction(TransactionOptions(maximumAttempts: 0)) { _ in }
            }
        },
        StorageCheck(
            "transactions of two devices on one counter all count", needs: .transactions, deadline: .seconds(90)
        ) { context in
            let other = try await context.device()
            let path = context.document("counter")
            try await context.store.set(path, ["number": 0])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<4 {
                    let client = index.isMultiple(of: 2) ? context.client : other.client
                    group.addTask {
                        for _ in 0..<5 {
                            try await client.transaction(TransactionOptions(maximumAttempts: 40)) { transaction in
                                let number = try await transaction.document(path)["number"]?.integerValue ?? 0
                                try await transaction.update(path, ["number": .value(.integer(number + 1))])
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await context.store.expect(path, holds: ["number": 20])
        },
        StorageCheck(
            "money moved back and forth between accounts is never lost", needs: .transactions, .mixedBatches,
            deadline: .seconds(90)
        ) { context in
            let other = try await context.device()
            let accounts = ["a", "b", "c"].map { context.document($0) }
            try await context.store.seed(accounts.map { ($0, ["number": 100]) })
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<9 {
                    let client = index.isMultiple(of: 2) ? context.client : other.client
                    let (from, to) = (accounts[index % 3], accounts[(index + 1 + index / 3 % 2) % 3])
                    group.addTask {
                        try await client.transaction(TransactionOptions(maximumAttempts: 40)) { transaction in
                            let balances = try await transaction.documents([from, to]).map {
                                $0["number"]?.integerValue ?? 0
                            }
                            try await transaction.update(from, ["number": .value(.integer(balances[0] - 10))])
                            try await transaction.update(to, ["number": .value(.integer(balances[1] + 10))])
                        }
                    }
                }
                try await group.waitForAll()
            }
            let total = try await context.store.results(Query(in: context.items)).documents
                .reduce(0) { $0 + ($1["number"]?.integerValue ?? 0) }
            try expectEqual(total, 300, "the sum of all accounts")
        },
        StorageCheck("an abandoned transaction holds no one up", needs: .transactions) { context in
            let other = try await context.device()
            let path = context.document("a")
            try await context.store.set(path, ["number": 1])
            try await context.store.expectFailure(.aborted, in: "the transaction") {
                try await context.client.transaction { transaction in
                    _ = try await transaction.document(path)
                    throw GaveUp()
                }
            }
            try await other.set(path, ["number": 2])
            try await context.store.expect(path, holds: ["number": 2])
        },
    ].within("transactions")
}

/// An error thrown by a transaction's closure, unrelated to storage.
private struct GaveUp: Error {}

/// A number that several tasks increment.
final class Counter: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }

    /// - Returns: The incremented number.
    @discardableResult
    func add() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
