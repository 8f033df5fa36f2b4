import Switchyard
import SwitchyardSync

/// A driver that leaves to another one what it does not do itself.
protocol ForwardingDriver: SyncDriver {
    associatedtype Base: SyncDriver
    var base: Base { get }
}

extension ForwardingDriver {
    var provider: InfrastructureProvider { base.provider }
    var capabilities: StorageCapabilities { base.capabilities }
    var traits: SyncDriverTraits { base.traits }

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> FetchedDocuments {
        try await base.documents(paths)
    }

    func results(of query: Query) async throws(StorageError) -> FetchedDocuments { try await base.results(of: query) }
    func openWatch() async throws(StorageError) -> any WatchConnection { try await base.openWatch() }

    func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult { try await base.commit(batch) }

    func isProvisional(_ document: StoragePath) -> Bool { base.isProvisional(document) }
    func findsAddition(of document: StoragePath) -> Bool { base.findsAddition(of: document) }
    func add(_ batch: OutgoingBatch) async throws(StorageError) -> (document: StoragePath, result: CommitResult) {
        try await base.add(batch)
    }

    func begin(after version: Timestamp) { base.begin(after: version) }

    func result(of batch: OutgoingBatch) async throws(StorageError) -> CommitResult? {
        try await base.result(of: batch)
    }
}
