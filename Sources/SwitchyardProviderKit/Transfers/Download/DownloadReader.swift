import Foundation
import Switchyard
import SwitchyardBytes
import Synchronization

/// Reads a file piece by piece, however often the connection breaks. Fetches no more than requested.
///
/// One caller at a time, except for `close`.
package final class DownloadReader: Sendable {
    private struct State {
        var machine: DownloadMachine
        var body: (any DownloadBody)?
        var digest: ContentDigest?
        var hasFinished = false
        var isClosed = false
        /// The gate's number of openings when it was last passed.
        var openings = 0
        /// The number of consecutive failures.
        var failures = 0
    }

    private let path: FilePath
    private let driver: any DownloadDriver
    private let tries: RetryingCaller
    private let time: Stopwatch
    private let gate: PauseGate?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - range: Not empty.
    ///   - version: The known version.
    ///   - gate: Checked before every attempt.
    init(
        _ path: FilePath, range: Range<Int64>?, version: String? = nil, driver: any DownloadDriver,
        policy: TransferPolicy, tries: RetryingCaller, gate: PauseGate? = nil
    ) {
        self.path = path
        self.driver = driver
        self.tries = tries
        self.gate = gate
        time = Stopwatch(tries.clock)
        let machine = DownloadMachine(policy, range: range, version: version, now: time.now)
        state = Mutex(State(machine: machine, digest: range == nil ? ContentDigest() : nil))
    }

    /// The total number of bytes; known with the first piece at the latest, if at all.
    var expectedCount: Int64? { state.withLock { $0.machine.expectedCount } }

    /// Whether the bytes are not those that are stored; known with the first piece.
    var isUnpacked: Bool { state.withLock { $0.machine.head?.isUnpacked ?? false } }

    /// The checksums of the bytes, once all have arrived.
    var checksums: ContentChecksums { state.withLock { $0.digest?.checksums ?? ContentChecksums() } }

    /// Ends it from outside: the waiting or next call fails with `.shutDown`.
    func close() {
        let body = state.withLock { state in
            state.isClosed = true
            defer { state.body = nil }
            return state.body
        }
        body?.cancel()
    }

    /// The next bytes, never empty; `nil` at the end.
    ///
    /// - Throws: `.changed` if the file was replaced meanwhile; `.checksumMismatch` at the end of a whole file.
    func next() async throws(FileStorageError) -> [UInt8]? {
        let now = time.now
        var action = state.withLock { state -> DownloadMachine.Action in
            // However long the consumer took with the previous piece.
            state.machine.asked(now: now)
            if state.hasFinished { return .finish }
            return state.body == nil ? state.machine.begin : .read
        }
        while true {
            if case .open = action { await passGate() }
            if state.withLock({ $0.isClosed }) { throw .closed }
            if Task.isCancelled { throw .givenUp }
            switch action {
            case .open(let request): action = await open(request)
            case .wait(let pause):
                try? await tries.clock.sleep(for: pause)
                action = handle(.waited)
            case .read:
                let (piece, next) = await read()
                if let piece { return piece }
                action = next
            case .finish:
                try finish()
                return nil
            case .fail(let error):
                state.withLock { $0.body = nil }
                throw Task.isCancelled ? .givenUp : error
            }
        }
    }

    /// Waits while paused; that time does not count.
    private func passGate() async {
        guard let gate else { return }
        await gate.pass()
        let (openings, now) = (gate.openings, time.now)
        state.withLock { state in
            guard openings != state.openings else { return }
            state.openings = openings
            state.machine.asked(now: now)
        }
    }

    /// Waits for a pause that began before the failure to end, before checking whether there is patience left.
    private func failed(_ error: FileStorageError) async -> DownloadMachine.Action {
        if error.isRetryable { await passGate() }
        let failures = state.withLock { state in
            state.failures += 1
            return state.failures
        }
        let action = handle(.failed(error))
        if case .wait(let pause) = action { tries.report("download", failures, pause, error) }
        return action
    }

    private func handle(_ event: DownloadMachine.Event) -> DownloadMachine.Action {
        var generator = SystemRandomNumberGenerator()
        let now = time.now
        return state.withLock { $0.machine.handle(event, now: now, using: &generator) }
    }

    private func open(_ request: DownloadRequest) async -> DownloadMachine.Action {
        do throws(FileStorageError) {
            let answer = try await driver.open(path, request)
            let isWanted = state.withLock { state in
                if !state.isClosed { state.body = answer.body }
                state.failures = 0
                return !state.isClosed
            }
            if !isWanted { answer.body.cancel() }
            return handle(.opened(answer.head))
        } catch {
            return await failed(error)
        }
    }

    private func read() async -> (piece: [UInt8]?, next: DownloadMachine.Action) {
        let (body, isComplete) = state.withLock { ($0.body, $0.machine.isComplete) }
        if isComplete { return (nil, handle(.ended)) }
        guard let body else { return (nil, .fail(.closed)) }
        do throws(FileStorageError) {
            guard let bytes = try await body.next() else {
                state.withLock { $0.body = nil }
                await passGate()
                return (nil, handle(.ended))
            }
            let now = time.now
            let wanted = state.withLock { state in
                let wanted = state.machine.received(bytes.count, now: now)
                bytes.withUnsafeBytes { state.digest?.update(.init(rebasing: $0[wanted])) }
                return wanted
            }
            if wanted.isEmpty { return (nil, .read) }
            return (wanted.count == bytes.count ? bytes : Array(bytes[wanted]), .read)
        } catch {
            state.withLock { $0.body = nil }
            return (nil, await failed(error))
        }
    }

    private func finish() throws(FileStorageError) {
        let agrees = state.withLock { state in
            state.hasFinished = true
            state.body = nil
            guard let digest = state.digest, state.machine.isWhole, let head = state.machine.head else { return true }
            return digest.checksums.agree(with: head.checksums)
        }
        guard agrees else {
            throw FileStorageError(
                .checksumMismatch, "The downloaded data does not match the server's checksum or size.")
        }
    }
}

/// The same for an ``EventStream``: bytes are pulled as they are consumed.
final class DownloadSource: StreamSource {
    private let reader: @Sendable () async throws(FileStorageError) -> DownloadReader?
    private let opened = Mutex<DownloadReader?>(nil)

    /// - Parameter reader: Makes the reader when iteration begins; `nil` for no bytes at all.
    init(_ reader: @escaping @Sendable () async throws(FileStorageError) -> DownloadReader?) { self.reader = reader }

    /// Nothing is lost by starting late.
    func begin() async {}

    func next() async throws(FileStorageError) -> Data? {
        do throws(FileStorageError) {
            let known = opened.withLock { $0 }
            guard let reader = if let known { known } else { try await reader() } else { return nil }
            opened.withLock { $0 = reader }
            return try await reader.next().map { Data($0) }
        } catch {
            if error.code == .cancelled, Task.isCancelled { return nil }
            throw error
        }
    }
}
