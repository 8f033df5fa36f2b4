import Foundation
import Switchyard
import SwitchyardTestSupport
import Testing

@testable import SwitchyardMock

@Suite final class MockFolderTests {
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("mock-folder-\(UInt64.random(in: 0 ... .max))", isDirectory: true)

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func context() -> ModuleContext { ModuleContext() }
    private func module() -> MockModule { MockModule(MockConfiguration(folder: folder)) }

    @Test func `Documents of every kind outlast the process`() async throws {
        let data: DocumentData = [
            "null": .null, "bool": true, "integer": .integer(.max), "zero": .double(-0.0), "nan": .double(.nan),
            "text": "é\u{301}\u{0}\"", "time": .timestamp(try Timestamp(validatingSeconds: -5, nanoseconds: 7)),
            "bytes": .bytes(Data([0, 255])), "reference": .reference(DocumentReference("a/b", origin: "other")),
            "place": .geoPoint(try GeoPoint(latitude: 1.5, longitude: -2.25)), "vector": .vector([1, .infinity]),
            "array": [1, "two", .map(["three": 3])], "map": .map(["empty": .map([:]), "list": []]),
        ]
        let project = try MockBackend(folder: folder)
        let first = MockStorageClient(project)
        try await first.setDocument("a/1", data)
        try await first.setDocument("a/2", ["n": 1])
        try await first.deleteDocument("a/2")
        let before = try await first.document("a/1")
        project.close()
        let later = try MockBackend(folder: folder)
        #expect(later.documentCount == 1)
        #expect(try await MockStorageClient(later).document("a/1") == before)
    }

    @Test func `A waiting write goes out after a restart, once`() async throws {
        let network = MockNetwork()
        let project = try MockBackend(folder: folder)
        let first = try MockStorageClient(project, network: network, keptAs: "phone")
        try await first.setDocument("a/1", ["n": 1])
        network.isOnline = false
        try await first.updateDocument("a/1", ["n": .increment(1), "tags": .arrayUnion("x"), "at": .serverTime])
        await first.shutDown()
        project.close()

        let backend = try MockBackend(folder: folder)
        let second = try MockStorageClient(backend, keptAs: "phone")
        try await second.waitForPendingWrites()
        #expect(try await second.document("a/1", from: .server)["n"] == 2)
        #expect(try await second.document("a/1", from: .server)["tags"] == ["x"])
        await second.shutDown()
        backend.close()

        let third = try MockStorageClient(try MockBackend(folder: folder), keptAs: "phone")
        // The queue on disk may lag behind the answer; then the write goes out again, and takes effect no second time.
        try await third.waitForPendingWrites()
        #expect(try await firstValue(of: third.pendingWrites())?.isEmpty == true)
        #expect(try await third.document("a/1", from: .server)["n"] == 2)
    }

    @Test func `Accounts and the session outlast the process`() async throws {
        let auth = try await module().makeAuthClient(context())
        let user = try await auth.signUp(email: "alice@example.com", password: "secret").get()
        await auth.shutDown()
        let later = try await module().makeAuthClient(context())
        #expect(await later.currentUser?.id == user.id)
        _ = try await later.accessToken(refreshing: true)
        try await later.signOut()
        try await later.signIn(email: "alice@example.com", password: "secret")
        let text = try String(contentsOf: folder.appendingPathComponent("accounts.json"), encoding: .utf8)
        #expect(!text.contains("\"secret\""))
    }

    @Test func `The queues of all users outlast the process, and stay theirs`() async throws {
        let first = try await InfrastructureFactory(module()).make(InfrastructureSelection(default: .mock))
        let network = try #require(first.storage.unwrapped(as: MockStorageClient.self)).controls.network
        let alice = try await first.auth.signUp(email: "alice@example.com", password: "secret").get()
        network.isOnline = false
        try await first.storage.setDocument("a/1", ["owner": .of(alice.id)])
        try await first.auth.signOut()
        try await first.storage.setDocument("a/2", ["owner": "missing"])
        await first.shutDown()

        let later = try await InfrastructureFactory(module()).make(InfrastructureSelection(default: .mock))
        try await later.storage.waitForPendingWrites()
        #expect(try await later.storage.document("a/2", from: .server)["owner"] == "missing")
        #expect(try await !later.storage.document("a/1", from: .server).exists)
        try await later.auth.signIn(email: "alice@example.com", password: "secret")
        _ = try await later.storage.document("a/1")
        try await later.storage.waitForPendingWrites()
        #expect(try await later.storage.document("a/1", from: .server)["owner"] == .string(alice.id))
        await later.shutDown()
    }

