import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardMove
import SwitchyardTestSupport
import Synchronization

/// A live move from one mock to another, with devices and a process that can be ended and begun again.
final class LiveBed: Sendable {
    let old: MockBackend
    let new: MockBackend
    private let bed = MoveBed()
    private let ends: (from: Infrastructure, to: Infrastructure)
    private let process = Mutex<Task<Result<Void, MoveError>, Never>?>(nil)
    let live: LiveMove

    init(old: MockBackend = MockBackend(), new: MockBackend = MockBackend()) async throws {
        self.old = old
        self.new = new
        ends = (try await old.infrastructure(), try await new.infrastructure())
        var live = try LiveMove(
            from: try await BackendEnd(ends.from, name: "old"), to: try await BackendEnd(ends.to, name: "new"),
            name: "test", journal: bed.folder("live"))
        live.longestPause = .milliseconds(5)
        self.live = live
    }

    struct Device: Sendable {
        let network: MockNetwork
        let backend: Infrastructure
        let storage: any StorageClient
        var moving: MovingStorageClient { storage.unwrapped(as: MovingStorageClient.self)! }
    }

    func device() async throws -> Device {
        let network = MockNetwork()
        let here = MockModule(backend: old, network: network)
        let factory = InfrastructureFactory(
            here, MovingModule(from: here, to: MockModule(backend: new, network: network), name: "test"))
        var selection = InfrastructureSelection(default: .mock)
        selection.storage = .moving
        selection.files = .moving
        let backend = try await factory.make(selection)
        return Device(network: network, backend: backend, storage: backend.storage)
    }

    // MARK: The process

    func start() {
        process.withLock { process in
            process = Task { [live] in
                do throws(MoveError) { return .success(try await live.run()) } catch { return .failure(error) }
            }
        }
    }

    var isRunning: Bool { process.withLock { $0 != nil } }

    /// - Returns: How it ended.
    @discardableResult
    func stop() async -> Result<Void, MoveError>? {
        let task = process.withLock { process in
            defer { process = nil }
            return process
        }
        task?.cancel()
        return await task?.value
    }

    func reach(_ phase: MovePhase) async throws {
        if phase != .copy { try await live.request(phase) }
        try await eventually("the phase \(phase)") { try await live.status().phase == phase }
    }

    /// Waits until everything is carried.
    func settle(_ devices: [Device] = []) async throws {
        for device in devices { try await device.storage.waitForPendingWrites() }
        try await eventually("the logs are empty") { try await live.status().waiting == 0 }
    }

    func end(_ devices: [Device] = []) async {
        await stop()
        for device in devices { await device.backend.shutDown() }
        await ends.from.shutDown()
        await ends.to.shutDown()
    }

    /// The documents of a side by path, without those of the move.
    static func documents(_ backend: MockBackend, _ collections: [String]) async throws -> [String: DocumentData] {
        let infrastructure = try await backend.infrastructure()
        let storage = try await infrastructure.actingAsProject().storage
        var found: [String: DocumentData] = [:]
        for collection in collections {
            for document in try await storage.documents(Query(group: collection), from: .server).documents {
                found[document.path.rawValue] = document.data
            }
        }
        await infrastructure.shutDown()
        return found
    }
}
