public import Foundation
public import Switchyard

// Only a client with a cache has a place for bundles, so these are no requirements of every `StorageClient`. An app reaches them
// with `storage.unwrapped(as: SyncedStorageClient.self)`, whatever provider and layers stand in between.
extension SyncedStorageClient {
    /// Takes documents and named queries that were packed beforehand into the cache: streams show them at once, and a query
    /// of the bundle goes on from there instead of reading everything from the server.
    ///
    /// One that was loaded before, or is older than the one of its name that was, is passed over. So are documents of
    /// which something newer is known.
    /// - Parameter data: In the format of the provider's own bundles.
    /// - Throws: `.unsupported` by a provider without bundles; `.invalidArgument` if the data is not a bundle.
    public func loadBundle(_ data: Data) async throws(StorageError) {
        try await loadBundle(driver.bundle(from: data))
    }

    /// The same with documents that come from elsewhere than the provider.
    public func loadBundle(_ bundle: DocumentBundle) async throws(StorageError) {
        try await engine.handle(.load(bundle))
    }

    /// The query to which a bundle gave a name; `nil` when no bundle with it was loaded.
    public func namedQuery(_ name: String) async throws(StorageError) -> Query? { try await engine.namedQuery(name) }
}

extension SyncEngine {
    func namedQuery(_ name: String) throws(StorageError) -> Query? { try machine().namedQuery(name) }
}
