public import Switchyard

/// A storage client with ``MockSample``, for previews. Changes are live, and discarded with the client.
public struct PreviewStorageClient: StorageClientWrapper {
    public let base: any StorageClient

    /// - Parameter backend: Shared with the other preview clients of a screen, so that they show the same people.
    public init(_ backend: MockBackend = .sample()) { base = MockStorageClient(backend) }
}
