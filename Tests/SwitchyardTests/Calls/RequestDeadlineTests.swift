import Foundation
import SwitchyardBytes
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import Switchyard

/// What a server hands down to the calls that it makes for a request: how long they may take, and which request it is.
@Suite struct RequestDeadlineTests {
    /// A storage whose calls take an hour of a clock that no one moves on.
    private static func endless() -> (storage: any StorageClient, mock: MockStorageClient, clock: ManualClock) {
        let clock = ManualClock()
        let network = MockNetwork(clock: clock)
        let mock = MockStorageClient(MockBackend(), network: network)
        network.latency = .seconds(3600)
        return (mock.with(CallPolicy(.storage, { .mock }, hasDeadline: true)), mock, clock)
    }

    private final class Noted<Value: Sendable>: Sendable {
        private let values = Mutex<[Value]>([])
        var all: [Value] { values.withLock { $0 } }
        func note(_ value: Value) { values.withLock { $0.append(value) } }
    }

    private static let soon: Duration = .milliseconds(50)

    /// What calls throw that a deadline ends. On a busy machine a request can be late before its first call begins: the next one
    /// has more time then.
    private static func late<Value>(
        unless isTooEarly: () -> Bool = { false }, _ body: () async throws -> Value
    ) async -> StorageError? {
        var (time, error) = (soon, StorageError?.none)
        repeat {
            do {
                _ = try await withRequest(deadline: .now + time) { try await body() }
                Issue.record("it ended in time")
            } catch let failure as StorageError {
                error = failure
            } catch {
                Issue.record(error)
            }
            time *= 4
        } while time < .seconds(60) && (isTooEarly() || error?.message.contains("Nothing was done") == true)
        return error
    }

    /// A storage whose clock no one moves on: a pause never ends.
    private static func pausing() -> any StorageClient {
        MockStorageClient(MockBackend(), network: MockNetwork(clock: ManualClock())).with(
            CallPolicy(.storage, { .mock }, hasDeadline: true))
    }

