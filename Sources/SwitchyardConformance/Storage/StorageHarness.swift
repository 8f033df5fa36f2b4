public import Switchyard

/// Supplied by the author of a storage provider to run the checks.
///
/// ```swift
/// struct AcmeHarness: StorageHarness {
///     let features = StorageFeatures(AcmeStorageAdapter.capabilities)
///     func makeStorageClient() async throws -> any StorageClient { AcmeStorageAdapter(server: "http://localhost:9000") }
/// }
/// ```
public protocol StorageHarness: Sendable {
    var features: StorageFeatures { get }

    /// A new client for each call: another device of a user who may see and change what the others write. It is shut down
    /// after the check.
    func makeStorageClient() async throws -> any StorageClient

    /// An empty collection for the exclusive use of the check in `namespace`. Collections of one namespace have different
    /// parents but may share their last segment, as in a backend where that names a table.
    ///
    /// The default is `conformance/<namespace>-<name>/items`. A backend with fixed tables maps the namespace to a parent key.
    func collection(_ name: String, in namespace: ConformanceNamespace) async throws -> CollectionPath

    /// The name of the document that a check calls `name`. Different names must give different ones, in the same order.
    ///
    /// The default is `name` itself. A backend whose names are UUIDs or numbers encodes it; checks use lower-case letters and
    /// digits, up to eleven. It then does not declare ``StorageFeatures/takesAnyName``.
    func documentID(_ name: String) -> String

    /// A document that the clients may not read. Needs ``StorageFeatures/hasForbiddenDocument``.
    func forbiddenDocument(in namespace: ConformanceNamespace) async throws -> StoragePath

    /// Called after the check's documents are deleted: removes what only the harness knows about. The default does nothing.
    func cleanUp(_ namespace: ConformanceNamespace) async throws
}

extension StorageHarness {
    public func collection(_ name: String, in namespace: ConformanceNamespace) async throws -> CollectionPath {
        try CollectionPath(validating: "conformance/\(namespace)-\(name)/items")
    }

    public func documentID(_ name: String) -> String { name }

    public func forbiddenDocument(in namespace: ConformanceNamespace) async throws -> StoragePath {
        throw ConformanceFailure(
            expectation: "the harness has a forbidden document, as its features say", found: "none")
    }

    public func cleanUp(_ namespace: ConformanceNamespace) async throws {}
}
