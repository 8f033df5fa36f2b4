import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

@Suite struct TransactionTests {
    static let conflict = StorageError(.aborted, "Somebody else was faster.")

    @Test func `Reads are repeatable and guard the writes, unwritten ones as checks`() async throws {
        let storage = ToyStorage(["a/1": ["n": 1], "a/2": ["n": 2]])
        let sum = try await storage.transaction { transaction in
            let both = try await transaction.documents(["a/1", "a/2", "a/1"])
            #expect(both.map { $0["n"] } == [1, 2, 1])
            let missing = try await transaction.document("a/3")
            #expect(!missing.exists)
            try await transaction.set("a/3", ["n": 3])
            try await transaction.update("a/1", ["n": .increment(1)])
            try await transaction.update("a/1", ["m": 0])
            return 3
        }
        #expect(sum == 3)
        let writes = try #require(storage.commits.first?.writes)
        #expect(writes.map(\.path) == ["a/3", "a/1", "a/1", "a/2"])
        #expect(writes[0].precondition == .exists(false))
        #expect(writes[1].precondition == .updateTime(Timestamp(microseconds: 0)))
        #expect(writes[2].precondition == .exists(true))
        #expect(writes[3].operation == .verify)
        #expect(storage.data("a/1") == ["m": 0, "n": 2])
    }

