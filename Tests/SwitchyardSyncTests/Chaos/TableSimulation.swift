import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardSync

/// Devices that read and write the rows of one server while everything goes wrong, then quiet, then the truth.
final class TableSimulation {
    private let seed: UInt64
    private let server: ModelServer
    private var generator: SeededGenerator
    private let folder: TemporaryFolder
    private var clients: [SyncedStorageClient] = []
    private var viewers: [[Viewer]] = []
    private let sent = SentBatches()
    /// Rows that are written once, each by one batch.
    private var inserted: Set<StoragePath> = []
    /// Rows that a policy has ever hidden: to a driver they look as if somebody had deleted them.
    private var hidden: Set<StoragePath> = []
    /// Rows that were added under local names: by whom, and in which batch.
    private var added: [Addition] = []
    private var lastName = 0
    private static let users: [String?] = ["alice", "bob", nil]
    private static let texts = ["a", "B", "b", "C", "c", "D"]

    private struct Addition {
        let client: Int
        let user: String?
        let path: StoragePath
        let batch: String
    }

    init(seed: UInt64) throws {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        folder = try TemporaryFolder(in: ScratchSpace.url)
        var tables = ModelTables()
        if generator.chance(70) { tables.collation = { $0.lowercased() } }
        if generator.chance(50) {
            tables.trigger = { data in
                var data = data
                if let n = data["n"]?.integerValue { data["n"] = .integer(min(n, 4)) }
                return data
            }
        }
        tables.returnsRows = generator.chance(80)
        tables.counted = ["tasks"]
        server = ModelServer(tables)
        server.refuse { writes in
            let isRefused = writes.contains { write in
                guard write.path.collection == "tasks", case .set(let data) = write.operation else { return false }
                return data["t"] == "D"
            }
            return isRefused ? StorageError(.failedPrecondition, "The title is taken.") : nil
        }
        var faults = ModelFaults()
        faults.lostRequests = 10
        faults.lostAnswers = 10
        faults.lateWrites = 10
        faults.lostHints = 10
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
        let driver = NotingDriver(base: ModelDriver(server, clock: FastClock()), sent: sent)
        return SyncedStorageClient(
            SyncEngine(
                driver, index == 0 ? .memory : .folder(folder.file("c\(index)")), userID: "alice", clock: FastClock(),
                now: { Timestamp(microseconds: 77_000_000) }, chance: { 0.5 }))
    }

    func run() async throws {
        for _ in 0..<60 { try await step(generator.int(0..<3)) }
        server.setTrouble(nil)
        server.setFaults(ModelFaults())
        var refused: Set<String> = []
        for user in Self.users.reversed() {
            for client in clients {
                await client.setUser(user)
                try await client.enableNetwork()
                try await client.retryPendingWrites()
                try await client.waitForPendingWrites()
                refused.formUnion(try await client.refusals.map(\.id))
            }
        }
        server.checkStreams()
        for (client, viewers) in zip(clients, viewers) {
            for viewer in viewers { try await check(viewer, of: client) }
        }
        checkWrites(refused)
        try await checkAdditions(refused)
        for viewer in viewers.joined() { viewer.leave() }
        for client in clients {
            try await eventually("no one listens", within: .seconds(60)) { await client.engine.listenerCount == 0 }
            await client.shutDown()
        }
    }

    private func check(_ viewer: Viewer, of client: SyncedStorageClient) async throws {
        do {
            try await eventually("a view shows the server's rows", within: .seconds(20)) { [server] in
                viewer.shows(server.rows(of: viewer.query))
            }
        } catch {
            let unrest = await client.engine.unrest
            Issue.record("seed \(seed): \(viewer.state) instead of \(server.rows(of: viewer.query)); \(unrest)")
            throw error
        }
        #expect(!viewer.hasSeenWrongChanges, "seed \(seed): changes of \(viewer.query) that lead elsewhere")
    }

    /// No batch took effect twice, and none was lost, except to a later write of somebody else.
    private func checkWrites(_ refused: Set<String>) {
        let log = server.carriedOut
        var counts: [String: Int] = [:]
        for entry in log { counts[entry.id, default: 0] += 1 }
        for path in inserted {
            let count = log.count { $0.paths.contains(path) }
            let isRefused = sent.all.contains { $0.writes.contains { $0.path == path } && refused.contains($0.id) }
            #expect(count == (isRefused ? 0 : 1), "seed \(seed): \(path) took effect \(count) times")
        }
        for batch in sent.all where !refused.contains(batch.id) {
            // Without a base, a repeated write is told from others' by its contents alone.
            let bases = batch.bases.compactMap { $0.flatMap { Int($0.rawValue) } }
            guard bases.count == batch.writes.count else { continue }
            let count = counts[batch.id] ?? 0
            #expect(count <= 1, "seed \(seed): batch \(batch.id) took effect \(count) times")
            guard count == 0 else { continue }
            for (write, base) in zip(batch.writes, bases)
            where write.operation != .delete && !hidden.contains(write.path) {
                let isReplaced = log.contains { $0.tag > base && $0.paths.contains(write.path) }
                #expect(isReplaced, "seed \(seed): batch \(batch.id) on \(write.path) is lost")
            }
        }
    }

