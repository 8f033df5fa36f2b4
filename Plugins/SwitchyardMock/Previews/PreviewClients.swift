public import Switchyard

/// An auth client with the sample's Alice signed in, for previews.
public struct PreviewAuthClient: RoutedAuthClient {
    public let route: Route<any AuthClient>

    /// - Parameters:
    ///   - backend: Shared with the other preview clients of a screen.
    ///   - isSignedIn: Whether the preview has a session.
    public init(_ backend: MockBackend = .sample(), isSignedIn: Bool = true) {
        let store = MockSessionStore()
        route = Route<any AuthClient>(to: MockAuthClient(backend, store: store))
        guard isSignedIn else { return }
        let credential = AuthCredential.password(email: MockSample.email, MockSample.password)
        // Without the sample's accounts, the preview shows the signed-out state.
        if let signedIn = try? backend.accounts.signIn(credential, current: nil) { store.begin(signedIn) }
    }
}

/// A file storage client with the sample's picture, for previews.
public struct PreviewFileStorageClient: RoutedFileStorageClient {
    public let route: Route<any FileStorageClient>

    /// - Parameter backend: Shared with the other preview clients of a screen.
    public init(_ backend: MockBackend = .sample()) {
        route = Route<any FileStorageClient>(to: MockFileStorageClient(backend))
    }
}

/// A messaging client for previews; messages are sent by the backend's ``MockMessages``.
public struct PreviewMessagingClient: RoutedMessagingClient {
    public let route: Route<any MessagingClient>

    /// - Parameter backend: Shared with the other preview clients of a screen.
    public init(_ backend: MockBackend = .sample()) {
        route = Route<any MessagingClient>(to: MockMessagingClient(backend))
    }
}

/// A storage client with ``MockSample``, for previews. Changes are live, and discarded with the client.
public struct PreviewStorageClient: StorageClientWrapper {
    public let base: any StorageClient

    /// - Parameter backend: Shared with the other preview clients of a screen, so that they show the same people.
    public init(_ backend: MockBackend = .sample()) { base = MockStorageClient(backend) }
}
