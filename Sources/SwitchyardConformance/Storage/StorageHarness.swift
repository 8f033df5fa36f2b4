public import Switchyard

/// What an author of a storage provider supplies to have it checked.
///
/// ```swift
/// struct AcmeHarness: StorageHarness {
///     let features = StorageFeatures(AcmeStorageAdapter.capabilities)
///     func makeStorageClient() async throws -> any StorageClient { AcmeStorageAdapter(server: "http://localhost:9000") }
/// }
/// ```
public protocol StorageHarness: Sendable {
    var features: StorageFeatures { get }

    /// A client of its own for each call: another device of a user who sees and may change what the others write. It is
    /// shut down after the check.
    func makeStorageClient() async throws -> any StorageClient

    /// A collection for the check in `namespace`: empty, and nobody else's. Those of one namespace have different parents
    /// but may share their last segment, as in a backend where that names a table.
    ///
    /// The default is `conformance/<namespace>-<name>/items`. A backend with fixed tables maps the namespace to a parent key.
    func collection(_ name: String, in namespace: ConformanceNamespace) async throws -> CollectionPath

    /// A document that the clients may not read. Needs ``StorageFeatures/hasForbiddenDocument``.
    func forbiddenDocument(in namespace: ConformanceNamespace) async throws -> StoragePath

    /// After the documents of the check are deleted: removes what only the harness knows of. The default does nothing.
    func cleanUp(_ namespace: ConformanceNamespace) async throws
}

extension StorageHarness {
    public func collection(_ name: String, in namespace: ConformanceNamespace) async throws -> CollectionPath {
        try CollectionPath(validating: "conformance/\(namespace)-\(name)/items")
    }

    public func forbiddenDocument(in namespace: ConformanceNamespace) async throws -> StoragePath {
        throw ConformanceFailure(
            expectation: "the harness has a forbidden document, as its features say", found: "none")
    }

    public func cleanUp(_ namespace: ConformanceNamespace) async throws {}
}
