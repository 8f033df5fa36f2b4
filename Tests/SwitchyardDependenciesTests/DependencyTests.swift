import Switchyard
import SwitchyardDependencies
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@Suite struct DependencyTests {
    private struct Profile {
        @Dependency(\.storageClient) var storage
        @Dependency(\.userClient) var users
        func name() async throws -> String? { try await storage.document("users/alice")["name"]?.stringValue }
    }

    @Test func `A client that is not set says which dependency and which operation was missing`() async throws {
        try await withDependencies {
            $0.context = .test
        } operation: { () async throws -> Void in
            let error = await #expect(throws: StorageError.self) { _ = try await Profile().name() }
            #expect(error?.message.contains("storageClient") == true)
            #expect(error?.message.contains("“document”") == true)
            let userError = await #expect(throws: UserError.self) { _ = try await Profile().users.currentUser() }
            #expect(userError?.message.contains("userClient") == true)
        }
    }

    @Test func `A live client that is not set fails the same way`() async {
        let error = await #expect(throws: AuthError.self) {
            try await DependencyValues().authClient.signInAnonymously()
        }
        #expect(error?.message.contains("authClient") == true)
    }

    @Test func `A stream of a client that is not set fails when it is read`() async throws {
        try await withDependencies {
            $0.context = .test
        } operation: { () async throws -> Void in
            let error = await #expect(throws: StorageError.self) {
                for try await _ in Profile().storage.snapshots(of: "users/alice") {}
            }
            #expect(error?.message.contains("storageClient") == true)
        }
    }

    @Test func `What cannot fail is not known on a client that is not set`() async {
        let values = DependencyValues()
        #expect(await values.authClient.state == .unknown)
        for await state in values.authClient.authStateStream() {
            #expect(state == .unknown)
            break
        }
        #expect(await values.messagingClient.permission == .undetermined)
        #expect(values.storageClient.capabilities == StorageCapabilities())
        #expect(values.storageClient.unwrapped(as: MockStorageClient.self) == nil)
    }

    @Test func `What is set holds for the operation and the tasks it starts, and no longer`() async throws {
        let storage = MockStorageClient()
        try await storage.setDocument("users/alice", ["name": "Alice"])
        try await withDependencies {
            $0.context = .test
            $0.storageClient = storage
        } operation: { () async throws -> Void in
            #expect(try await Profile().name() == "Alice")
            async let inChild = Profile().name()
            #expect(try await inChild == "Alice")
            #expect(try await Task { try await Profile().name() }.value == "Alice")
        }
        try await withDependencies {
            $0.context = .test
        } operation: { () async throws -> Void in
            await #expect(throws: StorageError.self) { _ = try await Profile().name() }
        }
    }

    @Test func `A scope inside another changes only what it names`() async throws {
        let outer = MockStorageClient()
        try await outer.setDocument("users/alice", ["name": "outer"])
        let inner = MockStorageClient()
        try await inner.setDocument("users/alice", ["name": "inner"])
        try await withDependencies {
            $0.storageClient = outer
        } operation: { () async throws -> Void in
            try await withDependencies {
                $0.storageClient = inner
            } operation: { () async throws -> Void in
                #expect(try await Profile().name() == "inner")
            }
            #expect(try await Profile().name() == "outer")
        }
    }

    @Test func `A whole infrastructure is set at once`() async throws {
        let backend = try await InfrastructureFactory(MockModule()).make(InfrastructureSelection(default: .mock))
        try await withDependencies {
            $0.use(backend)
        } operation: { () async throws -> Void in
            @Dependency(\.authClient) var auth
            @Dependency(\.userClient) var users
            let user = try await auth.signUp(email: "a@example.com", password: "long enough").get()
            #expect(try await users.currentUser().id == user.id)
        }
        await backend.shutDown()
    }

    @Test func `Previews have something to show`() async throws {
        try await withDependencies {
            $0.context = .preview
        } operation: { () async throws -> Void in
            @Dependency(\.authClient) var auth
            @Dependency(\.storageClient) var storage
            #expect(await auth.currentUser != nil)
            #expect(try await storage.documents(Query(in: "users")).count > 0)
        }
    }
}

struct Profile {
    @Dependency(\.userClient) var users
    func load() async throws -> UserModel { try await users.currentUser() }
}

/// What the module's page says, done on the mock.
@Suite struct DependencyPageTests {
    private func runApp() async throws {
        @Dependency(\.authClient) var auth
        let user = try await auth.signUp(email: "a@example.com", password: "long enough").get()
        #expect(try await Profile().load().id == user.id)
    }

    @Test func `An app sets its clients once, and anything below asks for them`() async throws {
        let factory = InfrastructureFactory(MockModule())
        let selection = InfrastructureSelection(default: .mock)
        let backend = try await factory.make(selection)
        try await withDependencies {
            $0.use(backend)
        } operation: {
            try await runApp()
        }
        await backend.shutDown()
    }

    @Test func `Every piece of Swift in the page stands above, line for line`() throws {
        let page = try Article("Sources/SwitchyardDependencies/Documentation.docc/SwitchyardDependencies.md")
        let missing = try page.missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }
}
