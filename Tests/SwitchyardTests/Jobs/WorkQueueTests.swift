import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

/// Jobs that are claimed, done, given back and given up, by workers that may die.
@Suite struct WorkQueueTests {
    struct Mail: Codable, Sendable, Hashable {
        var to: String
        var number = 0
    }

    private struct Broken: Error, CustomStringConvertible { let description = "the server is full" }

    /// What bodies leave behind.
    private final class Box<Value: Sendable>: Sendable {
        let value: Mutex<Value>
        init(_ value: Value) { self.value = Mutex(value) }
    }

    private let backend = MockBackend()
    private let clock = MovedClock()

    private func queue(_ change: (inout WorkQueueOptions) -> Void = { _ in }) -> WorkQueue<Mail> {
        var options = WorkQueueOptions()
        change(&options)
        // To whole microseconds, as it goes on.
        clock.advance(0)
        let clock = clock
        return WorkQueue("mails", on: MockStorageClient(backend), of: Mail.self, options: options) { clock.now }
    }

    // MARK: One at a time

    @Test func `A job is claimed by one, finished and gone`() async throws {
        let queue = queue()
        let id = try await queue.add(Mail(to: "alice"))
        let jobs = try await queue.claim(upTo: 5)
        #expect(jobs.map(\.id) == [id] && jobs[0].payload == Mail(to: "alice") && jobs[0].attempt == 1)
        #expect(try await queue.claim().isEmpty)
        #expect(try await queue.count() == 1)
        try await queue.finish(jobs[0])
        #expect(try await queue.count() == 0)
        #expect(backend.documentCount == 0)
    }

    @Test func `A job with a name is there once, and a delayed one is not due before its time`() async throws {
        let queue = queue()
        #expect(try await queue.add(Mail(to: "alice"), id: "welcome", after: .seconds(60)) == "welcome")
        #expect(try await queue.add(Mail(to: "bob"), id: "welcome") == "welcome")
        #expect(try await queue.claim().isEmpty)
        clock.advance(60)
        #expect(try await queue.claim().map(\.payload.to) == ["alice"])
    }

