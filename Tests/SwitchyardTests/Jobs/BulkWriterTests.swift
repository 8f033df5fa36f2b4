import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

/// Very many writes, some of which no one wants, to a server that is busy now and then.
@Suite struct BulkWriterTests {
    private let backend = MockBackend()

    private func client() -> MockStorageClient {
        MockStorageClient(backend, network: MockNetwork(clock: ImpatientClock()))
    }

    private static func writes(_ count: Int) throws -> [DocumentWrite] {
        try (0..<count).map { try .set("items/\($0)", ["n": .of($0)]) }
    }

    @Test func `All are written, in batches of the size that was asked for`() async throws {
        var options = BulkOptions()
        options.batchSize = 70
        let reported = Mutex<[StoragePath]>([])
        let report = try await client().writeInBulk(Self.writes(1000), options: options) { result in
            reported.withLock { $0.append(result.write.path) }
        }
        #expect(report.written == 1000 && report.failed == 0 && report.retries == 0)
        #expect(Set(reported.withLock { $0 }).count == 1000 && reported.withLock { $0.count } == 1000)
        #expect(backend.documentCount == 1000)
    }

    @Test func `Writes that are refused are found out, and take no others with them`() async throws {
        try backend.seed((0..<1000).filter { $0 % 137 == 0 }.map { ("items/\($0)" as StoragePath, ["n": -1]) })
        let writes = try (0..<1000).map { try DocumentWrite.create("items/\($0)", ["n": .of($0)]) }
        var options = BulkOptions()
        options.batchSize = 250
        let report = try await client().writeInBulk(writes, options: options)
        let refused = Set((0..<1000).filter { $0 % 137 == 0 }.map { "items/\($0)" })
        #expect(report.written == 1000 - refused.count && report.failed == refused.count)
        #expect(Set(report.failures.map(\.write.path.rawValue)) == refused)
        for failure in report.failures {
            guard case .failure(let error) = failure.outcome else { continue }
            #expect(error.code == .alreadyExists)
        }
        #expect(report.description == "992 written, 8 failed, 0 batches tried again")
    }

