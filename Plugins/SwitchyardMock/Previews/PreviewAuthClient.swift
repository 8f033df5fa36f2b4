public import Switchyard

/// An auth client on which the sample's Alice is signed in, for previews.
public struct PreviewAuthClient: RoutedAuthClient {
    public let route: any Route<any AuthClient>

    /// - Parameters:
    ///   - backend: Shared with the other preview clients of a screen.
    ///   - isSignedIn: Whether the preview shows the app with a session.
    public init(_ backend: MockBackend = .sample(), isSignedIn: Bool = true) {
        let store = MockSessionStore()
        route = DirectRoute<any AuthClient>(MockAuthClient(backend, store: store))
        guard isSignedIn else { return }
        let credential = AuthCredential.password(email: MockSample.email, MockSample.password)
        // On a backend without the sample's people nobody is signed in, and that is what the preview shows.
        if let signedIn = try? backend.accounts.signIn(credential, present: nil) { store.begin(signedIn) }
    }
}
