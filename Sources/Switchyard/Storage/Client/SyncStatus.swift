/// How far a storage is in sync with its server: what a status line or an icon shows.
///
/// ```swift
/// for await status in storage.syncStatus() {
///     show(status.isOnline == false ? "Offline, \(status.pendingCount) to send" : status.isWorking ? "Saving" : "Saved")
/// }
/// ```
public struct SyncStatus: Sendable, Hashable {
    /// Whether the server can be reached and accepts this client, by the last contact; `nil` while nothing is known.
    public var isOnline: Bool?
    /// Whether writes are being sent, or reads wait for the server.
    public var isWorking: Bool
    /// The number of the user's writes that the server has not answered, also those being sent.
    public var pendingCount: Int
    /// The first of them, which says since when it waits, and why.
    public var oldestPending: PendingWrite?
    /// What is wrong: why the oldest write waits, else why the server is not reached, else why it rejected the first of
    /// ``StorageClient/refusedWrites()``. `nil` if nothing is known to be wrong.
    public var firstError: StorageError?
    /// When the server last committed a write, answered a read, or confirmed what streams show. It is brought up to date with
    /// the other properties, not by itself; `nil` before the first time in this client's life.
    public var lastSynced: Timestamp?

    public init(
        isOnline: Bool? = nil, isWorking: Bool = false, pendingCount: Int = 0, oldestPending: PendingWrite? = nil,
        firstError: StorageError? = nil, lastSynced: Timestamp? = nil
    ) {
        self.isOnline = isOnline
        self.isWorking = isWorking
        self.pendingCount = pendingCount
        self.oldestPending = oldestPending
        self.firstError = firstError
        self.lastSynced = lastSynced
    }

    /// Whether both are the same but for ``lastSynced``.
    package func isShownLike(_ other: SyncStatus) -> Bool {
        var copy = self
        copy.lastSynced = other.lastSynced
        return copy == other
    }
}

extension SyncStatus: CustomStringConvertible {
    /// `offline; 3 writes wait; (unavailable): …`. Never includes document contents.
    public var description: String {
        var parts = [isOnline.map { $0 ? "online" : "offline" } ?? "not connected yet"]
        if isWorking { parts.append("working") }
        if pendingCount > 0 { parts.append("\(pendingCount) write\(pendingCount == 1 ? " waits" : "s wait")") }
        if let firstError { parts.append("(\(firstError.code)): \(firstError.message)") }
        if let lastSynced { parts.append("last synced at \(lastSynced)") }
        return parts.joined(separator: "; ")
    }
}

extension StorageClient {
    /// For clients that do not tell: what their queue says. Without a queue, nothing ever waits.
    public func syncStatus() -> SnapshotStream<SyncStatus, Never> {
        guard capabilities.offline else { return .just(SyncStatus()) }
        return SnapshotStream { continuation in
            let following = Task {
                do throws(StorageError) {
                    for try await (pending, refused) in combineLatest(pendingWrites(), refusedWrites()) {
                        continuation.yield(SyncStatus(pending, refused))
                    }
                } catch {
                    // The client is shut down.
                }
                continuation.finish()
            }
            return { following.cancel() }
        }
    }
}

extension SyncStatus {
    fileprivate init(_ pending: [PendingWrite], _ refused: [RefusedWrite]) {
        let first = pending.first
        self.init(
            isWorking: first != nil && first?.lastError == nil, pendingCount: pending.count, oldestPending: first,
            firstError: first?.lastError ?? refused.first?.error)
    }
}
