public import Foundation

/// Why a call to a ``UserClient`` failed.
public typealias UserError = DomainError

/// People and their profiles, in the documents `users/{id}`.
public protocol UserClient: Sendable {
    /// The profile of whoever is signed in; made from the account at the first call after the first sign-in.
    ///
    /// - Throws: `.notAuthenticated` if nobody is.
    func currentUser() async throws(UserError) -> UserModel

    /// - Throws: `.notFound` if there is no such person.
    func user(_ id: AuthUser.ID) async throws(UserError) -> UserModel

    /// The profile of whoever is signed in when the stream starts; `nil` while there is none yet.
    func currentUserStream() -> SnapshotStream<UserModel?, UserError>
    func userStream(_ id: AuthUser.ID) -> SnapshotStream<UserModel?, UserError>

    func updateProfile(_ changes: ProfileChanges) async throws(UserError)
    /// Writes fields of the app's own into the profile of whoever is signed in.
    func updateFields(_ updates: FieldUpdates) async throws(UserError)

    /// Stores the image and notes its place in the profile.
    @discardableResult
    func setProfileImage(_ image: Data, contentType: String) async throws(UserError) -> FilePath
    /// - Throws: `.notFound` if the person has none.
    func profileImage(of id: AuthUser.ID) async throws(UserError) -> Data
    func removeProfileImage() async throws(UserError)
}
