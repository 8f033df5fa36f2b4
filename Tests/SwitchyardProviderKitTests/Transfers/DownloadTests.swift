import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardTestSupport
import Synchronization
import Testing

@Suite struct DownloadTests {
    private func collect(
        _ bench: TransferBench, _ range: Range<Int64>? = nil
    ) async throws -> [UInt8] {
        let server = bench.server
        return try await bench.letTimePass {
            var all: [UInt8] = []
            let stream = bench.manager.bytes(of: server.path, range: range) { server }
            for try await piece in stream { all += piece }
            return all
        }
    }

    @Test func `A stream heals when its connection breaks, and fetches nothing twice`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        let contents = TransferBench.bytes(1000)
        bench.server.put(contents)
        bench.server.fail("open", .cut(after: 250), .cut(after: 0), .refuse(MemoryFileServer.lost), .cut(after: 300))
        #expect(try await collect(bench) == contents)
        #expect(bench.server.calls == ["open 0-", "open 250-", "open 250-", "open 250-", "open 550-"])
    }

    @Test func `A request to wait longer than there is patience ends a download at once`() {
        let now = ContinuousClock.now
        var machine = DownloadMachine(
            TransferPolicy(firstPart: 1, largestPart: 1, wholeLimit: 0), range: nil, now: now)
        var generator = SystemRandomNumberGenerator()
        let action = machine.handle(.failed(Self.slow), now: now, using: &generator)
        if case .fail(let failure) = action {
            #expect(failure.retryAfter == .seconds(86_400))
        } else {
            Issue.record("It waits for a day.")
        }
    }

    @Test func `Each attempt that failed is reported before the pause, and the last is thrown`() async throws {
        let reported = Mutex<[String]>([])
        let caller = RetryingCaller(clock: ContinuousClock(), patience: .seconds(5)) { operation, attempt, _, error in
            reported.withLock { $0.append("\(operation) \(attempt) \(error.code)") }
        }
        let failures = Mutex([FileStorageError(.unavailable, "No network."), FileStorageError(.notFound, "Gone.")])
        let error = await #expect(throws: FileStorageError.self) {
            try await caller("list") { () async throws(FileStorageError) -> Int in
                throw failures.withLock { $0.removeFirst() }
            }
        }
        #expect(error?.code == .notFound)
        #expect(reported.withLock { $0 } == ["list 1 unavailable"])
    }

    @Test(.timeLimit(.minutes(1)))
    func `A request to wait longer than there is patience ends a call at once`() async throws {
        let caller = RetryingCaller(clock: ContinuousClock())
        let error = await #expect(throws: FileStorageError.self) {
            try await caller("call") { () async throws(FileStorageError) -> Int in throw Self.slow }
        }
        #expect(error?.retryAfter == .seconds(86_400))
    }

    private static let slow = FileStorageError(.rateLimited, "Slow.", retryAfter: .seconds(86_400))

    @Test func `A range gives just its bytes, also from a server without ranges`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        let contents = TransferBench.bytes(1000)
        bench.server.put(contents)
        for range in [0..<1, 990..<1000, 990..<5000, 123..<789] as [Range<Int64>] {
            let wanted = Array(contents[Int(range.lowerBound)..<min(Int(range.upperBound), 1000)])
            #expect(try await collect(bench, range) == wanted)
            bench.server.fail("open", .forget)
            #expect(try await collect(bench, range) == wanted)
        }
    }

    @Test func `A range outside of the file is refused, however it is asked for`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.put(TransferBench.bytes(100))
        for range in [100..<101, 101..<101, -1..<5] as [Range<Int64>] {
            for ignoresRanges in [false, true] {
                if ignoresRanges { bench.server.fail("open", .forget) }
                let error = await #expect(throws: FileStorageError.self) { try await collect(bench, range) }
                #expect(error?.code == .rangeNotSatisfiable)
            }
        }
        #expect(try await collect(bench, 100..<100).isEmpty)
    }

    @Test func `An empty file has no bytes`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.put([])
        #expect(try await collect(bench).isEmpty)
    }

    @Test func `A file that is replaced while it is read does not become a mixture`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.put(TransferBench.bytes(1000))
        bench.server.fail("open", .cut(after: 500), .replace(Data(repeating: 1, count: 1000)))
        let error = await #expect(throws: FileStorageError.self) { try await collect(bench) }
        #expect(error?.code == .changed)
    }

    @Test func `A wrong byte is found at the end`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.put(TransferBench.bytes(1000))
        bench.server.fail("open", .corrupt)
        let error = await #expect(throws: FileStorageError.self) { try await collect(bench) }
        #expect(error?.code == .checksumMismatch)
    }

    @Test func `More than the limit is refused before it is read`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.put(TransferBench.bytes(1000))
        let server = bench.server
        func data(limit: Int) async throws -> Data {
            try await bench.manager.data(at: server.path, range: nil, limit: limit, driver: server)
        }
        #expect(try await data(limit: 1000) == Data(TransferBench.bytes(1000)))
        let error = await #expect(throws: FileStorageError.self) { try await data(limit: 999) }
        #expect(error?.code == .tooLarge)
    }

    private func download(_ bench: TransferBench, to file: URL) throws -> FileTransfer<FileMetadata> {
        let server = bench.server
        return try bench.manager.download(server.path, to: file, driver: server) {
            () async throws(FileStorageError) in try server.describe()
        }
    }

    @Test func `A download puts a whole file in its place, whatever happens on the way`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.put(TransferBench.bytes(1000))
        let later = [UInt8](repeating: 9, count: 700)
        bench.server.fail("open", .cut(after: 333), .replace(Data(later)), .cut(after: 600))
        let file = bench.folder.appendingPathComponent("copy")
        try Data("older".utf8).write(to: file)
        let transfer = try download(bench, to: file)
        let metadata = try await bench.letTimePass { try await transfer.result() }
        #expect(metadata.size == 700)
        #expect(try Data(contentsOf: file) == Data(later))
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folder.path) == ["copy"])
    }

    @Test func `A large file is whole although the disk began with it early, also if it starts over`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        let file = bench.folder.appendingPathComponent("film")
        var contents = Data()
        for number in 0..<20 as Range<UInt8> { contents += Data(repeating: number, count: 1 << 20) }
        bench.server.put([UInt8](repeating: 99, count: contents.count))
        // Beyond the first part that goes to the disk early, and within the next.
        bench.server.fail("open", .cut(after: 11 << 20), .replace(contents))
        let transfer = try download(bench, to: file)
        _ = try await bench.letTimePass { try await transfer.result() }
        #expect(try Data(contentsOf: file) == contents)
    }

    @Test func `A download that fails or is cancelled leaves what was there`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        let file = bench.folder.appendingPathComponent("copy")
        try Data("older".utf8).write(to: file)
        bench.server.put(TransferBench.bytes(1000))
        bench.server.fail("open", .corrupt)
        let wrong = await #expect(throws: FileStorageError.self) { try await download(bench, to: file).result() }
        #expect(wrong?.code == .checksumMismatch)
        bench.server.fail("open", .hang)
        let transfer = try download(bench, to: file)
        try await eventually("it has begun") { bench.server.calls.count == 2 }
        await transfer.cancel()
        let cancelled = await #expect(throws: FileStorageError.self) { try await transfer.result() }
        #expect(cancelled?.code == .cancelled)
        #expect(try Data(contentsOf: file) == Data("older".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folder.path) == ["copy"])
    }

    @Test(.timeLimit(.minutes(1))) func `A paused download waits and goes on`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.put(TransferBench.bytes(1000))
        bench.server.fail("open", .hang)
        let file = bench.folder.appendingPathComponent("copy")
        let transfer = try download(bench, to: file)
        await transfer.pause()
        for await progress in transfer.progress where progress.phase == .paused { break }
        await transfer.resume()
        try await eventually("it has begun") { bench.server.calls.count == 1 }
        await bench.manager.shutDown()
        let error = await #expect(throws: FileStorageError.self) { try await transfer.result() }
        #expect(error?.code == .shutDown)
    }

    @Test(.timeLimit(.minutes(1))) func `A paused download makes no attempts, and outlasts any pause`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.put(TransferBench.bytes(1000))
        let lost = MemoryFileServer.Fault.refuse(MemoryFileServer.lost)
        bench.server.fail("open", .cut(after: 250), lost, lost, lost)
        let transfer = try download(bench, to: bench.folder.appendingPathComponent("copy"))
        try await eventually("it waits to try again") { bench.clock.sleeperCount == 1 }
        await transfer.pause()
        let calls = bench.server.calls.count
        bench.clock.advance(by: .seconds(3600))
        for _ in 0..<1000 { await Task.yield() }
        #expect(bench.server.calls.count == calls)
        await transfer.resume()
        #expect(try await bench.letTimePass { try await transfer.result() }.size == 1000)
    }

    @Test(.timeLimit(.minutes(1))) func `What is described in vain while it is paused is asked for again after it`()
        async throws
    {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.put(TransferBench.bytes(1000))
        let (server, asked, goesOn) = (bench.server, Promise<Void>(), Promise<Void>())
        let transfer = try bench.manager.download(
            server.path, to: bench.folder.appendingPathComponent("copy"), driver: server
        ) { () async throws(FileStorageError) in
            guard asked.present == nil else { return try server.describe() }
            asked.resolve(())
            _ = await goesOn.value
            throw MemoryFileServer.lost
        }
        await asked.value
        await transfer.pause()
        goesOn.resolve(())
        await transfer.resume()
        #expect(try await transfer.result().size == 1000)
    }

    @Test func `Whoever takes long over a piece loses no patience for the next`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        let contents = TransferBench.bytes(300)
        let (server, clock) = (bench.server, bench.clock)
        server.put(contents)
        server.fail("open", .cut(after: 100), .refuse(MemoryFileServer.lost), .refuse(MemoryFileServer.lost))
        let all = try await bench.letTimePass {
            var all: [UInt8] = []
            let stream = bench.manager.bytes(of: server.path, range: nil) { server }
            for try await piece in stream {
                if all.isEmpty { clock.advance(by: .seconds(3600)) }
                all += piece
            }
            return all
        }
        #expect(all == contents)
    }

    @Test(.timeLimit(.minutes(1))) func `A download paused as it begins is shown as paused, whoever comes first`()
        async throws
    {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.put(TransferBench.bytes(1000))
        let file = bench.folder.appendingPathComponent("copy")
        for _ in 0..<200 {
            let transfer = try download(bench, to: file)
            await transfer.pause()
            // The run's own beginning may come after the pause: what is shown last is what holds.
            for await progress in transfer.progress where progress.phase == .paused { break }
            await transfer.resume()
            #expect(try await bench.letTimePass { try await transfer.result() }.size == 1000)
        }
    }

    @Test func `There is no download into a folder that is not there`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        let error = #expect(throws: FileStorageError.self) {
            try download(bench, to: bench.folder.appendingPathComponent("no/such/copy"))
        }
        #expect(error?.code == .localFile)
    }

    @Test func `Shutting down ends whoever reads`() async throws {
        let bench = try TransferBench()
        defer { bench.remove() }
        bench.server.put(TransferBench.bytes(1000))
        let server = bench.server
        var iterator = bench.manager.bytes(of: server.path, range: nil, driver: { server }).makeAsyncIterator()
        #expect(try await iterator.next()?.count == 100)
        await bench.manager.shutDown()
        do {
            _ = try await iterator.next()
            Issue.record("The stream goes on.")
        } catch {
            #expect(error.code == .shutDown)
        }
    }
}
