public import Foundation

/// A client for users that forwards every call along its route.
public protocol RoutedUserClient: UserClient {
    var route: any Route<any UserClient> { get }
}

extension RoutedUserClient {
    public func currentUser() async throws(UserError) -> UserModel {
        try await route.call(.repeatable("current user")) { users throws(UserError) in try await users.currentUser() }
    }
    public func user(_ id: AuthUser.ID) async throws(UserError) -> UserModel {
        try await route.call(.repeatable("user")) { users throws(UserError) in try await users.user(id) }
    }
    public func currentUserStream() -> SnapshotStream<UserModel?, UserError> {
        route.snapshots("current user stream") { $0.currentUserStream() }
    }
    public func userStream(_ id: AuthUser.ID) -> SnapshotStream<UserModel?, UserError> {
        route.snapshots("user stream") { $0.userStream(id) }
    }
    public func updateProfile(_ changes: ProfileChanges) async throws(UserError) {
        try await route.call("update profile") { users throws(UserError) in try await users.updateProfile(changes) }
    }
    public func updateFields(_ updates: FieldUpdates) async throws(UserError) {
        try await route.call("update fields") { users throws(UserError) in try await users.updateFields(updates) }
    }
    @discardableResult
    public func setProfileImage(_ image: Data, contentType: String) async throws(UserError) -> FilePath {
        try await route.call("set profile image") { users throws(UserError) in
            try await users.setProfileImage(image, contentType: contentType)
        }
    }
    public func profileImage(of id: AuthUser.ID) async throws(UserError) -> Data {
        try await route.call(.repeatable("profile image")) { users throws(UserError) in
            try await users.profileImage(of: id)
        }
    }
    public func removeProfileImage() async throws(UserError) {
        try await route.call("remove profile image") { users throws(UserError) in
            try await users.removeProfileImage()
        }
    }
}

extension Routed: UserClient, RoutedUserClient where Client == any UserClient {}
