public import Foundation

/// Why a call to a ``UserClient`` failed.
public typealias UserError = DomainError

/// Users and their profiles, in the documents `users/{id}`.
public protocol UserClient: Sendable {
    /// The signed-in user's profile. The first call after the first sign-in creates it from the account.
    ///
    /// - Throws: `.unauthenticated` if no user is signed in.
    func currentUser() async throws(UserError) -> UserModel

    /// - Throws: `.notFound` if there is no such user.
    func user(_ id: AuthUser.ID) async throws(UserError) -> UserModel

    /// The profile of the user who is signed in when the stream starts; `nil` until it exists.
    func currentUserStream() -> SnapshotStream<UserModel?, UserError>
    func userStream(_ id: AuthUser.ID) -> SnapshotStream<UserModel?, UserError>
    /// As ``currentUserStream()``, with where the profile comes from.
    func currentUserSnapshots() -> SnapshotStream<DomainSnapshot<UserModel?>, UserError>
    /// As ``userStream(_:)``, with where the profile comes from.
    func userSnapshots(_ id: AuthUser.ID) -> SnapshotStream<DomainSnapshot<UserModel?>, UserError>

    func updateProfile(_ changes: ProfileChanges) async throws(UserError)
    /// Writes the app's own fields into the signed-in user's profile.
    func updateFields(_ updates: FieldUpdates) async throws(UserError)

    /// Stores the image and records its path in the profile.
    @discardableResult
    func setProfileImage(_ image: Data, contentType: String) async throws(UserError) -> FilePath
    /// - Throws: `.notFound` if the user has no image.
    func profileImage(of id: AuthUser.ID) async throws(UserError) -> Data
    func removeProfileImage() async throws(UserError)
}

/// For clients that do not tell where profiles come from.
extension UserClient {
    public func currentUserSnapshots() -> SnapshotStream<DomainSnapshot<UserModel?>, UserError> {
        currentUserStream().asDomainSnapshots()
    }
    public func userSnapshots(_ id: AuthUser.ID) -> SnapshotStream<DomainSnapshot<UserModel?>, UserError> {
        userStream(id).asDomainSnapshots()
    }
}
