public import Foundation
public import Switchyard

// Bundles need a cache, so these are not requirements of `StorageClient`. An app calls them on `storage.unwrapped(as:
// SyncedStorageClient.self)`, whatever the provider and layers.
extension SyncedStorageClient {
    /// Loads prepackaged documents and named queries into the cache: streams show them at once, and a query of the bundle
    /// resumes from there instead of reading everything from the server.
    ///
    /// Ignores a bundle that was loaded before, or is older than the loaded one with its name, and documents of which a newer
    /// version is known.
    /// - Parameter data: In the format of the provider's own bundles.
    /// - Throws: `.unsupported` if the provider has no bundles; `.invalidArgument` if the data is not a bundle.
    public func loadBundle(_ data: Data) async throws(StorageError) {
        try await loadBundle(driver.bundle(from: data))
    }

    /// Loads a bundle from another source than the provider.
    public func loadBundle(_ bundle: DocumentBundle) async throws(StorageError) {
        try await engine.handle(.load(bundle))
    }

    /// The query that a bundle has named; `nil` if no loaded bundle has that name.
    public func namedQuery(_ name: String) async throws(StorageError) -> Query? { try await engine.namedQuery(name) }
}

extension SyncEngine {
    func namedQuery(_ name: String) throws(StorageError) -> Query? { try machine().namedQuery(name) }
}
