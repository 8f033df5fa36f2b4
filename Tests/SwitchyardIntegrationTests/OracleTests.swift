import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardMock
import SwitchyardSync
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

/// The mock and the offline engine are two programs with one meaning, so each is the other's oracle: the same random schedule
/// on both, of writes, reads, streams and networks that come and go, has to show the same at every rest.
///
/// `SWITCHYARD_RANDOM=10` runs ten times as many schedules; `SWITCHYARD_ORACLE_SEED=7` one again.
@Suite(.timeLimit(.minutes(5))) struct OracleTests {
    private static let seeds: ClosedRange<UInt64> = {
        if let one = ProcessInfo.processInfo.environment["SWITCHYARD_ORACLE_SEED"].flatMap({ UInt64($0) }) {
            return one...one
        }
        return 1...UInt64(RandomRun.rounds(40))
    }()

    private static let run: SideRun<UInt64, Void> = SideRun(seeds) { try await OracleRun(seed: $0).run() }

    @Test(.beside(run), arguments: seeds)
    func `The mock and the engine show the same at every rest`(_ seed: UInt64) async throws {
        try await Self.run.value(of: seed)
    }
}

/// Two devices of a project on the mock, and two on the engine.
private final class OracleRun {
    private var generator: SeededGenerator
    private let server = ModelServer()
    private let devices: [OraclePair]
    private var log: [String] = []

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        let backend = MockBackend()
        let server = server
        devices = (0..<2).map { _ in
            OraclePair(mock: MockStorageClient(backend), engine: SyncedStorageClient(driver: ModelDriver(server)))
        }
    }

    func run() async throws {
        do {
            try await rest()
            for _ in 0..<40 {
                try await step(devices[generator.int(0..<2)])
                if generator.chance(40) { try await rest() }
            }
            for device in devices { try await device.setNetwork(true) }
            try await rest()
            try await compareContents()
        } catch {
            Issue.record("after:\n\(log.joined(separator: "\n"))")
            throw error
        }
        for device in devices { await device.end() }
    }

    // MARK: What is done

    private func step(_ device: OraclePair) async throws {
        let name = device === devices[0] ? "first" : "second"
        switch generator.int(0..<20) {
        case 0..<9:
            let batch = WriteBatch(try (0..<generator.pick([1, 1, 1, 2, 3])).map { _ in try randomWrite() })
            log.append("\(name) writes \(batch.writes.map(\.plain).joined(separator: ", "))")
            try await device.commit(batch)
        case 9..<13:
            let query = randomQuery()
            log.append("\(name) watches \(query.plain)")
            device.watch(query)
        case 13:
            let path = randomPath()
            log.append("\(name) watches \(path)")
            device.watch(path)
        case 14:
            log.append("\(name) leaves its oldest stream")
            device.leaveOldest()
        case 15, 16:
            // What has not arrived yet stays out, and the engine goes on to show a write as its own until it has.
            if device.isOnline { try await rest() }
            log.append("\(name) is \(device.isOnline ? "offline" : "online")")
            try await device.setNetwork(!device.isOnline)
        case 17, 18:
            let query = randomQuery()
            log.append("\(name) asks for \(query.plain)")
            try await device.compareResults(of: query)
        default:
            let path = randomPath()
            log.append("\(name) asks for \(path)")
            try await device.compareDocument(path)
        }
    }

    private func randomPath() -> StoragePath {
        let collection: CollectionPath = generator.pick(["things", "things", "things/1/parts"])
        return StoragePath(unchecked: "\(collection)/\(generator.int(1..<7))")
    }

    private func randomWrite() throws -> DocumentWrite {
        let path = randomPath()
        switch generator.int(0..<8) {
        case 0: return .delete(path)
        case 1: return try .update(path, ["n": .increment(generator.int(1..<4))])
        case 2: return try .update(path, ["a": .of(generator.int(0..<4)), "n": .delete])
        case 3:
            let tag = DocumentValue.string(generator.pick(["x", "y"]))
            return try .merge(path, ["tags": .arrayUnion(tag), "n": .increment(1)])
        case 4: return try .merge(path, ["b": .value(generator.value())])
        default: return try .set(path, WriteFields(generator.data()))
        }
    }

    private func randomQuery() -> Query {
        switch generator.int(0..<4) {
        case 0: Query(in: "things")
        case 1: Query(in: "things").ordered(by: "n").limited(to: 2)
        default: generator.query()
        }
    }

    // MARK: What is compared

    /// Everything has its answer that can have one: the mock says at once what there is to see, the engine soon.
    private func rest() async throws {
        log.append("rest")
        for device in devices { try await device.compareStreams() }
        for device in devices { try await device.compareQueues() }
    }

    private func compareContents() async throws {
        let all = devices[0]
        for collection in ["things", "things/1/parts"] as [CollectionPath] {
            let mock = try await all.mock.documents(Query(in: collection), from: .server).documents
            let model = Query(in: collection).results(among: server.documents)
            #expect(mock.map(OracleShown.Document.init) == model.map(OracleShown.Document.init))
        }
    }
}
