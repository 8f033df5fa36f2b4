/// An upload or download in progress. Dropping the value does not stop it; cancelling does.
public struct FileTransfer<Output: Sendable>: Sendable {
    private let controls: any FileTransferControls<Output>

    /// - Parameter controls: The provider's side of it.
    public init(_ controls: some FileTransferControls<Output>) { self.controls = controls }

    /// The progress, now and after every step. The stream ends with the transfer.
    public var progress: SnapshotStream<TransferProgress, Never> { controls.progress() }

    /// Waits for the end. Cancelling the waiting task cancels the transfer, and so does the deadline of the request that the task
    /// works for; see ``withRequest(id:deadline:trace:isolation:_:)``.
    public func result() async throws(FileStorageError) -> Output {
        try await RequestDeadline.hold { () async throws(FileStorageError) in
            try await controls.result()
        } lateText: {
            "The request's deadline passed before the transfer had ended. It was cancelled."
        }
    }

    /// Pauses after the current part. If the provider cannot continue later, ``resume()`` starts from the beginning.
    public func pause() async { await controls.pause() }
    public func resume() async { await controls.resume() }
    /// Cancels the transfer. The server discards what it has of an upload.
    public func cancel() async { await controls.cancel() }
}

/// A provider's implementation of a ``FileTransfer``.
public protocol FileTransferControls<Output>: Sendable {
    associatedtype Output: Sendable
    func progress() -> SnapshotStream<TransferProgress, Never>
    func result() async throws(FileStorageError) -> Output
    func pause() async
    func resume() async
    func cancel() async
}
