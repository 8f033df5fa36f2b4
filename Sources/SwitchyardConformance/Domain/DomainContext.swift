import Switchyard
import Synchronization

/// The context of a domain check: a device, and people who exist nowhere else.
final class DomainContext: ConformanceContext {
    private struct State {
        var devices: [DomainDevice] = []
        var people: [String: AuthUser.ID] = [:]
        var listeners: [@Sendable () -> Void] = []
    }

    let harness: any DomainHarness
    let namespace = ConformanceNamespace()
    let features: DomainFeatures
    let device: DomainDevice
    private let state = Mutex(State())

    init(_ harness: any DomainHarness) async throws {
        self.harness = harness
        features = harness.features
        device = try await harness.makeDomainDevice()
        state.withLock { $0.devices = [device] }
    }

    var users: any UserClient { device.users }
    var contacts: any ContactsClient { device.contacts }
    var checkIns: any CheckInClient { device.checkIns }
    var notifications: any NotificationClient { device.notifications }
    var storage: any StorageClient { device.core.storage }

    /// A new device for each call.
    func anotherDevice() async throws -> DomainDevice {
        let device = try await harness.makeDomainDevice()
        state.withLock { $0.devices.append(device) }
        return device
    }

    @discardableResult
    func signIn(_ name: String = "alice", on device: DomainDevice? = nil) async throws -> AuthUser {
        let user = try await harness.signIn(name, on: device ?? self.device, in: namespace)
        state.withLock { $0.people[name] = user.id }
        return user
    }

    func watch<Stream: AsyncSequence & Sendable>(_ stream: Stream) -> StreamProbe<Stream.Element>
    where Stream.Element: Sendable {
        let probe = StreamProbe<Stream.Element>(stream)
        state.withLock { $0.listeners.append { probe.cancel() } }
        return probe
    }

    /// Creates a notification for the signed-in person, as a server would.
    func notify(_ id: String, at seconds: Int64, to user: AuthUser.ID) async throws {
        let model = NotificationModel(
            id: id, title: "Title \(id)", body: "Body", kind: "test", sentAt: .at(1_700_000_000 + seconds))
        let path = try StoragePath(validating: "users/\(user)/notifications/\(id)")
        try await storage.setDocument(path, model.fields).acknowledged()
    }

    @discardableResult
    func expectFailure<Value>(
        _ codes: ErrorCode..., as type: DomainError.Type, in what: String, file: String = #fileID,
        line: Int = #line, _ body: () async throws -> Value
    ) async throws -> DomainError {
        try await SwitchyardConformance.expectFailure(codes, as: type, what, file: file, line: line, body)
    }

    /// Waits until the server has all writes of this device.
    func settle() async throws { try await storage.waitForPendingWrites() }

    func tearDown() async throws {
        let (devices, people, listeners) = state.withLock { ($0.devices, $0.people, $0.listeners) }
        for cancel in listeners { cancel() }
        var failure: (any Error)?
        for (name, id) in people {
            do {
                let device = try await harness.makeDomainDevice()
                _ = try await harness.signIn(name, on: device, in: namespace)
                try await remove(id, device.core)
                if device.core.auth.capabilities.accountDeletion { try await device.core.auth.deleteAccount() }
                await shutDown(device)
            } catch {
                failure = error
            }
        }
        for device in devices { await shutDown(device) }
        try await harness.cleanUp(namespace)
        if let failure { throw failure }
    }

    private func remove(_ id: AuthUser.ID, _ core: CoreClients) async throws {
        let user = try StoragePath(validating: "users/\(id)")
        let own = ["contacts", "notifications"].map { Query(in: user.collection($0)) }
        let checkIns = Query(in: "checkIns").where("userID", .equal, id)
        for query in own + [checkIns] {
            for document in try await core.storage.documents(query, from: .server).documents {
                try await core.storage.deleteDocument(document.path).acknowledged()
            }
        }
        let profile = try await core.storage.document(user, from: .server)
        if let image = profile["imagePath"]?.stringValue, let files = core.files {
            try? await files.delete(FilePath(validating: image))
        }
        try await core.storage.deleteDocument(user).acknowledged()
    }

    private func shutDown(_ device: DomainDevice) async {
        await device.core.storage.shutDown()
        await device.core.files?.shutDown()
        await device.core.messaging?.shutDown()
        await device.core.auth.shutDown()
    }
}

public typealias DomainCheck = ConformanceCheck<any DomainHarness, DomainFeatures>

extension ConformanceCheck where Harness == any DomainHarness, Features == DomainFeatures {
    init(
        _ name: String, needs requirements: DomainRequirement..., deadline: Duration = .seconds(40),
        _ body: @escaping @Sendable (DomainContext) async throws -> Void
    ) {
        self.init(.domain, name, requirements: requirements, deadline: deadline) { harness in
            try await ConformanceLife.run(deadline: deadline, begin: { try await DomainContext(harness) }, body: body)
        }
    }
}
