public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

extension MockStorageClient {
    public func enableNetwork() async throws(StorageError) {
        await session?.catchUp()
        try setNetwork(true)
        endPause()
        sendQueue()
    }

    public func disableNetwork() async throws(StorageError) { try setNetwork(false) }

    private func setNetwork(_ isEnabled: Bool) throws(StorageError) {
        try requireOffline("switching the network")
        try database.change { [device] state throws(StorageError) in
            if let refusal = device.refusal(of: .cache) { throw refusal }
            let wasConnected = device.isConnected
            device.isNetworkEnabled = isEnabled
            let actions = device.queue.setConnection(isEnabled: isEnabled, isReachable: device.isReachable)
            return ((), device.connectionChanged(from: wasConnected, state.documents) + actions)
        }
        if !isEnabled { backend.saveCache(of: device) }
    }

    public func waitForPendingWrites() async throws(StorageError) {
        await session?.catchUp()
        let answers = database.withState { [device] _ in device.queue.items.map(\.answer) }
        for answer in answers {
            // A write refused by the server, or removed from the queue, counts as done.
            guard let answer = await answer.value else { throw StorageError(.cancelled, "The call was cancelled.") }
            if case .failure(let error) = answer, error.code == .shutDown { throw error }
        }
    }

    public func cancelPendingWrite(_ id: PendingWrite.ID) async throws(StorageError) -> Bool {
        let isCancelled = database.change { [device] state -> (Bool, [DeliveryQueue.Action]) in
            guard device.queue.cancellable(id), let (item, paths, actions) = device.queue.remove(id) else {
                return (false, [])
            }
            let error = StorageError(.cancelled, "The write was removed from the queue.")
            return (
                true, device.changed(paths, state.documents) + actions + [{ item.resolve(.failure(error)) }]
            )
        }
        backend.save(device)
        return isCancelled
    }

    public func retryPendingWrites() async throws(StorageError) {
        endPause()
        sendQueue(isAsked: true)
    }

    public func resolveRefusedWrite(_ id: RefusedWrite.ID, requeuing batch: WriteBatch?) async throws(StorageError) {
        try requireOffline("a list of refused writes")
        try await session?.catchUpToWrite()
        if let batch { try checkBatch(batch) }
        let now = database.now()
        try database.change { [device] state throws(StorageError) in
            if let refusal = device.refusal(of: .cache) { throw refusal }
            guard let (_, actions) = device.queue.takeRefused(id) else {
                throw StorageError(.notFound, "There is no refused write with that ID.")
            }
            guard let batch else { return ((), actions) }
            return ((), actions + device.enqueue(batch, RandomID.make(), now, state.documents).1)
        }
        backend.save(device)
        sendQueue()
    }

    public func clearPersistence() async throws(StorageError) {
        try requireOffline("a local store")
        try database.change { [device] state throws(StorageError) in
            guard device.streamCount == 0 else {
                throw StorageError(.failedPrecondition, "Close all streams before deleting the data on this device.")
            }
            return ((), device.forget(state.documents))
        }
        backend.save(device)
        backend.saveCache(of: device)
    }

    /// Deletes the cache and the queue of a user, by default the current one. Open streams continue with the server's
    /// documents.
    static func forgetEverything(of user: AuthUser.ID?, on device: MockDevice, in backend: MockBackend) {
        backend.database.change { state in ((), device.forget(state.documents, of: user)) }
        backend.save(device)
        backend.saveCache(of: device)
    }

    public func shutDown() async {
        database.change { [device] _ -> (Void, [DeliveryQueue.Action]) in
            guard !device.isShutDown else { return ((), []) }
            device.isShutDown = true
            return ((), device.end(throwing: StorageError(.shutDown, "The client was shut down.")))
        }
        session?.stop()
        endPause()
        backend.saveCache(of: device)
        tenant?.leave()
    }

    private func requireOffline(_ operation: String) throws(StorageError) {
        guard capabilities.offline else {
            throw .unsupported(operation, by: provider, instead: "Use a provider with the offline capability.")
        }
    }
}
