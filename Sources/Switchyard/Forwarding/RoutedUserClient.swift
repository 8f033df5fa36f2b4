package import Foundation

/// Forwards every call along the route.
extension Routed: UserClient where Client == any UserClient {
    package func currentUser() async throws(UserError) -> UserModel {
        try await route.call(.repeatable("current user")) { users throws(UserError) in try await users.currentUser() }
    }
    package func user(_ id: AuthUser.ID) async throws(UserError) -> UserModel {
        try await route.call(.repeatable("user")) { users throws(UserError) in try await users.user(id) }
    }
    package func currentUserStream() -> SnapshotStream<UserModel?, UserError> {
        route.snapshots("current user stream") { $0.currentUserStream() }
    }
    package func userStream(_ id: AuthUser.ID) -> SnapshotStream<UserModel?, UserError> {
        route.snapshots("user stream") { $0.userStream(id) }
    }
    package func currentUserSnapshots() -> SnapshotStream<DomainSnapshot<UserModel?>, UserError> {
        route.snapshots("current user snapshots") { $0.currentUserSnapshots() }
    }
    package func userSnapshots(_ id: AuthUser.ID) -> SnapshotStream<DomainSnapshot<UserModel?>, UserError> {
        route.snapshots("user snapshots") { $0.userSnapshots(id) }
    }
    package func updateProfile(_ changes: ProfileChanges) async throws(UserError) {
        try await route.call("update profile") { users throws(UserError) in try await users.updateProfile(changes) }
    }
    package func updateFields(_ updates: FieldUpdates) async throws(UserError) {
        try await route.call("update fields") { users throws(UserError) in try await users.updateFields(updates) }
    }
    @discardableResult
    package func setProfileImage(_ image: Data, contentType: String) async throws(UserError) -> FilePath {
        try await route.call("set profile image") { users throws(UserError) in
            try await users.setProfileImage(image, contentType: contentType)
        }
    }
    package func profileImage(of id: AuthUser.ID) async throws(UserError) -> Data {
        try await route.call(.repeatable("profile image")) { users throws(UserError) in
            try await users.profileImage(of: id)
        }
    }
    package func removeProfileImage() async throws(UserError) {
        try await route.call("remove profile image") { users throws(UserError) in
            try await users.removeProfileImage()
        }
    }
}