    private static func error<Value>(
        after deadline: Duration, _ body: () async throws -> Value
    ) async throws -> StorageError? {
        await #expect(throws: StorageError.self) {
            _ = try await withRequest(deadline: .now + deadline) { try await body() }
        }
    }

    private static let writes = (0..<2000).map { try? DocumentWrite.set("items/\($0)", ["n": 1]) }.compactMap(\.self)

    @Test(.timeLimit(.minutes(1))) func `A bulk write ends with the request, without a pause`() async throws {
        let storage = Self.pausing()
        let late = try await Self.error(after: .seconds(-1)) { try await storage.writeInBulk(Self.writes) }
        #expect(late?.code == .deadlineExceeded)
        #expect(try await storage.document("items/0").exists == false)
        // The rate allows the second batch after more time than the request has.
        var options = BulkOptions()
        options.rampFrom = 1
        let paced = try await Self.error(after: .seconds(20)) { [options] in
            try await storage.writeInBulk(Self.writes, options: options)
        }
        #expect(paced?.code == .deadlineExceeded && paced?.message.contains("before the bulk write can go on") == true)
        let mock = MockStorageClient(MockBackend(), network: MockNetwork(clock: ManualClock()))
        mock.controls.fail(
            .commit, times: 100, with: StorageError(.resourceExhausted, "Busy.", retryAfter: .seconds(60)))
        let busy = try await Self.error(after: .seconds(20)) { try await mock.writeInBulk(Self.writes) }
        #expect(busy?.code == .deadlineExceeded)
    }

    @Test(.timeLimit(.minutes(1))) func `Nothing is tried again after the deadline`() async throws {
        let storage = Self.pausing()
        let transaction = try await Self.error(after: .seconds(-1)) {
            try await storage.transaction { _ = try await $0.document("a/1") }
        }
        #expect(transaction?.code == .deadlineExceeded)
        let retrying = try await Self.error(after: .seconds(-1)) {
            try await storage.retrying(.standard, clock: ManualClock()).document("a/1", from: .server)
        }
        #expect(retrying?.code == .deadlineExceeded)
    }

    @Test func `A call that is under way at the deadline is cancelled, and says what it was`() async throws {
        let (storage, _, clock) = Self.endless()
        let reading = await Self.late { try await storage.document("a/1", from: .server) }
        #expect(reading?.code == .deadlineExceeded && reading?.isRetryable == true)
        let text = try #require(reading?.message)
        #expect(text.contains("document") && text.contains("mock") && !text.contains("may have taken effect"))
        let counting = await Self.late {
            try await storage.transaction { _ = try await $0.document("a/1") }
        }
        #expect(counting?.code == .deadlineExceeded)
        #expect(counting?.message.contains("may have taken effect") == true)
        #expect(clock.sleeperCount == 0, "nothing goes on in the background")
    }

    @Test func `After the deadline nothing is asked any more`() async throws {
        let mock = MockStorageClient(MockBackend(), network: MockNetwork())
        mock.controls.isRecording = true
        let storage = mock.with(CallPolicy(.storage, { .mock }, hasDeadline: true))
        await withRequest(deadline: .now - .seconds(1)) {
            let error = await #expect(throws: StorageError.self) { try await storage.setDocument("a/1", [:]) }
            #expect(error?.code == .deadlineExceeded && error?.message.contains("Nothing was done") == true)
        }
        #expect(mock.controls.calls.isEmpty)
        try await withRequest(deadline: .now + .seconds(600)) { _ = try await storage.setDocument("a/1", ["n": 1]) }
        #expect(try await storage.document("a/1")["n"] == 1)
    }

    @Test func `Cancelled callers get that error, not of a deadline`() async throws {
        let (storage, _, clock) = Self.endless()
        let call = Task {
            try await withRequest(deadline: .now + .seconds(600)) {
                try await storage.document("a/1", from: .server)
            }
        }
        try await eventually("the call is under way") { clock.sleeperCount == 1 }
        call.cancel()
        let error = await #expect(throws: StorageError.self) { try await call.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `Pauses between attempts end with the deadline, and so does a call of a domain client`() async throws {
        let mock = MockStorageClient(MockBackend(), network: MockNetwork())
        let clock = ManualClock()
        let storage = mock.retrying(clock: clock).with(CallPolicy(.storage, { .mock }, hasDeadline: true))
        mock.controls.failAny(times: 100, with: StorageError(.unavailable, "Down."))
        let error = await Self.late { try await storage.document("a/1", from: .server) }
        #expect(error?.code == .deadlineExceeded && clock.sleeperCount == 0)

        let (late, _, _) = Self.endless()
        let auth = MockAuthClient(MockBackend())
        try await auth.signInAnonymously()
        let users = DocumentUserClient(on: CoreClients(auth: auth, storage: late))
        let failure = await #expect(throws: UserError.self) {
            try await withRequest(deadline: .now + Self.soon) { try await users.currentUser() }
        }
        #expect(failure?.code == .networkError && (failure?.underlying as? StorageError)?.code == .deadlineExceeded)
    }

    /// Yields without a pause, until it is cancelled.
    private static func busy() -> SnapshotStream<Int, StorageError> {
        SnapshotStream { continuation in
            let task = Task.detached {
                var number = 0
                while !Task.isCancelled {
                    number += 1
                    continuation.yield(number)
                    await Task.yield()
                }
                continuation.finish()
            }
            return { task.cancel() }
        }
    }

    @Test func `A busy stream ends with an error at the deadline, every time`() async throws {
        for run in 1...60 {
            let error = await #expect(throws: StorageError.self, "run \(run)") {
                try await withRequest(deadline: .now + .milliseconds(5)) {
                    for try await _ in Self.busy().guarded("snapshots") {}
                }
            }
            #expect(error?.code == .deadlineExceeded)
        }
    }

    @Test func `A stream keeps its request's deadline after a switch`() async throws {
        let board = Switchboard<any StorageClient>(
            MockStorageClient(MockBackend()).with(CallPolicy(.storage, { .mock }, hasDeadline: true)))
        let storage = Routed(Route(board))
        let seen = Noted<Bool>()
        let follower = Task {
            try await withRequest(deadline: .now + .seconds(1)) {
                for try await snapshot in storage.snapshots(of: "a/1") { seen.note(snapshot.exists) }
            }
        }
        try await eventually("the stream is open") { !seen.all.isEmpty }
        let other = MockStorageClient(MockBackend())
        try await other.setDocument("a/1", ["n": 1])
        // By a task that serves no request.
        await Task.detached { _ = board.connect(other.with(CallPolicy(.storage, { .mock }, hasDeadline: true))) }.value
        try await eventually("the stream has moved over") { seen.all.last == true }
        let error = await #expect(throws: StorageError.self) { try await follower.value }
        #expect(error?.code == .deadlineExceeded)
    }

    @Test func `A stream that is followed ends with the deadline, and its subscription with it`() async throws {
        let mock = MockStorageClient(MockBackend(), network: MockNetwork())
        let storage = mock.with(CallPolicy(.storage, { .mock }, hasDeadline: true))
        let seen = Noted<Bool>()
        try await storage.setDocument("a/1", ["n": 1])
        let error = await Self.late(unless: { seen.all.isEmpty }) {
            for try await snapshot in storage.snapshots(of: "a/1") { seen.note(snapshot.exists) }
        }
        #expect(error?.code == .deadlineExceeded && error?.isRetryable == true && seen.all.first == true)
        #expect(error?.message.contains("document stream") == true && error?.message.contains("a/1") == false)
        try await eventually("no listener is left") { mock.listenerCount == 0 }

        let before = seen.all.count
        let follower = Task {
            try await withRequest(deadline: .now + .seconds(600)) {
                for try await snapshot in storage.snapshots(of: "a/1") { seen.note(snapshot.exists) }
            }
        }
        try await eventually("a state has come") { seen.all.count > before }
        follower.cancel()
        try await follower.value
        try await eventually("no listener is left") { mock.listenerCount == 0 }
    }

    @Test func `A stream that began in time and outlives its request goes on`() async throws {
        let storage = MockStorageClient(MockBackend(), network: MockNetwork()).with(
            CallPolicy(.storage, { .mock }, hasDeadline: true))
        let seen = Noted<Int64>()
        let deadline = ContinuousClock.now + Self.soon
        let follower = await withRequest(deadline: deadline) {
            Task {
                for try await snapshot in storage.snapshots(of: "a/1") {
                    guard case .integer(let number)? = snapshot["n"] else { continue }
                    seen.note(number)
                    if number == 2 { break }
                }
            }
        }
        try await storage.setDocument("a/1", ["n": 1])
        try await eventually("it has begun, and the deadline is over") {
            seen.all.contains(1) && ContinuousClock.now > deadline + Self.soon
        }
        try await storage.setDocument("a/1", ["n": 2])
        try await follower.value
        #expect(seen.all.last == 2)
    }

    @Test func `Whoever waits for a transfer waits until the deadline, which cancels it`() async throws {
        let transfer = EndlessTransfer()
        let error = await #expect(throws: FileStorageError.self) {
            try await withRequest(deadline: .now + Self.soon) { try await FileTransfer(transfer).result() }
        }
        #expect(error?.code == .deadlineExceeded && error?.message.contains("cancelled") == true)
        let isCancelled = transfer.isCancelled.load(ordering: .relaxed)
        #expect(isCancelled)
    }

    /// Ends only when whoever waits for it is cancelled.
    private final class EndlessTransfer: FileTransferControls {
        let isCancelled = Atomic(false)

        func progress() -> SnapshotStream<TransferProgress, Never> { SnapshotStream { _ in {} } }
        func result() async throws(FileStorageError) -> Int {
            // Longer than any test runs: only a cancellation ends it.
            do { try await Task.sleep(for: .seconds(3600)) } catch {
                isCancelled.store(true, ordering: .relaxed)
            }
            throw FileStorageError(.cancelled, "The transfer was cancelled.")
        }
        func pause() async {}
        func resume() async {}
        func cancel() async {}
    }

    @Test func `A request within a request has the earlier deadline, and its own name if it has one`() async {
        #expect(ServedRequest.current == nil)
        let (early, later) = (ContinuousClock.now + .seconds(5), ContinuousClock.now + .seconds(50))
        await withRequest(id: "outer", deadline: early) {
            #expect(ServedRequest.current == ServedRequest(id: "outer", deadline: early))
            await withRequest(id: "inner", deadline: later) {
                #expect(ServedRequest.current == ServedRequest(id: "inner", deadline: early))
            }
            await withRequest {
                async let child = ServedRequest.current
                #expect(await child == ServedRequest(id: "outer", deadline: early))
            }
        }
        #expect(ServedRequest.current == nil)
    }

    @Test func `What outlives a request is not held to it`() async throws {
        let (ended, seen) = (Promise<Void>(), Noted<ServedRequest?>())
        let begun = await withRequest(id: "first", deadline: .now + .seconds(600)) {
            await withRequest(id: "within") {
                Task {
                    seen.note(ServedRequest.current)
                    _ = await ended.value
                    seen.note(ServedRequest.current)
                }
            }
        }
        try await eventually("the task has begun") { seen.all.count == 1 }
        ended.resolve(())
        await begun.value
        #expect(seen.all.last == .some(nil))
    }

    @Test func `A name that came from outside cannot break a line of the log`() {
        #expect(ServedRequest(id: "a b\nstorage on mock: forged\u{7F}é").id == "abstorageonmock:forged")
        #expect(ServedRequest(id: " \n").id == nil)
        #expect(ServedRequest(id: String(repeating: "x", count: 4000)).id?.count == 128)
    }

    @Test func `Observers are notified of callers' and the project's calls too, and for which request they were`()
        async throws
    {
        let (events, lines) = (EventLog(), Noted<String>())
        let options = InfrastructureOptions(observer: events)
        let backend = try await Infrastructure(.mock, in: options)
        try await backend.auth.signInAnonymously()
        let token = try await backend.auth.accessToken().value
        let caller = try await backend.tokenVerifier().verify(token)
        try await withRequest(id: "7f3a") {
            let mine = try await backend.acting(as: caller)
            try await mine.storage.setDocument("notes/a", ["n": 1])
            _ = try? await mine.users.currentUser()
            for try await snapshot in mine.storage.snapshots(of: Query(in: "notes")) where snapshot.count == 1 { break }
            try await backend.actingAsProject().storage.setDocument("notes/b", ["n": 1])
            _ = try await backend.storage.document("notes/b")
        }
        _ = try await backend.storage.document("notes/b")
        let calls = events.all.filter { event in
            event.service == .storage
        }
        let names = calls.compactMap { event -> String? in
            switch event.kind {
            case .call(let operation, _, _), .streamOpened(let operation): "\(operation) \(event.requestID ?? "–")"
            default: nil
            }
        }
        #expect(names.filter { $0 == "commit 7f3a" }.count >= 2, "\(names)")
        #expect(names.contains("document 7f3a") && names.last == "document –", "\(names)")
        try await eventually("the stream's end is reported") {
            events.all.contains { event in
                guard case .streamClosed = event.kind else { return false }
                return event.service == .storage && event.requestID == "7f3a"
            }
        }
        let observer = LineObserver(now: { Date(timeIntervalSince1970: 0) }, timeZone: .gmt) { line in
            lines.note(line)
        }
        observer.observe(
            InfrastructureEvent(
                service: .storage, provider: .mock,
                kind: .call(operation: "commit", duration: .milliseconds(2), failure: nil), requestID: "7f3a"))
        #expect(lines.all == ["00:00:00.000 storage on mock for 7f3a: commit took 2 ms"])
        await backend.shutDown()
    }
}