    @Test func `A lease that has ended is somebody else's, and its former holder gets that error`() async throws {
        let queue = queue()
        try await queue.add(Mail(to: "alice"))
        let first = try #require(try await queue.claim().first)
        clock.advance(59)
        let longer = try await queue.extend(first)
        #expect(longer.leaseEnd == clock.now.advanced(by: .seconds(60)))
        clock.advance(59)
        #expect(try await queue.claim().isEmpty)
        clock.advance(2)
        let second = try #require(try await queue.claim().first)
        #expect(second.attempt == 2)
        let calls: [@Sendable () async throws -> Void] = [
            { try await queue.finish(longer) }, { _ = try await queue.extend(longer) },
            { try await queue.fail(longer, because: "x") },
        ]
        for call in calls {
            let error = await #expect(throws: StorageError.self) { try await call() }
            #expect(
                error?.code == .aborted && error?.message.contains("lease of the job “\(first.id)” was lost") == true)
        }
        try await queue.finish(second)
        #expect(try await queue.count() == 0)
    }

    @Test func `A failed job waits longer each time, and is given up after its attempts`() async throws {
        let queue = queue { $0.attempts = 3 }
        let id = try await queue.add(Mail(to: "alice"))
        for pause in [5, 10] as [Int64] {
            let job = try #require(try await queue.claim().first)
            try await queue.fail(job, because: "no route")
            clock.advance(pause - 1)
            #expect(try await queue.claim().isEmpty)
            clock.advance(1)
        }
        let last = try #require(try await queue.claim().first)
        #expect(last.attempt == 3)
        try await queue.fail(last, because: "still no route")
        #expect(try await queue.count() == 0)
        let dead = try await queue.deadLetters()
        #expect(dead.map(\.id) == [id] && dead[0].payload == Mail(to: "alice") && dead[0].attempts == 3)
        #expect(dead[0].reason == "still no route" && dead[0].diedAt == clock.now)
        try await queue.requeueDeadLetter(id)
        #expect(try await queue.deadLetters().isEmpty)
        #expect(try await queue.claim().first?.attempt == 1)
        let missing = await #expect(throws: StorageError.self) { try await queue.requeueDeadLetter("missing") }
        #expect(missing?.code == .notFound)
    }

    @Test func `A job of which its workers die again and again is given up as well`() async throws {
        let queue = queue { $0.attempts = 2 }
        try await queue.add(Mail(to: "alice"))
        for _ in 0..<2 {
            #expect(try await queue.claim().count == 1)
            clock.advance(61)
        }
        #expect(try await queue.claim().isEmpty)
        #expect(try await queue.deadLetters().first?.reason.contains("ended without a result") == true)
    }

    @Test func `A payload that does not fit any more is a dead letter, and stops no one`() async throws {
        let queue = queue()
        try await MockStorageClient(backend).setDocument(
            "mails/odd", ["payload": ["to": 7], "attempts": 0, "availableAt": .value(.timestamp(clock.now))])
        try await queue.add(Mail(to: "alice"))
        #expect(try await queue.claim(upTo: 2).map(\.payload.to) == ["alice"])
        let dead = try #require(try await queue.deadLetters().first)
        #expect(dead.id == "odd" && dead.payload == nil && dead.reason.contains("payload.to"))
    }

    // MARK: Failures

    private func queue(on client: MockStorageClient) -> WorkQueue<Mail> {
        WorkQueue("mails", on: client, of: Mail.self, now: { [clock] in clock.now })
    }

    @Test func `What was claimed before a failure is handed out, and the failure only without any`() async throws {
        let client = MockStorageClient(backend)
        let queue = queue(on: client)
        for number in 0..<3 { try await queue.add(Mail(to: "alice", number: number)) }
        client.controls.fail(.transactionCommit, onCall: 2, with: StorageError(.unavailable, "Gone."))
        let first = try await queue.claim(upTo: 3)
        #expect(first.count == 1 && first[0].attempt == 1)
        client.controls.fail(.transactionCommit, with: StorageError(.unavailable, "Gone."))
        let error = await #expect(throws: StorageError.self) { try await queue.claim(upTo: 3) }
        #expect(error?.code == .unavailable)
        #expect(try await queue.claim(upTo: 3).map(\.attempt) == [1, 1])
    }

    @Test func `A job is not taken for added where a precondition of another kind fails`() async throws {
        let client = MockStorageClient(backend)
        let queue = queue(on: client)
        let missing = StorageError(.failedPrecondition, "The database lacks the functions.")
        client.controls.fail(.commit, with: missing)
        let error = await #expect(throws: StorageError.self) { try await queue.add(Mail(to: "alice"), id: "welcome") }
        #expect(error?.code == .failedPrecondition)
        #expect(try await queue.count() == 0)
        try await queue.add(Mail(to: "alice"), id: "welcome")
        // Some servers say so of a document that exists.
        client.controls.fail(.commit, with: missing)
        #expect(try await queue.add(Mail(to: "bob"), id: "welcome") == "welcome")
        client.controls.fail(.transactionRead, with: missing)
        let claiming = await #expect(throws: StorageError.self) { try await queue.claim() }
        #expect(claiming?.code == .failedPrecondition, "no worker waits in silence")
        #expect(try await queue.claim().map(\.payload.to) == ["alice"])
    }

    @Test func `A dead letter does not take the place of a job of its name`() async throws {
        let queue = queue { $0.attempts = 1 }
        try await queue.add(Mail(to: "old"), id: "welcome")
        try await queue.fail(try #require(try await queue.claim().first), because: "no route")
        try await queue.add(Mail(to: "new"), id: "welcome")
        let job = try #require(try await queue.claim().first)
        let error = await #expect(throws: StorageError.self) { try await queue.requeueDeadLetter("welcome") }
        #expect(error?.code == .alreadyExists && error?.message.contains("waits or runs") == true)
        #expect(try await queue.deadLetters().map(\.payload?.to) == ["old"])
        try await queue.finish(job)
        try await queue.requeueDeadLetter("welcome")
        #expect(try await queue.claim().map(\.payload.to) == ["old"])
    }

    @Test func `No number is too large`() async throws {
        let queue = queue {
            $0.firstPause = .seconds(Int64.max)
            $0.attempts = .max
        }
        for (name, attempts) in ["most": Int64.max, "least": .min] {
            let time = clock.now
            try await MockStorageClient(backend).setDocument(
                "mails/\(name)",
                [
                    "payload": ["to": "x", "number": 1], "attempts": .of(attempts),
                    "availableAt": .value(.timestamp(time)),
                ])
        }
        let jobs = try await queue.claim(upTo: .max)
        #expect(jobs.count == 2 && jobs.allSatisfy { $0.attempt >= 1 })
        for job in jobs { try await queue.fail(job, because: "too many") }
    }

    // MARK: Workers

    @Test(.timeLimit(.minutes(2)))
    func `A worker whose lease cannot be extended has stopped when another one begins`() async throws {
        var options = WorkQueueOptions()
        (options.lease, options.pollInterval) = (.milliseconds(600), .milliseconds(20))
        let network = MockNetwork()
        let cutOff = WorkQueue(
            "mails", on: MockStorageClient(backend, network: network), of: Mail.self, options: options)
        let other = WorkQueue("mails", on: MockStorageClient(backend), of: Mail.self, options: options)
        try await cutOff.add(Mail(to: "alice"))
        let log = Box<[String]>([])
        let first = Task {
            try await cutOff.run { _ in
                log.value.withLock { $0.append("first begins") }
                // From now on no call ends.
                network.latency = .seconds(3600)
                try? await Task.sleep(for: .seconds(3600))
                log.value.withLock { $0.append("first ends") }
            }
        }
        try await eventually("the first has begun") { log.value.withLock { !$0.isEmpty } }
        let second = Task { try await other.run { _ in log.value.withLock { $0.append("second begins") } } }
        try await eventually("the second has done it") { try await other.count() == 0 }
        #expect(log.value.withLock { $0 } == ["first begins", "first ends", "second begins"])
        for worker in [first, second] {
            worker.cancel()
            try await worker.value
        }
    }

    #if os(Linux)
        /// The memory that the process uses.
        private static func residentBytes() throws -> Int {
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            return (pages.count > 1 ? Int(pages[1]) ?? 0 : 0) * 4096
        }

        @Test(.timeLimit(.minutes(2)))
        func `A worker keeps nothing of the jobs that are done`() async throws {
            // The system keeps a cancelled pause until its end.
            var options = WorkQueueOptions()
            (options.lease, options.pollInterval) = (.seconds(1), .milliseconds(100))
            let queue = WorkQueue("mails", on: MockStorageClient(backend), of: Mail.self, options: options)
            let done = Box(0)
            let worker = Task { try await queue.run(parallel: 8) { _ in done.value.withLock { $0 += 1 } } }
            var sizes: [Int] = []
            var count = 0
            // The mock keeps something of each document's name, and of some thousand commits.
            for _ in 1...3 {
                for _ in 0..<RunSize.full(50, part: 15) {
                    for number in 0..<80 { try await queue.add(Mail(to: "x"), id: "job-\(number)") }
                    count += 80
                    try await eventually("all are done") {
                        let left = try await queue.count()
                        return done.value.withLock { $0 } == count && left == 0
                    }
                }
                sizes.append(try Self.residentBytes())
            }
            worker.cancel()
            try await worker.value
            #expect(sizes[2] - sizes[1] < 4 << 20, "\(sizes)")
        }
    #endif

    @Test(.timeLimit(.minutes(2)))
    func `Many workers do each of many jobs once, those that are added meanwhile too`() async throws {
        let queues = (0..<4).map { _ in
            WorkQueue("mails", on: MockStorageClient(backend), of: Mail.self)
        }
        for number in 0..<100 { try await queues[0].add(Mail(to: "x", number: number)) }
        let done = Box<[Int]>([])
        let workers = queues.map { queue in
            Task { try await queue.run(parallel: 3) { job in done.value.withLock { $0.append(job.payload.number) } } }
        }
        for number in 100..<200 { try await queues[1].add(Mail(to: "x", number: number)) }
        try await eventually("all are done") { done.value.withLock { $0.count } >= 200 }
        try await eventually("the queue is empty") { try await queues[0].count() == 0 }
        for worker in workers { worker.cancel() }
        for worker in workers { try await worker.value }
        #expect(done.value.withLock { $0.sorted() } == Array(0..<200))
        #expect(try await queues[0].deadLetters().isEmpty)
    }

    @Test(.timeLimit(.minutes(2)))
    func `A failure of the body is the reason with which the job is tried again`() async throws {
        var options = WorkQueueOptions()
        (options.firstPause, options.attempts) = (.zero, 3)
        let queue = WorkQueue("mails", on: MockStorageClient(backend), of: Mail.self, options: options)
        try await queue.add(Mail(to: "alice"))
        let attempts = Box<[Int]>([])
        let worker = Task {
            try await queue.run { job in
                attempts.value.withLock { $0.append(job.attempt) }
                throw Broken()
            }
        }
        try await eventually("it is given up") { try await !queue.deadLetters().isEmpty }
        worker.cancel()
        try await worker.value
        #expect(attempts.value.withLock { $0 } == [1, 2, 3])
        #expect(try await queue.deadLetters().first?.reason == "the server is full")
    }

    @Test(.timeLimit(.minutes(2)))
    func `A lease is extended while the work takes longer than it`() async throws {
        var options = WorkQueueOptions()
        options.lease = .milliseconds(300)
        let queue = WorkQueue("mails", on: MockStorageClient(backend), of: Mail.self, options: options)
        try await queue.add(Mail(to: "alice"))
        let begun = Box(0)
        let gate = Promise<Void>()
        let workers = (0..<2).map { _ in
            Task {
                try await queue.run { _ in
                    begun.value.withLock { $0 += 1 }
                    _ = await gate.value
                }
            }
        }
        let path = try #require(
            try await MockStorageClient(backend).documents(Query(in: "mails")).documents.first?.path)
        var ends: Set<DocumentValue> = []
        try await eventually("the lease was extended several times") {
            if let end = try await MockStorageClient(backend).document(path)["availableAt"] { ends.insert(end) }
            return ends.count > 5
        }
        gate.resolve(())
        try await eventually("it is done") { try await queue.count() == 0 }
        for worker in workers { worker.cancel() }
        for worker in workers { try await worker.value }
        #expect(begun.value.withLock { $0 } == 1)
    }

    @Test(.timeLimit(.minutes(2)))
    func `A worker that is stopped gives back what it has begun`() async throws {
        let queue = WorkQueue("mails", on: MockStorageClient(backend), of: Mail.self)
        try await queue.add(Mail(to: "alice"))
        let begun = Box(false)
        let worker = Task {
            try await queue.run { _ in
                begun.value.withLock { $0 = true }
                try await Task.sleep(for: .seconds(3600))
            }
        }
        try await eventually("it is begun") { begun.value.withLock { $0 } }
        worker.cancel()
        try await worker.value
        #expect(try await queue.claim().map(\.attempt) == [1])
    }

    @Test func `Without a key a worker ends, and says why`() async throws {
        let client = MockStorageClient(backend)
        client.controls.fail(.query, times: 1, with: StorageError(.unauthenticated, "No key."))
        let queue = WorkQueue("mails", on: client, of: Mail.self)
        let error = await #expect(throws: StorageError.self) { try await queue.run { _ in } }
        #expect(error?.code == .unauthenticated)
    }
}
