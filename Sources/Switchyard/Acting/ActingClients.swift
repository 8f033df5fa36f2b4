/// The clients of one request: they act for whoever has sent it, with the token that came along, and see what that person may see.
///
/// ```swift
/// let caller = try await verifier.verify(authorization: request.headers["Authorization"])
/// let mine = try await backend.acting(as: caller)
/// let orders = try await mine.storage.documents(Query(in: "orders").where("owner", .equal, caller.userID))
/// ```
/// Nothing is kept between calls, neither a cache nor a queue: a write is done when its call returns. The token is not refreshed:
/// once it has run out, calls throw `.unauthenticated`.
public struct ActingClients: Sendable {
    public let caller: VerifiedToken
    /// Says who the caller is, and hands out the token. Nobody signs in or out here.
    public let auth: any AuthClient
    public let storage: any StorageClient
    public let users: any UserClient
    public let contacts: any ContactsClient
    public let checkIns: any CheckInClient
    public let notifications: any NotificationClient

    init(
        _ caller: VerifiedToken, _ auth: any AuthClient, _ storage: any StorageClient,
        now: @escaping @Sendable () -> Timestamp
    ) {
        let core = CoreClients(auth: auth, storage: storage, now: now)
        self.caller = caller
        self.auth = auth
        self.storage = storage
        users = DocumentUserClient(on: core)
        contacts = DocumentContactsClient(on: core)
        checkIns = DocumentCheckInClient(on: core)
        notifications = DocumentNotificationClient(on: core)
    }
}

/// What acts for the project itself, above all rules; see ``Infrastructure/actingAsProject()``.
public struct ProjectClients: Sendable {
    /// Without a cache and a queue: a write is done when its call returns.
    public let storage: any StorageClient
}

/// Somebody whose token came with a request.
final class CallerAuthClient: BorrowedSession {
    let capabilities = AuthCapabilities()
    private let caller: VerifiedToken

    init(_ caller: VerifiedToken) { self.caller = caller }

    var provider: InfrastructureProvider { caller.provider }
    var state: AuthState { get async { .signedIn(user) } }
    func authStateStream() -> SnapshotStream<AuthState, Never> { .just(.signedIn(user)) }

    private var user: AuthUser {
        AuthUser(
            id: caller.userID, email: caller.email, isEmailVerified: caller.isEmailVerified,
            phoneNumber: caller.phoneNumber, isAnonymous: caller.isAnonymous)
    }

    func accessToken(refreshing: Bool) async throws(AuthError) -> AccessToken {
        guard !refreshing else {
            throw AuthError(
                .sessionExpired,
                "The server no longer takes the token that came with the request. Whoever has sent it refreshes it.")
        }
        return AccessToken(value: caller.token, expiresAt: Timestamp(caller.expiresAt), userID: caller.userID)
    }

    let refusal = AuthError(
        .unsupported,
        "A request's clients act for whoever has sent it. Accounts are changed by the app that is signed in.")
}
