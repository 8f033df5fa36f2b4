public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

extension MockStorageClient {
    public func snapshots(
        of path: StoragePath, options: ListenOptions
    ) -> SnapshotStream<DocumentSnapshot, StorageError> {
        SnapshotStream { [self] continuation in
            if let error = path.mistake ?? controls.failure(.documentStream, path.rawValue) ?? refusal(of: options) {
                continuation.finish(throwing: error)
                return {}
            }
            return open {
                $0.add(DocumentListener(path, options, continuation), $1)
            } refuse: {
                continuation.finish(throwing: $0)
            }
        }
    }

    public func snapshots(of query: Query, options: ListenOptions) -> SnapshotStream<QuerySnapshot, StorageError> {
        SnapshotStream { [self] continuation in
            do throws(StorageError) {
                try check(query)
                if let error = controls.failure(.queryStream, query.subject) ?? refusal(of: options) { throw error }
            } catch {
                continuation.finish(throwing: error)
                return {}
            }
            return open {
                $0.add(QueryListener(query, options, continuation), $1)
            } refuse: {
                continuation.finish(throwing: $0)
            }
        }
    }

    public func snapshotsInSync() -> EventStream<Void, StorageError> {
        EventStream.announced { [self] continuation in
            open { device, _ in
                device.add(continuation)
            } refuse: {
                continuation.finish(throwing: $0)
            }
        }
    }

    public func pendingWrites() -> SnapshotStream<[PendingWrite], StorageError> {
        SnapshotStream { [self] continuation in
            open(isLocal: true) { device, _ in
                device.queue.add(continuation)
            } refuse: {
                continuation.finish(throwing: $0)
            }
        }
    }

    public func refusedWrites() -> SnapshotStream<[RefusedWrite], StorageError> {
        SnapshotStream { [self] continuation in
            open(isLocal: true) { device, _ in
                device.queue.add(continuation)
            } refuse: {
                continuation.finish(throwing: $0)
            }
        }
    }

    public func syncStatus() -> SnapshotStream<SyncStatus, Never> {
        SnapshotStream { [self] continuation in
            open(isLocal: true) { device, _ in
                device.queue.add(continuation)
            } refuse: { _ in
                continuation.finish()
            }
        }
    }

    private func refusal(of options: ListenOptions) -> StorageError? {
        guard capabilities.liveStreams else {
            return .unsupported(
                "live streams", by: provider, instead: "Read again when something may have changed.")
        }
        guard options.source == .cache, !capabilities.offline else { return nil }
        return .unsupported("listening to a cache", by: provider, instead: "Listen to the server.")
    }

    /// Opens a stream, after the network's latency if there is one.
    ///
    /// - Parameter isLocal: Whether it concerns only the device's queue, which needs no network.
    /// - Returns: A closure that ends it, even if it has not been opened yet.
    private func open(
        isLocal: Bool = false,
        _ add: @escaping @Sendable (MockDevice, DocumentTable) -> MockDevice.Opened,
        refuse: @escaping @Sendable (StorageError) -> Void
    ) -> @Sendable () -> Void {
        let subscription = Subscription()
        let begin: @Sendable () -> Void = { [self] in
            let refusal = database.change { [device] state -> (StorageError?, [DeliveryQueue.Action]) in
                if device.isShutDown { return (StorageError(.shutDown, "The client was shut down."), []) }
                guard !subscription.isClosed else { return (nil, []) }
                let opened = add(device, state.documents)
                subscription.close = opened.close
                return (nil, opened.actions)
            }
            if let refusal { refuse(refusal) }
        }
        var delayed: Task<Void, Never>?
        // The rules and the queue depend on the signed-in user.
        let dependsOnUser = session != nil && (isLocal || backend.rules != nil)
        if !dependsOnUser, isLocal || controls.network.isInstant {
            begin()
        } else {
            delayed = Task { [network = controls.network, session] in
                if dependsOnUser { await session?.catchUp() }
                if !isLocal, await !network.delay() { return }
                begin()
            }
        }
        return { [self, delayed] in
            delayed?.cancel()
            database.withState { [device] state in
                subscription.isClosed = true
                subscription.close?(device, state.documents)
                subscription.close = nil
            }
        }
    }

    /// `@unchecked Sendable`: accessed only inside the database's lock.
    private final class Subscription: @unchecked Sendable {
        var close: (@Sendable (MockDevice, DocumentTable) -> Void)?
        var isClosed = false
    }
}
