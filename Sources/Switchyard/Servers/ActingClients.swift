/// The clients for one request. They act for the user who sent it, with the user's own token, and see what that user may see.
///
/// ```swift
/// let caller = try await verifier.verify(authorization: request.headers["Authorization"])
/// let mine = try await backend.acting(as: caller)
/// let orders = try await mine.storage.documents(Query(in: "orders").where("owner", .equal, caller.userID))
/// ```
/// They have no cache and no queue: a write is done when its call returns. The token is not refreshed: once it has expired,
/// calls throw `.unauthenticated`. Messages are not among them: they go to devices and belong to the session of an app.
public struct ActingClients: Sendable {
    public var caller: VerifiedToken { session.caller }
    /// Says who the caller is and returns the caller's token. It cannot sign in or out.
    public var auth: any AuthClient { session }
    public let storage: any StorageClient
    /// Files as the caller may see them. A transfer continues after you drop this client; an interrupted one starts over,
    /// since nothing is persisted. If the chosen provider does not support files for callers, each call says why.
    public var files: any FileStorageClient {
        factories.files { factory throws(InfrastructureError) in
            try factory.makeFileStorageClient(for: caller, auth: auth)
        }
    }
    public var users: any UserClient { DocumentUserClient(on: core) }
    public var contacts: any ContactsClient { DocumentContactsClient(on: core) }
    public var checkIns: any CheckInClient { DocumentCheckInClient(on: core) }
    public var notifications: any NotificationClient { DocumentNotificationClient(on: core) }
    // Made on demand: there may be ten thousand callers at a time.
    private var core: CoreClients { CoreClients(auth: auth, storage: unnamed, now: factories.now) }
    /// The storage for the domain clients; as in an infrastructure, its error messages do not name documents.
    private let unnamed: any StorageClient
    private let session: CallerAuthClient
    private let factories: ServerClientFactories

    init(_ caller: VerifiedToken, by factories: ServerClientFactories) throws(InfrastructureError) {
        session = CallerAuthClient(caller)
        let bare = try factories.storage.makeStorageClient(for: caller, auth: session)
        unnamed = bare.with(factories.policies.policy(for: .storage, of: bare.provider, namesErrors: false))
        storage = bare.with(factories.policies.policy(for: .storage, of: bare.provider))
        self.factories = factories
    }
}

/// The clients that act for the project itself and bypass all rules; see ``Infrastructure/actingAsProject()``.
public struct ProjectClients: Sendable {
    /// Has no cache and no queue: a write is done when its call returns.
    public let storage: any StorageClient
    /// If the chosen provider does not support project files, or has no credential for them, each call says why.
    public var files: any FileStorageClient {
        factories.files { factory throws(InfrastructureError) in try factory.makeProjectFileStorageClient() }
    }
    private let factories: ServerClientFactories

    init(by factories: ServerClientFactories) throws(InfrastructureError) {
        let bare = try factories.storage.makeProjectStorageClient()
        storage = bare.with(factories.policies.policy(for: .storage, of: bare.provider))
        self.factories = factories
    }
}

/// Makes the clients of all callers, with their policies.
final class ServerClientFactories: Sendable {
    let storage: any ServerClientFactory
    let policies: CallPolicies
    let now: @Sendable () -> Timestamp
    private let files: Result<any ServerClientFactory, InfrastructureError>

    init(
        storage: any ServerClientFactory, files: Result<any ServerClientFactory, InfrastructureError>,
        policies: CallPolicies,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.storage = storage
        self.files = files
        self.policies = policies
        self.now = now
    }

    /// Missing files do no harm: only calls to them fail.
    func files(
        _ make: (any ServerClientFactory) throws(InfrastructureError) -> any FileStorageClient
    ) -> any FileStorageClient {
        do throws(InfrastructureError) {
            let bare = try make(try files.get())
            return bare.with(policies.policy(for: .files, of: bare.provider))
        } catch {
            let message = error.message
            return Routed<any FileStorageClient>(
                Route(refusing: Refusal(error.code == .shutDown ? .shutDown : .unsupported) { _ in message }))
        }
    }
}

/// The session of a user whose token came with a request.
final class CallerAuthClient: ReadOnlyAuthClient {
    let capabilities = AuthCapabilities()
    let caller: VerifiedToken

    init(_ caller: VerifiedToken) { self.caller = caller }

    var provider: InfrastructureProvider { caller.provider }
    var state: AuthState { get async { .signedIn(user) } }
    /// With the token of the request, so that its clients ask once.
    var session: SessionSnapshot {
        get async { SessionSnapshot(issuer: provider, state: .signedIn(user), token: token) }
    }
    /// The state is read from the token only when it is observed, which is rare.
    func authStateStream() -> SnapshotStream<AuthState, Never> {
        SnapshotStream { [self] continuation in
            continuation.yield(.signedIn(user))
            continuation.finish()
            return {}
        }
    }

    private var user: AuthUser {
        AuthUser(
            id: caller.userID, email: caller.email, isEmailVerified: caller.isEmailVerified,
            phoneNumber: caller.phoneNumber, isAnonymous: caller.isAnonymous)
    }

    func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        guard !refreshing else {
            throw AuthError(
                .sessionExpired,
                "The server no longer accepts the token of this request. Its sender has to refresh it and ask again.")
        }
        return token
    }

    private var token: AccessToken {
        AccessToken(value: caller.token, expiresAt: Timestamp(caller.expiresAt), userID: caller.userID)
    }

    let refusal = AuthError(
        .unsupported,
        "The clients of a request cannot change accounts. Do that in the app that is signed in, or with admin().")
}
