import Switchyard

/// Documents under the names that the server has made for them, for calls that ask the server.
extension SyncEngine {
    func named(_ path: StoragePath) throws(StorageError) -> StoragePath { try named([path])[path] ?? path }

    /// The current names of those of the documents that have got one.
    func named(_ paths: [StoragePath]) throws(StorageError) -> [StoragePath: StoragePath] {
        driver.traits.makesNames ? try machine().names(of: paths) : [:]
    }

    func named(_ query: Query) throws(StorageError) -> Query {
        driver.traits.makesNames ? try machine().named(query) : query
    }

    func named(_ writes: [DocumentWrite]) throws(StorageError) -> [DocumentWrite] {
        driver.traits.makesNames ? try machine().named(writes) : writes
    }

    func named(_ request: ReadRequest) throws(StorageError) -> ReadRequest {
        guard driver.traits.makesNames else { return request }
        switch request {
        case .documents(let paths):
            let names = try named(paths)
            var seen: Set<StoragePath> = []
            return .documents(paths.map { names[$0] ?? $0 }.filter { seen.insert($0).inserted })
        case .results(let query): return .results(try named(query))
        }
    }

    /// The current names of those documents in a request that have got one.
    func names(in request: ReadRequest) throws(StorageError) -> [StoragePath: StoragePath] {
        guard driver.traits.makesNames else { return [:] }
        switch request {
        case .documents(let paths): return try named(paths)
        case .results(let query):
            return try named(Array(Set(collecting: { note in _ = query.mappingPaths(note) })))
        }
    }

    /// The writes of an addition that is not queued.
    ///
    /// - Throws: `.unavailable` without a connection; `.failedPrecondition` if they refer to documents that wait for their names.
    func prepareAddition(_ writes: [DocumentWrite]) throws(StorageError) -> [DocumentWrite] {
        try checkServer()
        guard driver.traits.makesNames else { return writes }
        let (writes, awaited) = try machine().prepareAddition(writes)
        guard let document = awaited.subtracting(writes.map(\.path)).min() else { return writes }
        throw StorageError(
            .failedPrecondition,
            "“\(writes[0].path.collection)” takes no references to “\(document)” yet: the server makes the name of that document, "
                + "which waits in the queue. Add the one after the other has its name.")
    }
}

/// A transaction that knows documents by the names that they had on this device, too, and announces its writes to other processes.
struct EngineTransaction: StorageTransactionBackend {
    let base: any StorageTransactionBackend
    let engine: SyncEngine

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
        let names = try await engine.named(paths)
        let documents = try await base.documents(paths.map { names[$0] ?? $0 })
        guard !names.isEmpty else { return documents }
        // A transaction knows what it reads by the path that it asked for.
        return zip(paths, documents).map { path, document in document.moved(to: path) }
    }

    func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement {
        let answer = try await base.commit(engine.named(writes))
        await engine.committed()
        return answer
    }

    func rollBack() async { await base.rollBack() }
}
