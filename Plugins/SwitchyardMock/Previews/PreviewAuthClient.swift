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
        if let signedIn = try? backend.accounts.signIn(credential, present: nil) { store.begin(signedIn) }
    }
}
