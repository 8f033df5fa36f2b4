import Foundation
import Switchyard

/// Stands for a dependency that nobody set: every operation fails and says which one it was.
struct UnsetUserClient: UserClient {
    func currentUser() async throws(UserError) -> UserModel { throw .unset("userClient", "currentUser") }
    func user(_ id: AuthUser.ID) async throws(UserError) -> UserModel { throw .unset("userClient", "user") }
    func currentUserStream() -> SnapshotStream<UserModel?, UserError> {
        .failing(.unset("userClient", "currentUserStream"))
    }
    func userStream(_ id: AuthUser.ID) -> SnapshotStream<UserModel?, UserError> {
        .failing(.unset("userClient", "userStream"))
    }
    func updateProfile(_ changes: ProfileChanges) async throws(UserError) {
        throw .unset("userClient", "updateProfile")
    }
    func updateFields(_ updates: FieldUpdates) async throws(UserError) { throw .unset("userClient", "updateFields") }
    func setProfileImage(_ image: Data, contentType: String) async throws(UserError) -> FilePath {
        throw .unset("userClient", "setProfileImage")
    }
    func profileImage(of id: AuthUser.ID) async throws(UserError) -> Data { throw .unset("userClient", "profileImage") }
    func removeProfileImage() async throws(UserError) { throw .unset("userClient", "removeProfileImage") }
}
