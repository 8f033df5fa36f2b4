import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSync

/// Whole clients, tasks, clocks and all, on one model server whose network loses, doubles and delays messages.
///
/// Which operations are done, and what happens to messages, follows from the seed; how tasks take turns does not. Schedules
/// that replay exactly are those of `ChaosTests`.
@Suite(.timeLimit(.minutes(2))) struct EngineChaosTests {
    private static let seeds =
        ProcessInfo.processInfo.environment["SWITCHYARD_ENGINE_SEEDS"].flatMap { UInt64($0) }
        ?? RunSize.full(40, part: 8)

    @Test(arguments: 1...seeds) func `Clients on a bad network end in the server's truth`(_ seed: UInt64) async throws {
        let simulation = try EngineSimulation(seed: seed)
        try await simulation.run()
    }
}

private final class EngineSimulation {
    private let server = ModelServer()
    private var generator: SeededGenerator
    private let folder: TemporaryFolder
    private var clients: [SyncedStorageClient] = []
    private var viewers: [[Viewer]] = []
    private var increments: Int64 = 0
    private static let users: [String?] = ["alice", "bob", nil]

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        folder = try TemporaryFolder(in: ScratchSpace.url)
        var faults = ModelFaults()
        faults.lostRequests = 10
        faults.lostAnswers = 10
        faults.lateCopies = 10
        faults.doubledEvents = 10
        faults.brokenStreams = 3
        faults.longestDelay = .seconds(1)
        server.setFaults(faults, seed: seed)
        for index in 0..<3 {
            clients.append(makeClient(index))
            viewers.append([])
        }
    }

    /// The first keeps everything in memory and is never restarted.
    private func makeClient(_ index: Int) -> SyncedStorageClient {
        device(server, index == 0 ? .memory : .folder(folder.file("c\(index)")), user: "alice")
    }

    func run() async throws {
        for _ in 0..<60 { try await step(generator.int(0..<3)) }
        server.setFaults(ModelFaults())
        for user in Self.users.reversed() {
            for client in clients {
                await client.setUser(user)
                try await client.enableNetwork()
                try await client.retryPendingWrites()
                try await client.waitForPendingWrites()
            }
        }
        #expect(server.documents.first { $0.path == "counters/one" }?["n"]?.integerValue ?? 0 == increments)
        for (client, viewers) in zip(clients, viewers) {
            for viewer in viewers { try await check(viewer, of: client) }
        }
        for viewer in viewers.joined() { viewer.leave() }
        for client in clients {
            try await eventually("no one listens", within: .seconds(60)) { await client.engine.listenerCount == 0 }
            await client.shutDown()
        }
    }

    private func check(_ viewer: Viewer, of client: SyncedStorageClient) async throws {
        do {
            try await eventually("a view shows the server's result", within: .seconds(60)) { [server] in
                viewer.shows(viewer.query.results(among: server.documents))
            }
        } catch {
            let unrest = await client.engine.unrest
            Issue.record("\(viewer.state) instead of \(viewer.query.results(among: server.documents)); \(unrest)")
            throw error
        }
    }

    private func step(_ index: Int) async throws {
        let client = clients[index]
        switch generator.int(0..<20) {
        case 0..<7: try await client.commit(WriteBatch([randomWrite()]))
        case 7..<10:
            try await client.mergeDocument("counters/one", ["n": .increment(1)])
            increments += 1
        case 10..<13: viewers[index].append(Viewer(client, try randomQuery()))
        case 13: if !viewers[index].isEmpty { viewers[index].removeFirst().leave() }
        case 14: server.dropConnections()
        case 15: await client.setUser(generator.pick(Self.users))
        case 16: try await generator.chance(50) ? client.enableNetwork() : client.disableNetwork()
        case 17: _ = try? await client.documents(randomQuery())
        case 18:
            guard index > 0 else { break }
            for viewer in viewers[index] { viewer.leave() }
            viewers[index] = []
            await client.shutDown()
            clients[index] = makeClient(index)
        default:
            // The others get on with what they were told; how far they come is of no matter.
            for _ in 0..<generator.int(1..<200) { await Task.yield() }
        }
    }

    private func randomWrite() throws -> DocumentWrite {
        let path = try StoragePath(validating: "rooms/\(generator.int(0..<6))")
        switch generator.int(0..<4) {
        case 0: return .delete(path)
        case 1: return try .update(path, ["n": .of(generator.int(0..<6))])
        default: return try .set(path, ["n": .of(generator.int(0..<6))])
        }
    }

    private func randomQuery() throws -> Query {
        switch generator.int(0..<3) {
        case 0: Query(in: "rooms")
        case 1: Query(in: "rooms").where("n", .greaterThan, 2)
        default: Query(in: "rooms").ordered(by: "n").limited(to: 2)
        }
    }
}
