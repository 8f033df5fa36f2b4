public import Switchyard

/// How far something that is watched has come.
public enum LivePhase: Sendable {
    /// Nothing is known yet.
    case loading
    /// What this device remembers; the server has not confirmed it.
    case cached
    /// What the server has, and local writes on top of it.
    case live
    /// It ended, and shows what was known last. `retry()` begins it again.
    case failed(StorageError)

    public var error: StorageError? { if case .failed(let error) = self { error } else { nil } }
    public var isLoading: Bool { if case .loading = self { true } else { false } }
}

/// Ends a task with the object that holds this, wherever that is released.
final class Following: Sendable {
    /// What a screen shows of rows that are being saved, and of a lost connection, is metadata.
    static let options = ListenOptions(includesMetadataChanges: true)

    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    deinit { task.cancel() }
}
