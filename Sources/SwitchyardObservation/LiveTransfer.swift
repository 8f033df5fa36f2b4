public import Observation
public import Switchyard

/// An upload or download for a screen.
///
/// ```swift
/// @State private var upload: LiveTransfer<FileMetadata>?
///
/// ProgressView(value: upload.fraction)
/// Button("Cancel") { upload.cancel() }
/// ```
/// It follows the transfer from the beginning, whether it is read or not. The transfer goes on without the object.
@MainActor @Observable
public final class LiveTransfer<Output: Sendable> {
    /// Where a transfer is.
    public enum State: Sendable {
        case waiting, running, paused
        case finished(Output)
        /// Cancelled, or given up; the transfer has to be started again.
        case failed(FileStorageError)
    }

    private var progress = TransferProgress(phase: .waiting, completedBytes: 0, totalBytes: nil)
    private var outcome: Result<Output, FileStorageError>?
    @ObservationIgnored public let transfer: FileTransfer<Output>
    @ObservationIgnored private var following: Following?

    public init(_ transfer: FileTransfer<Output>) {
        self.transfer = transfer
        following = Following(
            Task { [weak self, steps = transfer.progress] in
                for await step in steps {
                    guard !Task.isCancelled, let self else { return }
                    self.progress = step
                }
            })
        // Cancelling this task would cancel the transfer, so it is not one of the object's.
        Task { [weak self] in
            do throws(FileStorageError) {
                let output = try await transfer.result()
                self?.outcome = .success(output)
            } catch {
                self?.outcome = .failure(error)
            }
        }
    }

    public var state: State {
        switch outcome {
        case .success(let output): .finished(output)
        case .failure(let error): .failed(error)
        case nil:
            switch progress.phase {
            case .waiting: .waiting
            // All bytes are there; the result follows.
            case .running, .finished: .running
            case .paused: .paused
            }
        }
    }

    /// 0 … 1, and 1 once the transfer has succeeded; `nil` while the size is unknown, which a `ProgressView` shows as activity.
    public var fraction: Double? { output == nil ? progress.fraction : 1 }
    public var completedBytes: Int64 { progress.completedBytes }
    /// `nil` while it is unknown.
    public var totalBytes: Int64? { progress.totalBytes }
    /// The result of a transfer that has succeeded.
    public var output: Output? { if case .success(let output) = outcome { output } else { nil } }

    /// Why the transfer failed; before that, why the last attempt did, while the transfer retries.
    public var error: FileStorageError? {
        if case .failure(let error) = outcome { error } else { progress.lastError }
    }

    /// Pauses after the current part.
    /// - Returns: A task that ends when the transfer has received the request.
    @discardableResult
    public func pause() -> Task<Void, Never> { Task { [transfer] in await transfer.pause() } }

    @discardableResult
    public func resume() -> Task<Void, Never> { Task { [transfer] in await transfer.resume() } }

    /// Cancels the transfer; ``state`` becomes `failed` with the code `.cancelled`.
    @discardableResult
    public func cancel() -> Task<Void, Never> { Task { [transfer] in await transfer.cancel() } }
}
