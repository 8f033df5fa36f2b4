public import Switchyard

/// The state of a watched query or document.
public enum LivePhase: Sendable, Hashable {
    /// Nothing is known yet.
    case loading
    /// Shows cached data that the server has not confirmed.
    case cached
    /// Shows the server's data, with local writes on top.
    case live
    /// The stream has failed; shows the last known data. `retry()` starts over.
    case failed(StorageError)

    public var error: StorageError? { if case .failed(let error) = self { error } else { nil } }
    public var isLoading: Bool { if case .loading = self { true } else { false } }
}

/// Cancels a task when the object that holds this is released.
final class Following: Sendable {
    /// Pending rows and lost connections show up as metadata changes.
    static let options = ListenOptions(includesMetadataChanges: true)

    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    deinit { task.cancel() }
}
