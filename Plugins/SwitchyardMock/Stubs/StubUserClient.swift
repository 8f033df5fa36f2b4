public import Foundation
public import Switchyard

/// A user client for the tests of one feature: you set the calls that the feature makes, and every other one refuses by name.
///
/// ```swift
/// let users = StubUserClient(currentUser: { UserModel(id: "ada", displayName: "Ada") })
/// let broken = StubUserClient(over: users) { $0.updateProfile = { _ in throw UserError(.unavailable, "No connection.") } }
/// ```
///
/// Where only the plain stream of two is set, the one that tells more is derived from it.
public struct StubUserClient: UserClient {
    /// What the stub answers by itself; `nil` for what it leaves to the client that it was made over.
    public struct Calls: Sendable {
        public var currentUser: (@Sendable () async throws -> UserModel)?
        public var user: (@Sendable (AuthUser.ID) async throws -> UserModel)?
        public var currentUserStream: (@Sendable () -> SnapshotStream<UserModel?, UserError>)?
        public var userStream: (@Sendable (AuthUser.ID) -> SnapshotStream<UserModel?, UserError>)?
        public var currentUserSnapshots: (@Sendable () -> SnapshotStream<DomainSnapshot<UserModel?>, UserError>)?
        public var userSnapshots: (@Sendable (AuthUser.ID) -> SnapshotStream<DomainSnapshot<UserModel?>, UserError>)?
        public var updateProfile: (@Sendable (ProfileChanges) async throws -> Void)?
        public var updateFields: (@Sendable (FieldUpdates) async throws -> Void)?
        public var setProfileImage: (@Sendable (Data, String) async throws -> FilePath)?
        public var profileImage: (@Sendable (AuthUser.ID) async throws -> Data)?
        public var removeProfileImage: (@Sendable () async throws -> Void)?
    }

    public var calls = Calls()
    private let base: any UserClient

    /// - Parameters:
    ///   - base: Answers what is not set: a mock, or by default a client that refuses everything by name. `UnsetClients` has one
    ///     that also records a failure of the test.
    ///   - set: Sets the calls.
    public init(over base: any UserClient = UnsetClients.stubs.users, _ set: (inout Calls) -> Void = { _ in }) {
        self.base = base
        set(&calls)
    }

    /// A stub that answers these calls and refuses every other one by name.
    public init(
        currentUser: (@Sendable () async throws -> UserModel)? = nil,
        user: (@Sendable (AuthUser.ID) async throws -> UserModel)? = nil,
        currentUserStream: (@Sendable () -> SnapshotStream<UserModel?, UserError>)? = nil,
        userStream: (@Sendable (AuthUser.ID) -> SnapshotStream<UserModel?, UserError>)? = nil,
        currentUserSnapshots: (@Sendable () -> SnapshotStream<DomainSnapshot<UserModel?>, UserError>)? = nil,
        userSnapshots: (@Sendable (AuthUser.ID) -> SnapshotStream<DomainSnapshot<UserModel?>, UserError>)? = nil,
        updateProfile: (@Sendable (ProfileChanges) async throws -> Void)? = nil,
        updateFields: (@Sendable (FieldUpdates) async throws -> Void)? = nil,
        setProfileImage: (@Sendable (Data, String) async throws -> FilePath)? = nil,
        profileImage: (@Sendable (AuthUser.ID) async throws -> Data)? = nil,
        removeProfileImage: (@Sendable () async throws -> Void)? = nil
    ) {
        self.init {
            $0.currentUser = currentUser
            $0.user = user
            $0.currentUserStream = currentUserStream
            $0.userStream = userStream
            $0.currentUserSnapshots = currentUserSnapshots
            $0.userSnapshots = userSnapshots
            $0.updateProfile = updateProfile
            $0.updateFields = updateFields
            $0.setProfileImage = setProfileImage
            $0.profileImage = profileImage
            $0.removeProfileImage = removeProfileImage
        }
    }

    // MARK: Requirements

    public func currentUser() async throws(UserError) -> UserModel {
        try await stubbed(UserError.self) { try await (calls.currentUser ?? base.currentUser)() }
    }
    public func user(_ id: AuthUser.ID) async throws(UserError) -> UserModel {
        try await stubbed(UserError.self) { try await (calls.user ?? base.user)(id) }
    }
    public func currentUserStream() -> SnapshotStream<UserModel?, UserError> {
        (calls.currentUserStream ?? base.currentUserStream)()
    }
    public func userStream(_ id: AuthUser.ID) -> SnapshotStream<UserModel?, UserError> {
        (calls.userStream ?? base.userStream)(id)
    }
    public func currentUserSnapshots() -> SnapshotStream<DomainSnapshot<UserModel?>, UserError> {
        if calls.currentUserSnapshots == nil, let currentUserStream = calls.currentUserStream {
            return currentUserStream().asDomainSnapshots()
        }
        return (calls.currentUserSnapshots ?? base.currentUserSnapshots)()
    }
    public func userSnapshots(_ id: AuthUser.ID) -> SnapshotStream<DomainSnapshot<UserModel?>, UserError> {
        if calls.userSnapshots == nil, let userStream = calls.userStream { return userStream(id).asDomainSnapshots() }
        return (calls.userSnapshots ?? base.userSnapshots)(id)
    }
    public func updateProfile(_ changes: ProfileChanges) async throws(UserError) {
        try await stubbed(UserError.self) { try await (calls.updateProfile ?? base.updateProfile)(changes) }
    }
    public func updateFields(_ updates: FieldUpdates) async throws(UserError) {
        try await stubbed(UserError.self) { try await (calls.updateFields ?? base.updateFields)(updates) }
    }
    @discardableResult
    public func setProfileImage(_ image: Data, contentType: String) async throws(UserError) -> FilePath {
        try await stubbed(UserError.self) {
            try await (calls.setProfileImage ?? base.setProfileImage)(image, contentType)
        }
    }
    public func profileImage(of id: AuthUser.ID) async throws(UserError) -> Data {
        try await stubbed(UserError.self) { try await (calls.profileImage ?? base.profileImage)(id) }
    }
    public func removeProfileImage() async throws(UserError) {
        try await stubbed(UserError.self) { try await (calls.removeProfileImage ?? base.removeProfileImage)() }
    }
}
