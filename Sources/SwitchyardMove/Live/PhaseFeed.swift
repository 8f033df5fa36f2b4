import Switchyard
import SwitchyardBytes
import Synchronization

/// Follows the control documents of both sides: the one with the higher epoch is right.
final class PhaseFeed: Sendable {
    private struct State {
        var control = MoveControl()
        /// The version of the control document on each side; nothing before it was read, `.some(nil)` if it is missing.
        var versions = Sides<Timestamp??>(old: nil, new: nil)
    }

    private let clients: Sides<any StorageClient>
    private let layout: MoveLayout
    private let clock: any Clock<Duration>
    /// How often a side without live streams is asked.
    private let interval: Duration
    private let state = Mutex(State())
    private let tasks = Mutex<[Task<Void, Never>]>([])
    private let changes = AsyncStream.makeStream(of: MoveControl.self, bufferingPolicy: .bufferingNewest(1))

    init(
        _ clients: Sides<any StorageClient>, _ layout: MoveLayout, clock: any Clock<Duration>,
        interval: Duration = .seconds(2)
    ) {
        self.clients = clients
        self.layout = layout
        self.clock = clock
        self.interval = interval
    }

    deinit { stop() }

    var control: MoveControl { state.withLock(\.control) }

    /// The precondition that holds as long as the control document on `side` is the one that was read last; `nil` if none was.
    func precondition(on side: MoveSide) -> DocumentWrite.Precondition? {
        state.withLock { $0.versions[side] }.map { version in version.map { .updateTime($0) } ?? .exists(false) }
    }

    /// - Parameter changed: Called with each newer control document, one call at a time.
    func start(_ changed: @escaping @Sendable (MoveControl) async -> Void) {
        let delivery = Task { [stream = changes.stream] in for await control in stream { await changed(control) } }
        let following = MoveSide.allCases.map { side in
            Task { [weak self, interval, clock] in
                var pause = interval
                while !Task.isCancelled {
                    guard let stream = self?.snapshots(side) else { return }
                    do throws(StorageError) {
                        for try await document in stream {
                            guard let self else { return }
                            self.note(document, side)
                            pause = interval
                        }
                    } catch {
                        // A side that is not set up yet, or cannot be reached, is asked again later.
                        pause = min(pause * 2, .seconds(60))
                    }
                    try? await clock.sleep(for: pause)
                }
            }
        }
        tasks.withLock { $0 += following + [delivery] }
    }

    func stop() { for task in tasks.withLock({ $0 }) { task.cancel() } }

    /// Takes in a control document, whoever has read it.
    func note(_ document: DocumentSnapshot, _ side: MoveSide) {
        state.withLock { state in
            if !document.metadata.isFromCache { state.versions[side] = .some(document.updateTime) }
            guard let control = MoveControl(document), control.epoch > state.control.epoch else { return }
            state.control = control
            changes.continuation.yield(control)
        }
    }

    private func snapshots(_ side: MoveSide) -> SnapshotStream<DocumentSnapshot, StorageError> {
        let client = clients[side]
        if client.capabilities.liveStreams {
            return client.snapshots(of: layout.control, options: ListenOptions(includesMetadataChanges: true))
        }
        let path = layout.control
        return SnapshotStream { [interval, clock] continuation in
            let task = Task {
                do throws(StorageError) {
                    while !Task.isCancelled {
                        continuation.yield(try await client.document(path, from: .server))
                        try? await clock.sleep(for: interval)
                    }
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            return { task.cancel() }
        }
    }
}