    /// Every row that was added is there once, unless that was refused, and its local name leads to it.
    private func checkAdditions(_ refused: Set<String>) async throws {
        let log = server.carriedOut
        for addition in added {
            let found = log.filter { $0.id == addition.batch }
            #expect(found.count == (refused.contains(addition.batch) ? 0 : 1), "seed \(seed): \(addition.path)")
            guard let path = found.first?.paths.first, addition.user == "alice" else { continue }
            // The users have taken turns, and she is the last.
            let client = clients[addition.client]
            let document = try await client.document(addition.path, from: .server)
            #expect(document.path == path, "seed \(seed): \(addition.path)")
            let row = try await client.document(path, from: .server)
            #expect(document.data == row.data, "seed \(seed): \(addition.path)")
        }
        func isLocal(_ path: StoragePath) -> Bool { path.id.utf8.first == UInt8(ascii: "-") }
        let strays = server.documents.filter { document in
            let references = (document.data ?? [:]).compactMap { field in
                if case .reference(let reference) = field.value { reference.path } else { nil }
            }
            return ([document.path] + references).contains(where: isLocal)
        }
        #expect(strays.isEmpty, "seed \(seed): \(strays.map(\.path)) have local names")
    }

    /// Adds a row whose key the server makes, or does something with one that was added.
    private func stepWithNames(_ index: Int) async throws {
        let client = clients[index]
        let value = FieldValue.of(generator.int(0..<6))
        let text = DocumentValue.string(generator.pick(Self.texts))
        if generator.chance(45) || added.isEmpty {
            lastName += 1
            let path = StoragePath(unchecked: "tasks/-\(lastName)")
            let user = await client.engine.owner.userID
            var fields: WriteFields = ["n": value, "t": .of(text)]
            if let other = added.last?.path, generator.chance(20) { fields["after"] = .of(other) }
            let receipt: WriteReceipt
            do throws(StorageError) { receipt = try await client.commit(WriteBatch([try .create(path, fields)])) } catch
            {
                guard error.code == .invalidArgument else { throw error }
                return
            }
            added.append(Addition(client: index, user: user, path: path, batch: receipt.batchID))
            return
        }
        let path = generator.pick(added).path
        let room = StoragePath(unchecked: "rooms/\(generator.int(0..<6))")
        let write: DocumentWrite =
            switch generator.int(0..<5) {
            case 0: .delete(path)
            case 1: try .update(room, ["task": .of(path)])
            case 2: try .set(room, ["n": value, "t": .of(text), "task": .of(path)])
            default: try .update(path, ["n": value])
            }
        do throws(StorageError) { try await client.commit(WriteBatch([write])) } catch {
            // It was added on another device, by somebody else, or not at all.
            guard error.code == .invalidArgument else { throw error }
        }
    }

    private func step(_ index: Int) async throws {
        let client = clients[index]
        switch generator.int(0..<32) {
        case 24..<32: try await stepWithNames(index)
        case 0..<7: try await client.commit(WriteBatch([randomWrite()]))
        case 7:
            let path = StoragePath(unchecked: "log/\(inserted.count)")
            inserted.insert(path)
            try await client.commit(WriteBatch([try .create(path, ["n": 1])]))
        case 8: try await client.commit(WriteBatch([randomWrite(), randomWrite()]))
        case 9..<13: viewers[index].append(Viewer(client, try randomQuery()))
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
        case 19:
            let row = StoragePath(unchecked: "rooms/\(generator.int(0..<8))")
            hidden.insert(row)
            server.hide { $0 == row }
        case 20:
            let trouble = StorageError(.failedPrecondition, "Permission denied for table rooms.")
            server.setTrouble(generator.chance(50) ? trouble : nil)
        case 21: server.releaseLocks()
        case 22: server.checkStreams()
        default:
            // The others get on with what they were told; how far they come is of no matter.
            for _ in 0..<generator.int(1..<200) { await Task.yield() }
        }
    }

    private func randomWrite() throws -> DocumentWrite {
        let path = try StoragePath(validating: "rooms/\(generator.int(0..<6))")
        let text = DocumentValue.string(generator.pick(Self.texts))
        switch generator.int(0..<5) {
        case 0: return .delete(path)
        case 1: return try .update(path, ["n": .of(generator.int(0..<6))])
        case 2: return try .update(path, ["t": .of(text)])
        default: return try .set(path, ["n": .of(generator.int(0..<6)), "t": .of(text)])
        }
    }

    private func randomQuery() throws -> Query {
        switch generator.int(0..<9) {
        case 6: Query(in: "tasks")
        case 7: Query(in: "tasks").ordered(by: "t").limited(to: 2)
        case 8: Query(in: "tasks").where("n", .greaterThan, 2)
        case 0: Query(in: "rooms")
        case 1: Query(in: "rooms").where("n", .greaterThan, 2)
        case 2: Query(in: "rooms").where("t", .equal, "b")
        case 3: Query(in: "rooms").ordered(by: "t")
        case 4: Query(in: "rooms").ordered(by: "t").limited(to: 2)
        default: Query(in: "rooms").ordered(by: "t").limited(toLast: 2)
        }
    }
}

/// What was ever sent, by the name of the batch.
private final class SentBatches: Sendable {
    private let batches = Mutex<[String: OutgoingBatch]>([:])

    func note(_ batch: OutgoingBatch) {
        batches.withLock { batches in
            if let known = batches[batch.id], known.bases != batch.bases {
                Issue.record("batch \(batch.id) has other bases than at first")
            }
            batches[batch.id] = batch
        }
    }

    var all: [OutgoingBatch] { batches.withLock { Array($0.values) } }
}

private struct NotingDriver: ForwardingDriver {
    let base: ModelDriver
    let sent: SentBatches

    func add(_ batch: OutgoingBatch) async throws(StorageError) -> (document: StoragePath, result: CommitResult) {
        sent.note(batch)
        return try await base.add(batch)
    }

    func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
        sent.note(batch)
        return try await base.commit(batch)
    }
}
