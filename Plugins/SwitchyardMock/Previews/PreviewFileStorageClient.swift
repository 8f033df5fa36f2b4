public import Switchyard

/// A file storage client with the sample's picture, for previews.
public struct PreviewFileStorageClient: RoutedFileStorageClient {
    public let route: Route<any FileStorageClient>

    /// - Parameter backend: Shared with the other preview clients of a screen.
    public init(_ backend: MockBackend = .sample()) {
        route = Route<any FileStorageClient>(to: MockFileStorageClient(backend))
    }
}