    @Test func `Everything that is known of an account outlasts the process, before the network is asked`() async throws
    {
        let first = try await module().makeAuthClient(context())
        let mock = try #require(first.unwrapped(as: MockAuthClient.self))
        try await first.signUp(email: "alice@example.com", password: "secret")
        mock.server.confirmEmail("alice@example.com")
        try await first.updateAccount(
            AccountChanges(displayName: "Alice", photoURL: URL(string: "https://example.com/alice.png")))
        let phone = try await first.sendPhoneCode(to: "+49123456789")
        let code = try #require(mock.server.mail(.phoneCode, to: "+49123456789")?.code)
        try await first.link(.phoneCode(phone, code))
        let factor = try await first.beginSecondFactor(.totp)
        let user = try await first.confirmSecondFactor(
            factor, code: try #require(mock.server.oneTimeCode(for: factor.sharedKey)), displayName: "My phone")
        #expect(user.isEmailVerified && user.phoneNumber != nil && user.photoURL != nil && user.createdAt != nil)
        #expect(user.identities.count == 2 && user.secondFactors.count == 1)
        await first.shutDown()

        let later = try await module().makeAuthClient(context())
        try #require(later.unwrapped(as: MockAuthClient.self)).controls.network.isOnline = false
        #expect(await later.currentUser == user)
    }

    @Test func `A session that the server ended is still known to have expired after a restart`() async throws {
        let first = try await module().makeAuthClient(context())
        let user = try await first.signUp(email: "alice@example.com", password: "secret").get()
        try #require(first.unwrapped(as: MockAuthClient.self)).server.endSessions(of: user.id)
        await #expect(throws: AuthError.self) { try await first.accessToken(refreshing: true) }
        await first.shutDown()
        #expect(await (try module().makeAuthClient(context())).state == .expired(user))
    }

    @Test func `Files and half an upload outlast the process`() async throws {
        let source = folder.appendingPathComponent("source.txt")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(repeating: 7, count: 600_000).write(to: source)
        let files = try await module().makeFileStorageClient(context())
        try await files.put(Data("x".utf8), at: "a.txt")
        let controls = try #require(files.unwrapped(as: MockFileStorageClient.self)).controls
        controls.fail(.uploadPart, onCall: 3, with: FileStorageError(.unavailable, "Gone."))
        await #expect(throws: FileStorageError.self) { try await files.upload(.file(source), to: "b.bin").result() }

        await files.shutDown()
        let later = try await module().makeFileStorageClient(context())
        #expect(try await later.data(at: "a.txt") == Data("x".utf8))
        let interrupted = try #require(try await later.interruptedUploads().first)
        #expect(interrupted.completedBytes == 2 * 262_144)
        #expect(try await later.resumeUpload(interrupted.id).result().size == 600_000)
        #expect(try await later.data(at: "b.bin") == Data(repeating: 7, count: 600_000))
    }

    @Test func `A damaged file is reported and set aside, never emptied`() async throws {
        try await MockStorageClient(try MockBackend(folder: folder)).setDocument("a/1", ["n": 1])
        let file = folder.appendingPathComponent("documents.json")
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count - 20] ^= 1
        try bytes.write(to: file)
        do throws(InfrastructureError) {
            _ = try MockBackend(folder: folder)
            Issue.record("The damage went unnoticed.")
        } catch {
            #expect(error.code == .localStore)
            #expect(error.message.contains("documents.json.damaged"))
        }
        #expect(try Data(contentsOf: folder.appendingPathComponent("documents.json.damaged")) == bytes)
        #expect(try MockBackend(folder: folder).documentCount == 0)
    }

    @Test func `A file cut short at any byte is never taken for a whole one`() async throws {
        try await MockStorageClient(try MockBackend(folder: folder)).setDocument("a/1", ["n": 1])
        let file = folder.appendingPathComponent("documents.json")
        let whole = try Data(contentsOf: file)
        for length in 0..<whole.count {
            try whole.prefix(length).write(to: file)
            #expect(throws: InfrastructureError.self) { try MockBackend(folder: folder) }
        }
        try whole.write(to: file)
        #expect(try MockBackend(folder: folder).documentCount == 1)
    }

