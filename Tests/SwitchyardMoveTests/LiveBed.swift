import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardMove

/// A live move from one backend to another, with devices and a process that can be ended and begun again.
final class LiveBed: Sendable {
    let old: LiveSide
    let new: LiveSide
    private let bed = MoveBed()
    private let process = Mutex<Task<Result<Void, MoveError>, Never>?>(nil)
    let live: LiveMove

    init(
        old: LiveSide? = nil, new: LiveSide? = nil, change: (inout LiveMove) -> Void = { _ in }
    ) async throws {
        if let old { self.old = old } else { self.old = try await .mock() }
        if let new { self.new = new } else { self.new = try await .mock() }
        var options = MoveOptions()
        options.sample = nil
        options.collections = self.old.collections
        var live = try LiveMove(
            from: try await BackendEnd(self.old.project, name: "old"),
            to: try await BackendEnd(self.new.project, name: "new"), name: "test", journal: bed.folder("live"),
            options: options)
        live.longestPause = .milliseconds(5)
        live.quietPeriod = .milliseconds(200)
        change(&live)
        self.live = live
    }

    struct Device: Sendable {
        let network: MockNetwork
        let backend: Infrastructure
        /// Whether the network can only be switched off at the client.
        let switchesClient: Bool
        var storage: any StorageClient { backend.storage }
        var moving: MovingStorageClient { storage.unwrapped(as: MovingStorageClient.self)! }

        func setOnline(_ isOnline: Bool) async throws {
            network.isOnline = isOnline
            guard switchesClient else { return }
            if isOnline { try await storage.enableNetwork() } else { try await storage.disableNetwork() }
        }
    }

    /// - Parameter change: What is different in the options of this device.
    func device(_ change: (inout InfrastructureOptions) -> Void = { _ in }) async throws -> Device {
        let network = MockNetwork()
        let factory = InfrastructureFactory(
            MockModule(backend: MockBackend(), network: network),
            MovingModule(from: old.module(network), to: new.module(network), name: "test"))
        var selection = InfrastructureSelection(default: .mock)
        selection.storage = .moving
        selection.files = .moving
        var options = InfrastructureOptions()
        change(&options)
        return Device(
            network: network, backend: try await factory.make(selection, in: options),
            switchesClient: !old.isMock || !new.isMock)
    }

    // MARK: The process

    func start() {
        process.withLock { process in
            process = Task { [live] in
                do throws(MoveError) { return .success(try await live.run()) } catch {
                    if error.code != .cancelled { Issue.record("The process ended: \(error)") }
                    return .failure(error)
                }
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

    func reach(_ phase: MovePhase) async throws { try await live.reach(phase, within: .seconds(120)) }

    /// How many entries there are in the logs that can be read.
    func waiting() async throws -> Int {
        var count = 0
        for side in MoveSide.allCases { count += (try? await live.carrier.entries(side).count) ?? 0 }
        return count
    }

    /// Waits until everything is carried.
    func settle(_ devices: [Device] = []) async throws {
        for device in devices { try await device.storage.waitForPendingWrites() }
        try await eventually("the logs are empty") { try await live.status().waiting == 0 }
    }

    func end(_ devices: [Device] = []) async {
        await stop()
        for device in devices { await device.backend.shutDown() }
        await old.close()
        await new.close()
    }
}
