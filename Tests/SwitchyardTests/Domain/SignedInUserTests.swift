import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

/// Streams of one's own data end with the session, whoever is the first to notice that it is over.
@Suite struct SignedInUserTests {
    /// Has signed out, and has not notified anyone yet.
    private struct LateAuth: RoutedAuthClient {
        let route: Route<any AuthClient>
        let reported: AuthState
        func authStateStream() -> SnapshotStream<AuthState, Never> {
            SnapshotStream { continuation in
                continuation.yield(reported)
                return {}
            }
        }
    }

    private struct RefusingStorage: StorageClientWrapper {
        let base: any StorageClient
        func snapshots(
            of path: StoragePath, options: ListenOptions
        ) -> SnapshotStream<DocumentSnapshot, StorageError> {
            .failing(StorageError(.unauthorized, "The rules do not allow reading “\(path)”."))
        }
    }

    @Test(arguments: [true, false])
    func `A stream that storage ends first still says that no user is signed in`(_ hasSignedOut: Bool) async throws {
        let auth = MockAuthClient()
        let account = try await auth.signUp(email: "alice@example.com", password: "secret").get()
        if hasSignedOut { try await auth.signOut() }
        let late = LateAuth(route: Route(to: auth), reported: .signedIn(account))
        let core = CoreClients(auth: late, storage: RefusingStorage(base: MockStorageClient()))
        let error = await #expect(throws: UserError.self) {
            for try await _ in DocumentUserClient(on: core).currentUserStream() {}
        }
        #expect(error?.code == (hasSignedOut ? .unauthenticated : .notAllowed))
    }
}
