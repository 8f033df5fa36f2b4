public import Foundation

/// A ``UserClient`` on any storage, auth and file storage.
public struct DocumentUserClient: UserClient {
    private let core: CoreClients
    private let signedIn: SignedInUser

    public init(on core: CoreClients) {
        self.core = core
        signedIn = SignedInUser(auth: core.auth)
    }

    public func currentUser() async throws(UserError) -> UserModel {
        let account = try await signedIn.user()
        return try await UserError.mapping {
            let path = UserFields.path(account.id)
            // Another write, such as a check-in, may have made the document: then it has no time of creation.
            let stored = UserModel(try await core.storage.document(path))
            if let stored, stored.createdAt != nil { return stored }
            // A merge, not a set, to keep what another device wrote in between.
            var fields: WriteFields = [UserFields.createdAt: .serverTime]
            if stored?.email == nil, let email = account.email { fields[UserFields.email] = .of(email) }
            if stored?.displayName == nil, let name = account.displayName { fields[UserFields.displayName] = .of(name) }
            if stored?.phoneNumber == nil, let phone = account.phoneNumber {
                fields[UserFields.phoneNumber] = .of(phone)
            }
            try await core.storage.mergeDocument(path, fields)
            return UserModel(try await core.storage.document(path)) ?? UserModel(id: account.id)
        }
    }

    public func user(_ id: AuthUser.ID) async throws(UserError) -> UserModel {
        try await UserError.mapping {
            guard let user = UserModel(try await core.storage.document(UserFields.path(id))) else {
                throw UserError(.notFound, "There is no such user.")
            }
            return user
        }
    }

    public func currentUserStream() -> SnapshotStream<UserModel?, UserError> {
        let storage = core.storage
        return signedIn.stream { id throws(StorageError) in
            let path = UserFields.path(id)
            return storage.snapshots(of: path).mapElements { UserModel($0) }
        }
    }

    public func userStream(_ id: AuthUser.ID) -> SnapshotStream<UserModel?, UserError> {
        let storage = core.storage
        return signedIn.stream { _ throws(StorageError) in
            let path = UserFields.path(id)
            return storage.snapshots(of: path).mapElements { UserModel($0) }
        }
    }

    public func currentUserSnapshots() -> SnapshotStream<DomainSnapshot<UserModel?>, UserError> {
        signedIn.stream { id throws(StorageError) in profile(of: id) }
    }

    public func userSnapshots(_ id: AuthUser.ID) -> SnapshotStream<DomainSnapshot<UserModel?>, UserError> {
        signedIn.stream { _ throws(StorageError) in profile(of: id) }
    }

    private func profile(of id: AuthUser.ID) -> SnapshotStream<DomainSnapshot<UserModel?>, StorageError> {
        core.storage.snapshots(of: UserFields.path(id), options: .withMetadata)
            .mapElements { DomainSnapshot($0, UserModel($0)) }
    }

    public func updateProfile(_ changes: ProfileChanges) async throws(UserError) {
        var fields = WriteFields()
        if let value = changes.displayName { fields[UserFields.displayName] = .of(value) }
        if let value = changes.phoneNumber { fields[UserFields.phoneNumber] = .of(value) }
        if let value = changes.email { fields[UserFields.email] = .of(value) }
        guard !fields.isEmpty else { return }
        let id = try await signedIn.id()
        let merged = fields
        try await UserError.mapping { try await core.storage.mergeDocument(UserFields.path(id), merged) }
    }

    public func updateFields(_ updates: FieldUpdates) async throws(UserError) {
        let id = try await signedIn.id()
        try await UserError.mapping {
            if try await core.storage.foresees(UserFields.path(id)) == false {
                throw UserError(.notFound, "There is no profile yet. Call currentUser() first, which creates it.")
            }
            try await core.storage.updateDocument(UserFields.path(id), updates)
        }
    }

    public func setProfileImage(_ image: Data, contentType: String) async throws(UserError) -> FilePath {
        let id = try await signedIn.id()
        let files = try requireFiles()
        return try await UserError.mapping {
            let path = try FilePath(validating: "users/\(id)/profile")
            try await files.put(image, at: path, options: UploadOptions(contentType: contentType))
            try await core.storage.mergeDocument(UserFields.path(id), ["imagePath": .of(path.rawValue)])
            return path
        }
    }

    public func profileImage(of id: AuthUser.ID) async throws(UserError) -> Data {
        let files = try requireFiles()
        let user = try await user(id)
        guard let path = user.imagePath else { throw UserError(.notFound, "This user has no profile image.") }
        return try await UserError.mapping { try await files.data(at: path, limit: 32 << 20) }
    }

    public func removeProfileImage() async throws(UserError) {
        let user = try await currentUser()
        let files = try requireFiles()
        guard let path = user.imagePath else { return }
        try await UserError.mapping {
            // First the profile, so that it never names a deleted file.
            try await core.storage.updateDocument(UserFields.path(user.id), ["imagePath": .delete])
            do throws(FileStorageError) { try await files.delete(path) } catch .notFound {}
        }
    }

    private func requireFiles() throws(UserError) -> any FileStorageClient {
        guard let files = core.files else {
            throw UserError(.unsupported, "Profile images need file storage. Choose a provider for files.")
        }
        return files
    }
}
