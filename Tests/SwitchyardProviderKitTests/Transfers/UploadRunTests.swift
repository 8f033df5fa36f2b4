import Foundation
import Switchyard
import SwitchyardProviderKit
import SwitchyardTestSupport
import Synchronization
import Testing

/// A manager with parts of 10 to 80 bytes, a folder, and a server in memory.
struct TransferBench {
    let server: MemoryFileServer
    let folder: URL
    let clock = ManualClock()
    let manager: TransferManager
    private let wholeLimit: Int64

    init(_ server: MemoryFileServer = MemoryFileServer(), wholeLimit: Int64 = 0) throws {
        self.server = server
        self.wholeLimit = wholeLimit
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("transfer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        manager = Self.manager(folder, clock, wholeLimit)
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    var uploads: URL { folder.appendingPathComponent("uploads") }

    private static func manager(_ folder: URL, _ clock: ManualClock, _ wholeLimit: Int64) -> TransferManager {
        TransferManager(
            TransferPolicy(firstPart: 10, largestPart: 80, largestStreamPart: 40, wholeLimit: wholeLimit),
            records: UploadRecords(folder: folder.appendingPathComponent("uploads")),
            tries: RetryingCaller(clock: clock),
            now: { Timestamp(clampingSeconds: 1000, nanoseconds: 0) })
    }

    /// As after a restart of the process.
    func restarted() -> TransferManager { Self.manager(folder, clock, wholeLimit) }

    func file(_ contents: [UInt8], name: String = "source") throws -> URL {
        let file = folder.appendingPathComponent(name)
        try Data(contents).write(to: file)
        return file
    }

    func upload(
        _ source: UploadSource, on manager: TransferManager? = nil, of owner: String = UploadSession.noUser
    ) throws -> FileTransfer<FileMetadata> {
        try (manager ?? self.manager).upload(
            UploadContent(source), to: server.path, UploadOptions(), of: owner, driver: server)
    }

    static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 * 31 + $0 / 7) } }

    /// Runs `body` while the hands of the clock are moved whenever somebody sleeps.
    func letTimePass<Result: Sendable>(
        by step: Duration = .seconds(70), _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let clock = clock
        let hands = Task {
            while !Task.isCancelled {
                if clock.sleeperCount > 0 { clock.advance(by: step) }
                // No one says when a transfer falls asleep, and it may never do so again.
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        defer { hands.cancel() }
        return try await body()
    }
}

@Suite struct UploadRunTests {
    @Test func `Data, files and streams arrive whole`() async throws {
        let contents = TransferBench.bytes(555)
        for kind in 0..<3 {
            let bench = try TransferBench(MemoryFileServer(granularity: 10))
            defer { bench.remove() }
            let file = try bench.file(contents)
            let source: UploadSource =
                switch kind {
                case 0: .data(Data(contents))
                case 1: .file(file)
                default: .stream(length: nil) { Chunks(contents, size: 33) }
                }
            let stored = try await bench.upload(source).result()
            #expect(stored.size == 555)
            #expect(bench.server.contents == contents)
        }
    }

    @Test func `Contents that fit are sent in one request, also from a stream`() async throws {
        for source: UploadSource in [
            .data(Data([1, 2, 3])), .stream(length: nil) { Chunks([1, 2, 3], size: 1) }, .data(Data()),
        ] {
            let bench = try TransferBench(wholeLimit: 50)
            defer { bench.remove() }
            _ = try await bench.upload(source).result()
            #expect(bench.server.calls.count == 1)
            #expect(bench.server.calls[0].hasPrefix("store"))
        }
    }

    @Test func `A stream is drawn no faster than it is sent`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.fail("send", .hang)
        let chunks = Chunks(TransferBench.bytes(10_000), size: 10)
        let transfer = try bench.upload(.stream(length: nil) { chunks })
        try await eventually("the first part is being sent") { bench.server.calls.contains { $0.hasPrefix("send") } }
        #expect(chunks.drawn < 10)
        await transfer.cancel()
    }

    @Test func `Lost answers, cut parts and refused connections change nothing`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        let contents = TransferBench.bytes(400)
        bench.server.fail("begin", .refuse(MemoryFileServer.lost), .loseAnswer)
        bench.server.fail("send", .loseAnswer, .cut(after: 7), .refuse(MemoryFileServer.lost), .cut(after: 0))
        bench.server.fail("ask", .refuse(MemoryFileServer.lost))
        let transfer = try bench.upload(.stream(length: 400) { Chunks(contents, size: 19) })
        let seen = Mutex<[Int64]>([])
        let watching = Task {
            for await progress in transfer.progress { seen.withLock { $0.append(progress.completedBytes) } }
        }
        let stored = try await bench.letTimePass { try await transfer.result() }
        #expect(stored.size == 400)
        #expect(bench.server.contents == contents)
        await watching.value
        let steps = seen.withLock { $0 }
        #expect(steps == steps.sorted())
        #expect(steps.last == 400)
    }

    @Test func `The answer to the last part is asked for when it was lost`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.fail("send", .loseAnswer)
        _ = try await bench.letTimePass { try await bench.upload(.data(Data([1, 2, 3]))).result() }
        #expect(bench.server.calls == ["begin 3", "send 0+3 last", "ask"])
    }

    @Test func `A corrupted byte is found, and nothing of it passes for a success`() async throws {
        for wholeLimit in [0, 50] as [Int64] {
            let bench = try TransferBench(wholeLimit: wholeLimit)
            defer { bench.remove() }
            bench.server.fail(wholeLimit == 0 ? "send" : "store", .corrupt)
            let error = await #expect(throws: FileStorageError.self) {
                try await bench.upload(.data(Data([1, 2, 3]))).result()
            }
            #expect(error?.code == .checksumMismatch)
        }
    }

    @Test func `A forgotten session restarts with what can be produced again`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.fail("send", .loseAnswer)
        bench.server.fail("ask", .forget)
        let contents = TransferBench.bytes(100)
        _ = try await bench.letTimePass { try await bench.upload(.data(Data(contents))).result() }
        #expect(bench.server.contents == contents)
        #expect(bench.server.calls.filter { $0.hasPrefix("begin") }.count == 2)
    }

    @Test func `A paused upload sends nothing, and goes on where the server is`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.fail("send", .hang)
        let contents = TransferBench.bytes(100)
        let transfer = try bench.upload(.data(Data(contents)))
        try await eventually("a part is under way") { bench.server.calls.count == 2 }
        await transfer.pause()
        for await progress in transfer.progress where progress.phase == .paused { break }
        let calls = bench.server.calls.count
        await transfer.resume()
        _ = try await transfer.result()
        #expect(calls == 2)
        #expect(bench.server.calls[2] == "ask")
        #expect(bench.server.contents == contents)
    }

    @Test func `A cancelled upload leaves nothing, here and there`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.fail("send", .hang)
        let transfer = try bench.upload(.file(bench.file(TransferBench.bytes(100))))
        try await eventually("a part is under way") { bench.server.calls.count == 2 }
        await transfer.cancel()
        let error = await #expect(throws: FileStorageError.self) { try await transfer.result() }
        #expect(error?.code == .cancelled)
        #expect(bench.server.sessionCount == 0)
        #expect(try bench.restarted().interruptedUploads(of: "").isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.uploads.path).isEmpty)
    }

    @Test func `Whoever stops waiting cancels it`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.fail("begin", .hang)
        let transfer = try bench.upload(.data(Data([1])))
        let waiting = Task { try await transfer.result() }
        waiting.cancel()
        let error = await #expect(throws: FileStorageError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `A file that is touched while it goes is not stored as something else`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        let file = try bench.file(TransferBench.bytes(100))
        // The first repetition follows at once, the second after a pause.
        bench.server.fail("send", .refuse(MemoryFileServer.lost), .refuse(MemoryFileServer.lost))
        let transfer = try bench.upload(.file(file))
        try await eventually("it waits to try again") { bench.clock.sleeperCount == 1 }
        try Data(repeating: 1, count: 99).write(to: file)
        let error = await #expect(throws: FileStorageError.self) {
            try await bench.letTimePass { try await transfer.result() }
        }
        #expect(error?.code == .changed)
        #expect(bench.server.contents == nil)
    }

    @Test func `A stream that is longer or shorter than it said, or fails, leaves nothing`() async throws {
        struct Burst: Error {}
        let sources: [(UploadSource, FileStorageError.Code)] = [
            (.stream(length: 50) { Chunks(TransferBench.bytes(49), size: 7) }, .changed),
            (.stream(length: 50) { Chunks(TransferBench.bytes(51), size: 7) }, .changed),
            (.stream(length: 50) { Chunks(TransferBench.bytes(20), size: 7, failure: Burst()) }, .localFile),
        ]
        for (source, code) in sources {
            let bench = try TransferBench()
            defer { bench.remove() }
            let error = await #expect(throws: FileStorageError.self) { try await bench.upload(source).result() }
            #expect(error?.code == code)
            #expect(error?.isRetryable == false)
            #expect(bench.server.contents == nil)
            #expect(bench.server.sessionCount == 0)
        }
    }

    @Test func `It gives up after long, and what is noted down can go on`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        let contents = TransferBench.bytes(100)
        for _ in 0..<200 { bench.server.fail("ask", .refuse(MemoryFileServer.lost)) }
        bench.server.fail("send", .loseAnswer)
        let transfer = try bench.upload(.file(bench.file(contents)))
        let error = await #expect(throws: FileStorageError.self) {
            try await bench.letTimePass { try await transfer.result() }
        }
        #expect(error?.code == .unavailable)
        #expect(try bench.manager.interruptedUploads(of: "").count == 1)
    }

    @Test func `Progress says why nothing gets through, until something does`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.fail("send", .refuse(MemoryFileServer.lost), .refuse(MemoryFileServer.lost))
        let transfer = try bench.upload(.data(Data(TransferBench.bytes(100))))
        let progress = Task { () -> [TransferProgress] in
            var all: [TransferProgress] = []
            for await state in transfer.progress { all.append(state) }
            return all
        }
        for await state in transfer.progress where state.lastError != nil {
            #expect(state.lastError?.code == .unavailable && state.completedBytes == 0)
            #expect(state.description.contains("0 of 100 bytes (0 %), last attempt failed (unavailable): "))
            break
        }
        _ = try await bench.letTimePass { try await transfer.result() }
        let states = await progress.value
        #expect(states.allSatisfy { $0.lastError == nil || $0.completedBytes == 0 })
        #expect(states.last?.phase == .finished && states.last?.lastError == nil)
    }

    /// Half a minute for whoever only waits, ten minutes else, unless somebody said so.
    @Test(arguments: [
        (false, Duration?.none, Duration.seconds(600)), (true, nil, .seconds(30)), (true, .seconds(90), .seconds(90)),
        (false, .seconds(5), .seconds(5)),
    ])
    func `An upload is tried as long as its owner has patience`(isAwaited: Bool, said: Duration?, expected: Duration)
        async throws
    {
        let bench = try TransferBench()
        defer { bench.remove() }
        for _ in 0..<300 { bench.server.fail("begin", .refuse(MemoryFileServer.lost)) }
        var options = UploadOptions(patience: said)
        options.isAwaited = isAwaited
        let start = bench.clock.now
        let transfer = try bench.manager.upload(
            UploadContent(.data(Data("x".utf8))), to: bench.server.path, options, of: "", driver: bench.server)
        let error = await #expect(throws: FileStorageError.self) {
            try await bench.letTimePass(by: .seconds(1)) { try await transfer.result() }
        }
        #expect(error?.code == .unavailable)
        let took = start.duration(to: bench.clock.now)
        #expect(took >= expected && took < expected + .seconds(80), "\(took)")
    }
}

/// A sequence of pieces that counts how many were taken.
struct Chunks: AsyncSequence, Sendable {
    typealias Element = Data
    typealias Failure = any Error

    private let contents: [UInt8]
    private let size: Int
    private let failure: (any Error)?
    private final class Count: Sendable { let value = Mutex(0) }
    private let count = Count()

    init(_ contents: [UInt8], size: Int, failure: (any Error)? = nil) {
        self.contents = contents
        self.size = size
        self.failure = failure
    }

    var drawn: Int { count.value.withLock { $0 } }

    struct AsyncIterator: AsyncIteratorProtocol {
        let chunks: Chunks
        var position = 0

        mutating func next() async throws -> Data? {
            guard position < chunks.contents.count else {
                if let failure = chunks.failure { throw failure }
                return nil
            }
            chunks.count.value.withLock { $0 += 1 }
            let end = Swift.min(position + chunks.size, chunks.contents.count)
            defer { position = end }
            return Data(chunks.contents[position..<end])
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: self) }
}