    @Test func `Writes of one document stay in their order, however many batches there are`() async throws {
        var writes: [DocumentWrite] = []
        for round in 0..<50 {
            for number in 0..<7 { writes.append(try .set("items/\(number)", ["round": .of(round)])) }
            writes.append(try .merge("items/0", ["sum": .increment(1)]))
        }
        var options = BulkOptions()
        options.batchSize = 10
        let report = try await client().writeInBulk(writes, options: options)
        #expect(report.written == writes.count)
        let client = client()
        for number in 1..<7 { #expect(try await client.document("items/\(number)")["round"] == 49) }
    }

    @Test func `An overloaded server is asked again, and a lost answer does nothing twice`() async throws {
        let client = client()
        client.controls.fail(.commit, times: 3, with: StorageError(.resourceExhausted, "Busy.", isRetryable: true))
        let report = try await client.writeInBulk(
            Self.writes(300).map { $0 } + [try .merge("sum/a", ["n": .increment(1)])])
        #expect(report.failed == 0 && report.retries == 3)
        #expect(try await client.document("sum/a")["n"] == 1)
    }

    /// Every commit takes effect, but the first answers cannot be read.
    private struct UnreadableAnswers: CallInterceptor {
        final class Count: Sendable {
            let left: Mutex<Int>
            init(_ count: Int) { left = Mutex(count) }
        }
        let count: Count
        init(_ count: Int) { self.count = Count(count) }

        func call<Result, Failure: ClientError>(
            _ call: ClientCall, _ body: () async throws(Failure) -> Result
        ) async throws(Failure) -> Result {
            let result = try await body()
            let isUnreadable = count.left.withLock { left in
                left -= 1
                return left >= 0
            }
            guard call.operation == "commit", isUnreadable else { return result }
            throw Failure(.unknown, "The answer could not be read.", isRetryable: false)
        }
    }

    @Test func `Writes that count are sent once, whatever becomes of the answer`() async throws {
        let client = client()
        let increments = try (0..<16).map { try DocumentWrite.merge("sums/\($0)", ["n": .increment(1)]) }
        let report = try await client.intercepted(by: UnreadableAnswers(100)).writeInBulk(increments)
        #expect(report.written == 0 && report.failed == 16)
        for failure in report.failures {
            guard case .failure(let error) = failure.outcome else { continue }
            #expect(error.message.hasPrefix("It is not known whether the write took effect") && !error.isRetryable)
        }
        for number in 0..<16 { #expect(try await client.document("sums/\(number)")["n"] == 1) }
    }

    @Test func `What does no harm twice is sent again, beside what would`() async throws {
        let client = client()
        var writes = try Self.writes(8)
        writes += try (0..<8).map { try DocumentWrite.merge("sums/\($0)", ["n": .increment(1)]) }
        writes.append(try .create("items/new", ["n": 1]))
        let report = try await client.intercepted(by: UnreadableAnswers(1)).writeInBulk(writes.shuffled())
        #expect(report.written == 8 && report.failed == 9)
        #expect(Set(report.failures.map(\.write.path.collection.rawValue)) == ["sums", "items"])
        for number in 0..<8 { #expect(try await client.document("sums/\(number)")["n"] == 1) }
    }

    @Test func `A lost answer that is worth another attempt brings no increment twice`() async throws {
        let client = client()
        client.controls.fail(.commit, times: 1, with: StorageError(.unavailable, "Gone."))
        let report = try await client.writeInBulk(
            Self.writes(20) + [try .merge("sum/a", ["n": .increment(1)])])
        #expect(report.written == 20 && report.failed == 1 && report.retries == 1)
        #expect(report.failures.map(\.write.path) == ["sum/a"])
    }

    @Test func `A batch that no server would take is found out before it is sent`() async throws {
        let client = client()
        var writes = try (0..<9).map { try DocumentWrite.merge("sums/\($0)", ["n": .increment(1)]) }
        writes.insert(DocumentWrite.delete("sums/\("__odd__")"), at: 4)
        let report = try await client.writeInBulk(writes)
        #expect(report.written == 9 && report.failures.map(\.write.path.id) == ["__odd__"])
    }

    @Test func `A server that stays busy is given up after so many attempts, with the reason`() async throws {
        let client = client()
        client.controls.fail(.commit, times: 1000, with: StorageError(.resourceExhausted, "Busy.", isRetryable: true))
        var options = BulkOptions()
        options.attempts = 4
        let report = try await client.writeInBulk(Self.writes(150), options: options)
        #expect(report.written == 0 && report.failed == 150 && report.retries == 3)
        #expect(report.failures.count == 100)
    }

    @Test func `A key that is not taken ends the whole`() async throws {
        let client = client()
        client.controls.fail(.commit, times: 1, with: StorageError(.unauthenticated, "No."))
        let error = await #expect(throws: StorageError.self) { try await client.writeInBulk(Self.writes(2000)) }
        #expect(error?.code == .unauthenticated)
    }

    @Test func `A sequence is read no further than there is room, and its failure is thrown`() async throws {
        struct Broken: Error {}
        let taken = Mutex(0)
        let writes = AsyncThrowingStream<DocumentWrite, any Error> {
            let number = taken.withLock { taken in
                taken += 1
                return taken
            }
            if number > 1200 { throw Broken() }
            return try .set("items/\(number)", ["n": .of(number)])
        }
        await #expect(throws: Broken.self) { try await client().writeInBulk(writes) }
        #expect(taken.withLock { $0 } == 1201)
        #expect(backend.documentCount >= 500)
    }

    @Test func `A cancelled run ends, and what was reported stays`() async throws {
        let reported = Mutex(0)
        let client = client()
        let run = Task {
            try await client.writeInBulk(Self.writes(100_000)) { _ in reported.withLock { $0 += 1 } }
        }
        try await eventually("some are written") { reported.withLock { $0 } > 500 }
        run.cancel()
        await #expect(throws: (any Error).self) { try await run.value }
        #expect(backend.documentCount >= reported.withLock { $0 })
        #expect(backend.documentCount < 100_000)
    }
}