    @Test func `A conflict runs the body again, up to the bound`() async throws {
        let storage = ToyStorage(["a/1": ["n": 1]])
        let runs = Mutex(0)
        try await storage.transaction { transaction in
            let run = runs.withLock { runs in
                runs += 1
                return runs
            }
            let n = try await transaction.document("a/1")["n"]?.integerValue ?? 0
            // Somebody else is faster in the first run.
            if run == 1 { try await storage.updateDocument("a/1", ["n": 10]) }
            try await transaction.update("a/1", ["n": .of(Int(n) + 1)])
        }
        #expect(runs.withLock { $0 } == 2 && storage.data("a/1") == ["n": 11])

        let attempts = Mutex(0)
        let error = await #expect(throws: StorageError.self) {
            try await storage.transaction(TransactionOptions(maximumAttempts: 2)) { transaction in
                attempts.withLock { $0 += 1 }
                _ = try await transaction.document("a/1")
                try await storage.updateDocument("a/1", ["n": .increment(1)])
                try await transaction.update("a/1", ["n": 0])
            }
        }
        #expect(error?.code == .aborted && error?.underlying != nil && attempts.withLock { $0 } == 2)
        await #expect(throws: StorageError.self) {
            try await storage.transaction(TransactionOptions(maximumAttempts: 0)) { _ in }
        }
    }

    @Test(arguments: [
        (StorageError(.unavailable, ""), 1), (StorageError(.deadlineExceeded, ""), 1), (conflict, 2),
        (StorageError(.unauthorized, ""), 1),
    ])
    func `A commit without an answer is never repeated, one that surely failed is`(
        failure: StorageError, runs expected: Int
    ) async throws {
        let storage = ToyStorage(["a/1": ["n": 1]])
        let runs = Mutex(0)
        let result: Result<Void, StorageError>
        do throws(StorageError) {
            try await storage.transaction { transaction in
                let isFirst = runs.withLock { runs in
                    runs += 1
                    return runs == 1
                }
                _ = try await transaction.document("a/1")
                if isFirst { storage.fail(failure) }
                try await transaction.update("a/1", ["n": 2])
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        #expect(runs.withLock { $0 } == expected)
        switch result {
        case .success: #expect(expected == 2 && storage.data("a/1") == ["n": 2])
        case .failure(let error): #expect(error.code == failure.code && storage.data("a/1") == ["n": 1])
        }
    }

    @Test func `Pauses between attempts are taken on the client's clock, grow, and end with the task`() async throws {
        let clock = ManualClock()
        let storage = MockStorageClient(MockBackend(), network: MockNetwork(clock: clock))
        storage.controls.fail(.transactionCommit, times: 3, with: Self.conflict)
        let running = Task {
            try await storage.transaction { transaction in
                _ = try await transaction.document("a/1")
                try await transaction.set("a/1", ["n": 1])
            }
        }
        var pauses: [Duration] = []
        for _ in 0..<3 {
            // The sleeper of the pause before this one left while the hands moved.
            try await eventually("a pause") { clock.sleeperCount == 1 }
            pauses.append(try #require(clock.deadlines.first).offset - clock.now.offset)
            clock.advance(by: pauses[pauses.count - 1])
        }
        try await running.value
        #expect((.milliseconds(25)...(.milliseconds(75))).contains(pauses[0]))
        #expect((.milliseconds(56)...(.milliseconds(169))).contains(pauses[2]))

        storage.controls.fail(.transactionCommit, with: Self.conflict)
        let abandoned = Task {
            try await storage.transaction { transaction in
                _ = try await transaction.document("a/1")
                try await transaction.delete("a/1")
            }
        }
        try await eventually("a pause") { clock.sleeperCount == 1 }
        abandoned.cancel()
        let error = await #expect(throws: StorageError.self) { try await abandoned.value }
        #expect(error?.code == .cancelled)
        #expect(try await storage.document("a/1").exists)
    }

    @Test func `A transaction keeps the bounds of a batch`() async throws {
        var capabilities = StorageCapabilities.all
        capabilities.maximumBatchSize = 3
        let storage = MockStorageClient(MockBackend(), capabilities: capabilities)
        let tooMany = await #expect(throws: StorageError.self) {
            try await storage.transaction { transaction in
                for index in 0..<4 { try await transaction.set(StoragePath(validating: "a/\(index)"), ["n": 1]) }
            }
        }
        #expect(tooMany?.code == .invalidArgument)
        let tooWide = await #expect(throws: StorageError.self) {
            try await storage.transaction { transaction in
                for half in 0..<2 {
                    let fields = WriteFields((0..<251).map { ("f\(half)x\($0)", FieldValue.serverTime) })
                    try await transaction.merge("a/1", fields)
                }
            }
        }
        #expect(tooWide?.code == .invalidArgument)
        #expect(try await storage.count(Query(in: "a")) == 0)
    }

    @Test func `A transaction that neither reads nor writes holds nothing after it, one that does is not rolled back`()
        async throws
    {
        let storage = ToyStorage(["a/1": ["n": 1]])
        #expect(try await storage.transaction { _ in 1 } == 1)
        #expect(storage.rollBacks == 1 && storage.commits.isEmpty)
        _ = try await storage.transaction { try await $0.document("a/1") }
        try await storage.transaction { try await $0.set("a/2", ["n": 2]) }
        #expect(storage.rollBacks == 1 && storage.commits.count == 2)
    }

    @Test func `A read that found no server is tried again`() async throws {
        let storage = ToyStorage(["a/1": ["n": 1]])
        storage.fail(StorageError(.unavailable, ""))
        let n = try await storage.transaction { try await $0.document("a/1")["n"] }
        #expect(n == 1)
    }

    @Test(.timeLimit(.minutes(1)))
    func `A server that wants to be asked much later ends it at once`() async throws {
        let storage = ToyStorage(["a/1": ["n": 1]])
        storage.fail(StorageError(.unavailable, "", retryAfter: .seconds(86_400)))
        let error = await #expect(throws: StorageError.self) {
            try await storage.transaction { try await $0.document("a/1")["n"] }
        }
        #expect(error?.retryAfter == .seconds(86_400))
    }

    @Test func `Mistakes in the body end it at once, and nothing is written`() async throws {
        struct Broken: Error {}
        let storage = ToyStorage(["a/1": ["n": 1]])
        let bodies: [(StorageError.Code, @Sendable (StorageTransaction) async throws -> Void)] = [
            (
                .invalidArgument,
                {
                    try await $0.set("a/2", [:]); _ = try await $0.document("a/1")
                }
            ),
            (
                .notFound,
                {
                    _ = try await $0.document("a/9"); try await $0.update("a/9", ["x": 1])
                }
            ),
            (
                .alreadyExists,
                {
                    _ = try await $0.document("a/1"); try await $0.create("a/1", [:])
                }
            ),
            (
                .aborted,
                {
                    try await $0.delete("a/1"); throw Broken()
                }
            ),
            (
                .cancelled,
                {
                    try await $0.delete("a/1"); throw CancellationError()
                }
            ),
            (
                .failedPrecondition,
                {
                    _ = try await $0.document("a/1")
                    try await $0.add(.delete("a/1").requiring(.updateTime(.distantPast)))
                }
            ),
        ]
        for (code, body) in bodies {
            let runs = Mutex(0)
            let error = await #expect(throws: StorageError.self) {
                try await storage.transaction { transaction in
                    runs.withLock { $0 += 1 }
                    try await body(transaction)
                }
            }
            #expect(error?.code == code)
            #expect(runs.withLock { $0 } == 1)
        }
        #expect(storage.commits.isEmpty && storage.paths == ["a/1"])
    }

    @Test func `An error of the body is in the one that is thrown, which names its type`() async throws {
        struct NotEnough: Error {}
        let storage = ToyStorage(["a/1": ["n": 1]])
        let error = await #expect(throws: StorageError.self) {
            try await storage.transaction { _ in throw NotEnough() }
        }
        #expect(error?.underlying is NotEnough)
        #expect(error?.message.contains("“NotEnough”") == true)
    }
}
