import Foundation
import Switchyard
import SwitchyardBytes
import Synchronization

/// Runs one upload: carries out its machine's actions, and reports their outcomes to it.
final class UploadRun: FileTransferControls {
    private typealias Event = UploadMachine.Event

    /// An event, with the number of its operation; none for the owner's requests.
    private struct QueuedEvent: Sendable {
        let operation: Int?
        let event: Event
    }

    /// The record of the upload, if there is one.
    struct Note: Sendable {
        let id: String
        let path: FilePath
        let options: UploadOptions
        let records: UploadRecords
        let claim: UploadRecords.Claim
        let begunAt: Int64
    }

    private let content: UploadContent
    private let driver: any UploadDriver
    private let policy: TransferPolicy
    private let note: Note?
    private let tries: RetryingCaller
    private var clock: any Clock<Duration> { tries.clock }
    private let news: AsyncStream<QueuedEvent>
    private let post: AsyncStream<QueuedEvent>.Continuation
    private let status: TransferStatus
    /// The user who began it, or ``UploadSession/noUser``.
    let owner: AuthUser.ID

    /// - Parameter resuming: The record of an earlier run.
    init(
        _ content: UploadContent, of owner: AuthUser.ID, driver: any UploadDriver, policy: TransferPolicy, note: Note?,
        resuming record: UploadRecord? = nil, tries: RetryingCaller,
        ended: @escaping @Sendable (UploadRun) -> Void
    ) {
        self.content = content
        self.owner = owner
        self.driver = driver
        self.policy = policy
        self.note = note
        self.tries = tries
        (news, post) = AsyncStream.makeStream()
        status = TransferStatus(completed: record?.offset ?? 0, total: content.length)
        post.yield(QueuedEvent(operation: nil, event: .start))
        Task {
            await self.run(record)
            ended(self)
        }
    }

    // MARK: The owner's side

    func progress() -> SnapshotStream<TransferProgress, Never> { status.progress() }

    func result() async throws(FileStorageError) -> FileMetadata {
        if let outcome = await status.wait() { return try outcome.get() }
        await cancel()
        return try (status.outcome ?? .failure(.givenUp)).get()
    }

    func pause() async { request(.pause) }
    func resume() async { request(.resume) }

    func cancel() async {
        request(.cancel)
        await ended()
    }

    /// Ends it for this client; the record stays.
    func close() async {
        request(.close)
        await ended()
    }

    private func request(_ event: Event) { post.yield(QueuedEvent(operation: nil, event: event)) }

    /// In its own task, so that even a cancelled caller waits.
    private func ended() async { _ = await Task { await status.wait() }.value }

    // MARK: The loop

    private func run(_ record: UploadRecord?) async {
        let time = Stopwatch(clock)
        var generator = SystemRandomNumberGenerator()
        var machine = UploadMachine(
            policy,
            UploadMachine.Content(length: content.length, canRewind: content.canRewind, isKept: note != nil),
            resuming: record.map { ($0.session, $0.offset) }, now: time.now)
        var current = Operation()
        for await item in news {
            if let number = item.operation, number != current.number { continue }
            switch item.event {
            case .failed(let error): (current.failure, current.failures) = (error, current.failures + 1)
            case .answered, .began: current.failures = 0
            default: break
            }
            for action in machine.handle(item.event, now: time.now, using: &generator) {
                await perform(action, &current)
            }
            if machine.isOver { return }
        }
    }

    /// The operation in progress.
    private struct Operation {
        var number = 0
        var task: Task<Void, Never>?
        /// The number of consecutive failures, and the reason.
        var failures = 0
        var failure: FileStorageError?

        mutating func stop() {
            number += 1
            task?.cancel()
            task = nil
        }
    }

    private func perform(_ action: UploadMachine.Action, _ current: inout Operation) async {
        switch action {
        case .prepare(let offset, let count):
            start(&current) { run throws(FileStorageError) in
                let (count, isEnd) = try await run.content.prepare(offset, count)
                return .prepared(count: count, isEnd: isEnd)
            }
        case .store(let count):
            start(&current) { run throws(FileStorageError) in
                let status = run.status
                let stored = try await run.driver.store(run.content.bytes(0, count)) { status.show(completed: $0) }
                try run.content.verify(stored)
                return .answered(.finished(stored))
            }
        case .begin:
            start(&current) { run throws(FileStorageError) in
                .began(try await run.driver.begin(length: run.content.length))
            }
        case .send(let offset, let count, let isLast, let session):
            start(&current) { run throws(FileStorageError) in
                .answered(try await run.send(offset, count, isLast, session))
            }
        case .ask(let session):
            start(&current) { run throws(FileStorageError) in
                let answer = try await run.driver.state(of: session)
                if case .finished(let stored) = answer { try run.content.verify(stored) }
                return .answered(answer)
            }
        case .wait(let pause):
            if let failure = current.failure {
                tries.report("upload", current.failures, pause, failure)
                status.show(failure: failure)
            }
            start(&current) { run throws(FileStorageError) in
                try? await run.clock.sleep(for: pause)
                return .waited
            }
        case .stop: current.stop()
        case .keep(let session, let offset): keep(session, offset)
        case .forget: note.map { $0.records.remove($0.id) }
        case .abandon(let session): await abandon(session)
        case .show(let phase, let completed): status.show(phase: phase, completed: completed)
        case .succeed(let stored): finish(.success(stored.metadata))
        case .fail(let error): finish(.failure(error))
        }
    }

    private func start(
        _ current: inout Operation, _ body: @escaping @Sendable (UploadRun) async throws(FileStorageError) -> Event
    ) {
        current.number += 1
        let number = current.number
        current.task = Task { [self] in
            do throws(FileStorageError) {
                post.yield(QueuedEvent(operation: number, event: try await body(self)))
            } catch {
                post.yield(QueuedEvent(operation: number, event: .failed(error)))
            }
        }
    }

    private func send(
        _ offset: Int64, _ count: Int64, _ isLast: Bool, _ session: UploadSession
    ) async throws(FileStorageError) -> UploadAnswer {
        let (content, status) = (content, status)
        // The checksum is computed while sending: for a file, the second read of these bytes comes from the page cache.
        let summing = Task { () -> Result<Void, FileStorageError> in
            do throws(FileStorageError) {
                try content.sum(upTo: offset + count)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        let answer = try await driver.send(
            content.bytes(offset, count), at: offset, isLast: isLast, in: session,
            progress: { status.show(completed: offset + $0) })
        try await summing.value.get()
        if case .finished(let stored) = answer { try content.verify(stored) }
        return answer
    }

    private func keep(_ session: UploadSession, _ offset: Int64) {
        guard let note, let source = content.file, let sum = try? content.sum(upTo: offset).crc32c else { return }
        // An upload that cannot be recorded still continues in this process.
        try? note.records.save(
            UploadRecord(
                id: note.id, path: note.path.rawValue, source: source, begunAt: note.begunAt, session: session,
                offset: offset, crc32c: sum, options: UploadRecord.Options(note.options)))
    }

    private func abandon(_ session: UploadSession) async {
        let (driver, clock, patience) = (driver, clock, policy.discardLimit)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await driver.abandon(session) }
            group.addTask { try? await clock.sleep(for: patience) }
            await group.next()
            group.cancelAll()
        }
    }

    private func finish(_ outcome: TransferStatus.Outcome) {
        content.cancel()
        // Released before the end is reported, because the owner may want to resume it at once.
        note?.claim.release()
        status.finish(outcome)
        post.finish()
    }
}
