public import Observation
public import Switchyard

/// How far a storage, or a whole infrastructure, is in sync with its server, for a screen.
///
/// ```swift
/// @State private var sync = LiveSyncStatus(backend)
///
/// if sync.isOnline == false { Label("Offline", systemImage: "wifi.slash") }
/// if sync.pendingCount > 0 { Text("\(sync.pendingCount) changes to send") }
/// ```
/// The stream starts when the object is first read, and ends with the object.
@MainActor @Observable
public final class LiveSyncStatus {
    private var state = SyncStatus()
    @ObservationIgnored private let makeStream: () -> SnapshotStream<SyncStatus, Never>
    @ObservationIgnored private var following: Following?

    /// - Parameter storage: Where the documents are. That of an `Infrastructure` tells about the chosen provider only.
    public init(_ storage: any StorageClient) { makeStream = { storage.syncStatus() } }

    /// - Parameter infrastructure: Also tells about writes that wait at a provider that was chosen before.
    public init(_ infrastructure: Infrastructure) { makeStream = { infrastructure.syncStatus() } }

    /// All that there is to show, as one value.
    public var status: SyncStatus { watched }
    /// Whether the server can be reached, by the last contact; `nil` while nothing is known.
    public var isOnline: Bool? { watched.isOnline }
    /// Whether writes are being sent, or reads wait for the server.
    public var isWorking: Bool { watched.isWorking }
    /// The number of the user's writes that the server has not answered.
    public var pendingCount: Int { watched.pendingCount }
    /// The first of them, which says since when it waits, and why.
    public var oldestPending: PendingWrite? { watched.oldestPending }
    /// What is wrong, as `SyncStatus.firstError` says.
    public var firstError: StorageError? { watched.firstError }
    /// When the server last confirmed something, as `SyncStatus.lastSynced` says.
    public var lastSynced: Timestamp? { watched.lastSynced }

    private var watched: SyncStatus {
        if following == nil { follow() }
        return state
    }

    private func follow() {
        let stream = makeStream()
        following = Following(
            Task { [weak self] in
                for await status in stream {
                    guard !Task.isCancelled, let self else { return }
                    self.state = status
                }
            })
    }
}
