import Switchyard

extension DomainConformance {
    /// The effect of ending a session on the documents on the device.
    static let sessionChecks: [DomainCheck] = [
        DomainCheck("signing out can leave neither waiting writes nor a cache", needs: .offline) { context in
            let path = try await prepare(context)
            try await context.device.core.auth.signOut(.local, wipesLocalData: true)
            try await expectFailure([.unavailable], as: StorageError.self, "reading the profile from the cache") {
                try await context.storage.document(path, from: .cache)
            }
            try await context.watch(context.storage.pendingWrites()).newest("that no write waits") { $0.isEmpty }
            try await context.storage.enableNetwork()
            try await context.signIn()
            _ = try await context.users.currentUser()
            try expectEqual(try await waiting(context), 0, "the number of writes that wait for who came back")
            try expectEqual(try await context.users.currentUser().displayName, "Before", "the name on the server")
        },
        DomainCheck("an open stream is emptied when local data is wiped, and goes on", needs: .offline) { context in
            let path = try await prepare(context)
            let stream = context.watch(context.storage.snapshots(of: path))
            try await stream.newest("the change that waits") { $0["displayName"] == "Meanwhile" }
            try await context.device.core.auth.signOut(.local, wipesLocalData: true)
            try await stream.newest("that nothing is known") { !$0.exists && $0.metadata.isFromCache }
            try await context.signIn()
            try await context.storage.enableNetwork()
            try await stream.newest("what the server has") { $0["displayName"] == "Before" }
        },
        DomainCheck("signing out as such keeps the writes for who comes back", needs: .offline) { context in
            _ = try await prepare(context)
            try await context.device.core.auth.signOut(.local, wipesLocalData: false)
            try await context.signIn()
            _ = try await context.users.currentUser()
            try expectEqual(try await waiting(context), 1, "the number of waiting writes")
            try await context.storage.enableNetwork()
            try await context.settle()
            try expectEqual(try await context.users.currentUser().displayName, "Meanwhile", "the name on the server")
        },
    ].within("sessions")

    /// A user with a cached profile and an offline change to it.
    private static func prepare(_ context: DomainContext) async throws -> StoragePath {
        let user = try await context.signIn()
        _ = try await context.users.currentUser()
        try await context.users.updateProfile(ProfileChanges(displayName: "Before"))
        try await context.settle()
        try await context.storage.disableNetwork()
        try await context.users.updateProfile(ProfileChanges(displayName: "Meanwhile"))
        try expectEqual(try await waiting(context), 1, "the number of waiting writes")
        return try StoragePath(validating: "users/\(user.id)")
    }

    private static func waiting(_ context: DomainContext) async throws -> Int {
        try await context.watch(context.storage.pendingWrites()).first("the queue of writes").count
    }
}
