import Switchyard

/// Starts and ends streams of documents. Ending one waits until its start has been processed.
extension SyncEngine {
    func listen(_ id: Int, _ query: LiveQuery, _ options: ViewOptions, _ body: @escaping Listen) {
        do throws(StorageError) {
            let machine = try machine()
            listens[id] = OpenListen(query: query, options: options, deliver: body)
            perform(machine.handle(.listen(id, query, options)))
        } catch {
            body(.failure(error))
        }
    }

    func unlisten(_ id: Int) {
        listens[id] = nil
        feed(.unlisten(id))
    }

    func addInSync(_ id: Int, _ continuation: EventStream<Void, StorageError>.Continuation) {
        do throws(StorageError) {
            let machine = try machine()
            inSync[id] = continuation
            perform(machine.handle(.addInSyncListener(id)))
        } catch {
            continuation.finish(throwing: error)
        }
    }

    func removeInSync(_ id: Int) {
        inSync[id] = nil
        feed(.removeInSyncListener(id))
    }

    /// The number of open listeners; zero once every stream has ended.
    package var listenerCount: Int {
        listens.count + inSync.count + queueWatchers.count + refusals.count + statusWatchers.count
    }

    /// The number of targets watched by the stream of changes.
    package var watchedTargetCount: Int { openMachine?.listening.count ?? 0 }
}
