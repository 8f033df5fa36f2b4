import Foundation
import Switchyard
import SwitchyardBytes
import Synchronization

/// A transfer that is under way: takes one step after the other until it is done, paused or given up.
final class MockTransfer: FileTransferControls {
    /// What the next step gave.
    enum Step: Sendable {
        case moved(completed: Int64)
        case finished(FileMetadata)
    }

    private struct State {
        var progress: TransferProgress
        var isPaused = false
        var resume: CheckedContinuation<Void, Never>?
        var listeners: [Int: SnapshotStream<TransferProgress, Never>.Continuation] = [:]
        var lastListener = 0
        /// Whether the listeners have been told of the end: who comes later is told at once.
        var isOver = false
    }

    private let state: Mutex<State>
    private let outcome = Promise<Result<FileMetadata, FileStorageError>>()
    private let deliveries = DeliveryQueue()
    private let task = TaskBox()

    /// - Parameters:
    ///   - step: Moves one part. Called again after each part; a failure ends the transfer.
    ///   - ended: Told once, with the failure if there was one.
    init(
        completed: Int64, total: Int64?, step: @escaping @Sendable () async throws(FileStorageError) -> Step,
        ended: @escaping @Sendable (FileStorageError?) -> Void
    ) {
        state = Mutex(State(progress: TransferProgress(phase: .waiting, completedBytes: completed, totalBytes: total)))
        task.replace(
            with: Task { [self] in
                let result = await run(step)
                let failure: FileStorageError? = if case .failure(let error) = result { error } else { nil }
                ended(failure)
                finish(result)
            })
    }

    private func run(
        _ step: @Sendable () async throws(FileStorageError) -> Step
    ) async -> Result<FileMetadata, FileStorageError> {
        tell(.running)
        while true {
            await gate()
            if Task.isCancelled { return .failure(.cancelledTransfer) }
            do throws(FileStorageError) {
                switch try await step() {
                case .moved(let completed): tell(.running, completed)
                case .finished(let metadata): return .success(metadata)
                }
            } catch {
                return .failure(Task.isCancelled ? .cancelledTransfer : error)
            }
        }
    }

    private func finish(_ result: Result<FileMetadata, FileStorageError>) {
        if case .success(let metadata) = result { tell(.finished, metadata.size) }
        let listeners = state.withLock { state in
            state.isOver = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        deliveries.add(listeners.map { listener in { listener.finish() } })
        deliveries.drain()
        outcome.resolve(result)
    }

    /// Waits while the transfer is paused.
    private func gate() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    guard state.isPaused, !Task.isCancelled else { return true }
                    state.resume = continuation
                    return false
                }
                if isOpen { continuation.resume() }
            }
        } onCancel: {
            release()
        }
    }

    private func release() {
        let continuation = state.withLock { state in
            defer { state.resume = nil }
            return state.resume
        }
        continuation?.resume()
    }

    private func tell(_ phase: TransferProgress.Phase, _ completed: Int64? = nil) {
        state.withLock { state in
            let shown = phase == .running && state.isPaused ? TransferProgress.Phase.paused : phase
            let completed = completed ?? state.progress.completedBytes
            let progress = TransferProgress(
                phase: shown, completedBytes: completed,
                totalBytes: phase == .finished ? completed : state.progress.totalBytes)
            guard progress != state.progress else { return }
            state.progress = progress
            deliveries.add(state.listeners.values.map { listener in { listener.yield(progress) } })
        }
        deliveries.drain()
    }

    // MARK: The caller's side

    func progress() -> SnapshotStream<TransferProgress, Never> {
        SnapshotStream { [self] continuation in
            let id = state.withLock { state in
                state.lastListener += 1
                let progress = state.progress
                let isOver = state.isOver
                if !isOver { state.listeners[state.lastListener] = continuation }
                deliveries.add([
                    {
                        continuation.yield(progress)
                        if isOver { continuation.finish() }
                    }
                ])
                return state.lastListener
            }
            deliveries.drain()
            return { [self] in state.withLock { _ = $0.listeners.removeValue(forKey: id) } }
        }
    }

    func result() async throws(FileStorageError) -> FileMetadata {
        let result = await outcome.value
        if Task.isCancelled, outcome.present == nil { await cancel() }
        return try (result ?? .failure(.cancelledTransfer)).get()
    }

    func pause() async {
        state.withLock { $0.isPaused = true }
        tell(.running)
    }

    func resume() async {
        state.withLock { $0.isPaused = false }
        tell(.running)
        release()
    }

    func cancel() async {
        task.cancel()
        _ = await Task { await outcome.value }.value
    }
}

extension FileStorageError {
    static let cancelledTransfer = FileStorageError(.cancelled, "The transfer was cancelled.")
}