    @Test func `A folder that cannot be written is a typed error`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let blocked = folder.appendingPathComponent("file")
        try Data().write(to: blocked)
        #expect(throws: InfrastructureError.self) {
            try MockBackend(folder: blocked.appendingPathComponent("inside", isDirectory: true))
        }
    }

    @Test func `Nothing of a folder is touched where its contents cannot be saved`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: folder.appendingPathComponent("contents"))
        let error = #expect(throws: InfrastructureError.self) { try MockBackend(folder: folder) }
        #expect(error?.code == .localStore)
        #expect(try Data(contentsOf: folder.appendingPathComponent("contents")) == Data("mine".utf8))
        try FileManager.default.removeItem(at: folder.appendingPathComponent("contents"))
        #expect(try MockBackend(folder: folder).documentCount == 0)
    }

    @Test func `A folder without write permission is refused by every client, and stays as it is`() async throws {
        // Even the administrator cannot write here.
        let place = URL(fileURLWithPath: "/proc/self/mock", isDirectory: true)
        let module = MockModule(MockConfiguration(folder: place))
        await #expect(throws: InfrastructureError.self) { _ = try await module.makeAuthClient(context()) }
        await #expect(throws: InfrastructureError.self) { _ = try await module.makeStorageClient(context()) }
        let error = await #expect(throws: InfrastructureError.self) {
            _ = try await InfrastructureFactory(module).make(InfrastructureSelection(default: .mock))
        }
        #expect(error?.code == .localStore)
        #expect(error?.message.contains("permissions") == true)
    }

    // MARK: Whose folder it is

    /// A hold on the folder as another process would have it.
    private final class OtherProcess {
        private let descriptor: Int32
        let hasIt: Bool
        init(_ folder: URL) {
            descriptor = open(folder.appendingPathComponent("lock").path, O_RDWR | O_CREAT, 0o600)
            hasIt = flock(descriptor, LOCK_EX | LOCK_NB) == 0
        }
        deinit { close(descriptor) }
    }

    @Test func `A folder that another process uses is refused, and free when that has ended`() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var foreign: OtherProcess? = OtherProcess(folder)
        #expect(foreign?.hasIt == true)
        let error = await #expect(throws: InfrastructureError.self) {
            _ = try await InfrastructureFactory(module()).make(InfrastructureSelection(default: .mock))
        }
        #expect(error?.code == .locked)
        #expect(error?.message.contains("another process") == true)
        foreign = nil
        let backend = try await InfrastructureFactory(module()).make(InfrastructureSelection(default: .mock))
        #expect(!OtherProcess(folder).hasIt)
        await backend.shutDown()
        #expect(OtherProcess(folder).hasIt)
    }

    @Test func `A second mock on a folder is refused, also in the same process`() throws {
        let first = try MockBackend(folder: folder)
        let error = #expect(throws: InfrastructureError.self) { try MockBackend(folder: folder) }
        #expect(error?.code == .locked)
        first.close()
        first.close()
        _ = try MockBackend(folder: folder)
    }

    @Test func `After its last client a module lets the folder go, and takes it again for the next`() async throws {
        let module = module()
        let auth = try await module.makeAuthClient(context())
        let storage = try await module.makeStorageClient(context())
        try await storage.setDocument("a/1", ["n": 1])
        await storage.shutDown()
        await storage.shutDown()
        #expect(!OtherProcess(folder).hasIt)
        await auth.shutDown()
        #expect(OtherProcess(folder).hasIt)

        // Somebody else changes something meanwhile.
        let other = try MockBackend(folder: folder)
        try await MockStorageClient(other).setDocument("a/1", ["n": 2])
        other.close()
        let again = try await module.makeStorageClient(context())
        #expect(try await again.document("a/1")["n"] == 2)
    }

    @Test func `A closed backend writes nothing into what is somebody else's`() async throws {
        let old = try MockBackend(folder: folder)
        let client = MockStorageClient(old)
        try await client.setDocument("a/1", ["n": 1])
        old.close()
        let new = try MockBackend(folder: folder)
        try await client.setDocument("a/1", ["n": 5])
        new.close()
        #expect(try await MockStorageClient(try MockBackend(folder: folder)).document("a/1")["n"] == 1)
    }

    // MARK: Messages and the cache

    @Test func `Subscriptions, and messages for one who was away, outlast the process`() async throws {
        let project = try MockBackend(folder: folder)
        let first = try await MockModule(backend: project).makeMessagingClient(context())
        let token = try await first.token()
        try await first.subscribe(to: "news")
        try await first.subscribe(to: "weather")
        try await first.unsubscribe(from: "weather")
        await first.shutDown()
        project.messages.send(title: "While away", data: ["k": "v"], to: "news")
        project.messages.send(title: "Not wanted", to: "weather")
        project.close()

        let later = try MockBackend(folder: folder)
        #expect(later.messages.subscribers(of: "news") == [token])
        #expect(later.messages.subscribers(of: "weather") == [])
        let second = try await MockModule(backend: later).makeMessagingClient(context())
        #expect(try await second.token() == token)
        let messages = await second.messageStream().begun()
        later.messages.send(title: "Now", to: "news")
        var titles: [String?] = []
        for try await message in messages {
            titles.append(message.title)
            if titles.count == 2 { break }
        }
        #expect(titles == ["While away", "Now"])
        later.close()
        #expect(try MockBackend(folder: folder).messages.subscribers(of: "news") == [token])
    }

    @Test func `What a device knew when it went offline it knows after a restart`() async throws {
        let project = try MockBackend(folder: folder)
        let network = MockNetwork()
        let first = try MockStorageClient(project, network: network, keptAs: "phone")
        let other = MockStorageClient(project)
        try await other.setDocument("a/1", ["n": 1])
        try await other.setDocument("a/3", ["n": 3])
        _ = try await first.document("a/1")
        _ = try await first.document("a/2")
        network.isOnline = false
        try await first.mergeDocument("a/1", ["m": 2])
        // Not shut down: the process ends.
        project.close()

        let later = try MockBackend(folder: folder)
        let away = MockNetwork()
        away.isOnline = false
        let second = try MockStorageClient(later, network: away, keptAs: "phone")
        let known = try await second.document("a/1")
        #expect(known["n"] == 1 && known["m"] == 2 && known.metadata.isFromCache && known.metadata.hasPendingWrites)
        #expect(try await second.document("a/2").exists == false)
        let unknown = await #expect(throws: StorageError.self) { try await second.document("a/3") }
        #expect(unknown?.code == .unavailable)
        #expect(try await second.documents(Query(in: "a")).count == 1)

        try await second.clearPersistence()
        await second.shutDown()
        later.close()
        let third = try MockStorageClient(try MockBackend(folder: folder), network: away, keptAs: "phone")
        await #expect(throws: StorageError.self) { try await third.document("a/1") }
    }

    @Test func `A queue and a cache that could not be written are written the next time`() async throws {
        let project = try MockBackend(folder: folder)
        let network = MockNetwork()
        let first = try MockStorageClient(project, network: network, keptAs: "phone")
        try await MockStorageClient(project).setDocument("a/1", ["n": 1])
        _ = try await first.document("a/1")
        // Folders in their places: no one can write there.
        let places = ["phone.json", "phone-cache.json"].map { folder.appendingPathComponent($0) }
        for place in places {
            try? FileManager.default.removeItem(at: place)
            try FileManager.default.createDirectory(
                at: place.appendingPathComponent("full"), withIntermediateDirectories: true)
        }
        network.isOnline = false
        try await first.mergeDocument("a/1", ["m": 2])
        for place in places { try FileManager.default.removeItem(at: place) }
        // Neither changes; both are saved all the same.
        _ = try await first.cancelPendingWrite("no such write")
        await first.shutDown()
        project.close()

        let away = MockNetwork()
        away.isOnline = false
        let second = try MockStorageClient(try MockBackend(folder: folder), network: away, keptAs: "phone")
        let known = try await second.document("a/1")
        #expect(known["n"] == 1 && known["m"] == 2)
    }

    @Test(arguments: ["phone-cache.json", "messages.json", "installation.json"])
    func `What is damaged of the cache or the messages is reported and set aside too`(_ name: String) async throws {
        func open() async throws {
            let project = try MockBackend(folder: folder)
            defer { project.close() }
            let messaging = try await MockModule(backend: project).makeMessagingClient(context())
            try await messaging.subscribe(to: "news")
            let storage = try MockStorageClient(project, keptAs: "phone")
            try await storage.setDocument("a/1", ["n": 1])
            await storage.shutDown()
        }
        try await open()
        let file = folder.appendingPathComponent(name)
        let whole = try Data(contentsOf: file)
        try whole.dropLast(3).write(to: file)
        let error = await #expect(throws: InfrastructureError.self) { try await open() }
        #expect(error?.code == .localStore && error?.message.contains("\(name).damaged") == true)
        #expect(try Data(contentsOf: folder.appendingPathComponent("\(name).damaged")) == whole.dropLast(3))
        try await open()
    }

    @Test func `The configuration reads what people write`() throws {
        let json = Data("{\"folder\": \"/tmp/x\", \"latencyMilliseconds\": 20}".utf8)
        let configuration = try JSONDecoder().decode(MockConfiguration.self, from: json)
        #expect(configuration.folder?.path == "/tmp/x")
        #expect(configuration.latencyMilliseconds == 20 && !configuration.hasSampleData)
        let again = try JSONDecoder().decode(MockConfiguration.self, from: JSONEncoder().encode(configuration))
        #expect(again == configuration)
        #expect(throws: InfrastructureError.self) {
            try MockModule(MockConfiguration(latencyMilliseconds: -1)).validate()
        }
    }
}
