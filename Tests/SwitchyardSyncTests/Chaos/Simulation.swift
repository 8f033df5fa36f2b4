import Switchyard
import SwitchyardTestSupport

@testable import SwitchyardSync

/// One random schedule: several devices on one server, everything that can go wrong, then quiet, then the truth.
final class Simulation {
    private var generator: SeededGenerator
    private var server: SimServer
    private var clients: [SimClient] = []
    /// Batches that were given up by their sender and still reach the server at some time.
    private var stray: [OutgoingBatch] = []
    private var increments: [(client: String, id: String)] = []
    private let seed: UInt64
    /// Whether stores fail at times; one in four schedules.
    private let hasFailingStores: Bool
    /// Whether most documents have odd values and names; four in ten schedules.
    private let isOdd: Bool
    /// In a quarter of the schedules some of the collections, in another quarter all.
    private let tables: SimTables
    /// Whether the server makes the names of some documents; two in five schedules.
    private let hasNames: Bool
    private var lastName = 0

    private static let counter: StoragePath = "counters/one"
    /// What a device takes for the present: long ago, about the server's time, and far from now.
    private static let times: [Int64] = [
        -62_000_000_000_000_000, -1, 0, 5, 1_000_500, 1_500_000, 4_000_000_000_000_000, 253_000_000_000_000_000,
    ]
    private static let users: [String?] = ["alice", "bob", nil]
    private static let operations = StoreOperation.allCases.filter { $0 != .open }

    /// - Parameter makeStores: For each device, what opens its store; called again after each restart.
    init(
        seed: UInt64, keepsTrace: Bool = false, makeStores: (_ device: Int) throws -> () throws -> any SyncStore
    ) throws {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        hasFailingStores = generator.chance(25)
        isOdd = generator.chance(40)
        hasNames = seed % 5 < 2
        tables = seed.isMultiple(of: 4) ? .some : seed.isMultiple(of: 3) ? .all : .none
        server = SimServer(tables)
        for index in 0..<generator.int(1..<4) {
            let policy: CachePolicy = generator.chance(50) ? .eager : .standard
            clients.append(
                try SimClient(
                    "c\(index)", policy: policy, tables: tables, keepsTrace: keepsTrace,
                    makeStore: try makeStores(index)))
        }
    }

    /// In memory.
    convenience init(seed: UInt64, keepsTrace: Bool = false) throws {
        try self.init(seed: seed, keepsTrace: keepsTrace) { _ in
            let store = MemoryStore()
            return { store }
        }
    }

    var trace: String { clients.map(\.trace.text).joined() }
    var digest: UInt64 { clients.reduce(0) { $0 &* 31 &+ $1.trace.digest } }

    func run() throws {
        defer { for client in clients { client.close() } }
        for _ in 0..<generator.int(30..<100) { try step(clients[generator.int(0..<clients.count)]) }
        try quiesce()
        try check()
    }

    // MARK: Chance

    private func step(_ client: SimClient) throws {
        client.passRequests(to: server)
        switch generator.int(0..<125) {
        case 0..<18: write(client)
        case 18..<26:
            let isFromCache = generator.chance(25)
            client.listen(randomQuery(of: client), fromCache: isFromCache, isBrief: isFromCache && generator.chance(40))
        case 26..<30:
            if let id = client.listeners.keys.sorted().randomElement(using: &generator) { client.unlisten(id) }
        case 30..<55: client.deliverEvent(isDoubled: generator.chance(10), isLost: generator.chance(3))
        case 55..<67: serve(client)
        case 67..<75: client.deliverAnswer()
        case 75..<80: client.openWatch()
        case 80..<85: client.openWriter()
        case 85..<87: client.breakWatch()
        case 87..<89: stray += client.breakWriter()
        case 89..<93:
            if let timer = client.timers.sorted(by: { $0.rawValue < $1.rawValue }).randomElement(using: &generator) {
                client.fire(timer)
            }
        case 93:
            stray += client.outbox
            try client.restart()
        case 94, 114, 115:
            stray += client.outbox
            client.setUser(Self.users.randomElement(using: &generator)!)
        case 95:
            stray += client.outbox
            client.setNetwork(generator.chance(50))
        case 96:
            var limits = CacheLimits()
            limits.threshold = 0
            limits.percentile = 50
            client.feed(.collectGarbage(limits))
        case 97: if !stray.isEmpty { commit(stray.remove(at: generator.int(0..<stray.count))) }
        case 98: client.wait()
        case 99: disturb(client)
        case 100..<102: if client.stream?.owesCounts == true { client.stream?.count(server) }
        case 102..<104:
            guard hasFailingStores else { break }
            // One at random, all, or the one with which limited results are filled.
            switch generator.int(0..<8) {
            case 0..<4: client.fail([])
            case 4..<6: client.fail([generator.pick(Self.operations)])
            case 6: client.fail([.runQuery])
            default: client.fail(Set(Self.operations))
            }
        case 105..<107: client.read(randomRead(), from: server)
        case 107..<110: try client.deliverRead(generator.int(0..<100), from: server)
        case 110..<113: resolve(client)
        case 113: client.now = Timestamp(microseconds: generator.pick(Self.times))
        case 104: stray += try client.wipe(isRefused: hasFailingStores && generator.chance(50))
        default: break
        }
    }

    /// The server begins one of a client's targets again, or refuses a query from now on.
    private func disturb(_ client: SimClient) {
        guard let id = client.stream?.targetIDs.randomElement(using: &generator) else { return }
        if generator.chance(70) || !id.isMultiple(of: 2) {
            client.stream?.reset(id, server)
        } else {
            client.stream?.refuse(id)
        }
    }

    /// The user drops a rejected batch, or queues it again, as it was or so that it cannot be rejected again.
    private func resolve(_ client: SimClient) {
        let choice = generator.int(0..<3)
        let value = DocumentValue.integer(Int64(generator.int(0..<6)))
        client.resolve(generator.int(0..<100)) { writes in
            switch choice {
            case 0: nil
            case 1: writes
            default: writes.map { DocumentWrite(path: $0.path, operation: .set(["n": value])) }
            }
        }
    }

    /// How many batches were merged into later ones before they were sent.
    var mergedCount: Int { clients.reduce(0) { $0 + $1.superseded.count } }

    private func write(_ client: SimClient) {
        let (writes, isIncrement) =
            hasNames && generator.chance(40) ? (randomWritesWithNames(of: client), false) : randomWrites()
        // As when someone types: what is written again while it waits may be one write.
        let merges = generator.chance(40)
        for _ in 0..<(merges ? generator.int(1..<4) : 1) {
            let isQueued = client.write(writes, merging: merges)
            if isQueued, isIncrement, let id = client.queued.last?.id { increments.append((client.name, id)) }
        }
    }

    /// The server takes a client's next batch; now and then its answer is lost.
    private func serve(_ client: SimClient) {
        guard !client.outbox.isEmpty else { return }
        let batch = client.outbox.removeFirst()
        let answer = commit(batch)
        if generator.int(0..<8) == 0 {
            stray += client.breakWriter()
        } else {
            client.answers.append((batch, answer))
            if case .failure = answer { client.outbox = [] }  // the stream ends with its answer
        }
    }

    @discardableResult
    private func commit(_ batch: OutgoingBatch) -> Result<CommitResult, StorageError> {
        let answer = server.commit(batch)
        for client in clients { client.stream?.serverChanged(server) }
        return answer
    }

    private func randomPath() -> StoragePath {
        StoragePath(unchecked: "\(generator.chance(50) ? "rooms" : "halls")/\(generator.int(0..<5))")
    }

    private func randomWrites() -> (writes: [DocumentWrite], isIncrement: Bool) {
        let value = DocumentValue.integer(Int64(generator.int(0..<6)))
        if isOdd, generator.chance(75) { return (generator.oddWrites(), false) }
        switch generator.int(0..<10) {
        case 0..<4: return ([DocumentWrite(path: randomPath(), operation: .set(["n": value, "on": true]))], false)
        case 4..<6:
            let patch = DocumentWrite.Operation.patch(["n": value], mask: ["n"])
            return ([DocumentWrite(path: randomPath(), operation: patch, precondition: .exists(true))], false)
        case 6: return ([DocumentWrite(path: randomPath(), operation: .delete)], false)
        case 7:
            return (
                [
                    DocumentWrite(path: randomPath(), operation: .set(["n": value])),
                    DocumentWrite(path: randomPath(), operation: .delete),
                ], false
            )
        default:
            let transforms = [FieldTransform("n", .increment(1))]
            return (
                [DocumentWrite(path: Self.counter, operation: .patch([:], mask: []), transforms: transforms)], true
            )
        }
    }

    /// Adds a document under a local name, or writes to one that was added, or refers to it.
    private func randomWritesWithNames(of client: SimClient) -> [DocumentWrite] {
        let value = DocumentValue.integer(Int64(generator.int(0..<6)))
        guard let path = client.added.randomElement(using: &generator)?.path, generator.chance(60) else {
            lastName += 1
            var data: DocumentData = ["n": value]
            if let other = client.added.last?.path, generator.chance(30) { data["task"] = .of(other) }
            return [
                DocumentWrite(
                    path: StoragePath(unchecked: "tasks/-\(lastName)"), operation: .set(data),
                    precondition: generator.chance(50) ? .exists(false) : .none)
            ]
        }
        let patch = DocumentWrite.Operation.patch(["n": value], mask: ["n"])
        let reference = DocumentWrite.Operation.patch(["task": .of(path)], mask: ["task"])
        return switch generator.int(0..<6) {
        case 0: [DocumentWrite(path: path, operation: .delete)]
        case 1: [DocumentWrite(path: path, operation: .set(["n": value, "task": .of(path)]))]
        case 2: [DocumentWrite(path: randomPath(), operation: reference)]
        case 3:
            [
                DocumentWrite(path: path, operation: patch, precondition: .exists(true)),
                DocumentWrite(path: path.collection("rooms").document("1"), operation: reference),
            ]
        default: [DocumentWrite(path: path, operation: patch, precondition: .exists(true))]
        }
    }

    /// Over documents with local names.
    private func randomQuery(of client: SimClient) -> LiveQuery {
        guard hasNames, generator.chance(40) else { return randomQuery() }
        var query = Query(in: "tasks")
        let path = client.added.randomElement(using: &generator)?.path ?? "tasks/-1"
        switch generator.int(0..<6) {
        case 0: return .document(path)
        case 1:
            query = Query(in: generator.chance(50) ? "rooms" : "tasks")
            query.filter = .comparison("task", .equal, .of(path))
        case 2: query = Query(in: path.collection("rooms"))
        case 3:
            query.orders = [Query.Order("n", .ascending)]
            query.limit = generator.chance(50) ? .first(2) : .last(2)
        case 4: query.filter = .comparison("n", .greaterThan, 2)
        default: break
        }
        return .query(query)
    }

    private func randomQuery() -> LiveQuery {
        if isOdd, generator.chance(75) { return generator.oddQuery() }
        switch generator.int(0..<7) {
        case 0: return .document(randomPath())
        case 1: return .query(Query(in: "rooms"))
        case 2: return .query(Query(in: "counters"))
        case 3:
            var query = Query(in: "rooms")
            query.filter = .comparison("n", .greaterThan, 2)
            return .query(query)
        case 4, 5:
            var query = Query(in: "halls")
            query.orders = [Query.Order("n", .ascending)]
            query.limit = generator.chance(50) ? .first(2) : .last(2)
            return .query(query)
        default: return .query(Query(source: .group(id: "halls", under: nil)))
        }
    }

    private func randomRead() -> ReadRequest {
        switch randomQuery() {
        case .document(let path): .documents([path, randomPath()])
        case .query(let query): .results(query)
        }
    }

    // MARK: Quiet

    /// Stores work, all users' queues are emptied, everything on its way arrives, and nothing else happens.
    private func quiesce() throws {
        for client in clients { client.fail([]) }
        for batch in stray { commit(batch) }
        stray = []
        for user in Self.users.reversed() {
            for client in clients {
                client.setNetwork(true)
                client.setUser(user)
            }
            try settle()
        }
    }

    private func settle() throws {
        for _ in 0..<20_000 {
            var isQuiet = true
            for client in clients {
                client.passRequests(to: server)
                if !client.isIdle { isQuiet = false }
                client.openWatch()
                client.openWriter()
                client.passRequests(to: server)
                if client.stream?.owesCounts == true { client.stream?.count(server) }
                client.deliverEvent(isDoubled: false)
                if !client.outbox.isEmpty {
                    let batch = client.outbox.removeFirst()
                    let answer = commit(batch)
                    client.answers.append((batch, answer))
                    if case .failure = answer { client.outbox = [] }
                }
                client.deliverAnswer()
                while client.hasReads { try client.deliverRead(0, from: server) }
                for timer in [SyncTimer.watchBackoff, .writerBackoff, .recovery, .overdue]
                where client.timers.contains(timer) {
                    isQuiet = false
                    client.fire(timer)
                }
            }
            if isQuiet { return }
        }
        throw failure("never quiet")
    }

    // MARK: Truth

    private func check() throws {
        for client in clients {
            guard client.machine.isQuiet else {
                let late = client.machine.views.values.filter { !$0.view.isSynced }.map(\.view.query)
                throw failure(
                    "\(client.name) still waits for \(client.machine.unrest): \(late), looking up "
                        + "\(client.machine.activeLimboTargets)")
            }
            guard client.waits.isEmpty else { throw failure("\(client.name): a wait for the queue never ends") }
            if let wrong = client.wrongSnapshot {
                throw failure("\(client.name): changes of \(wrong.query.target) that do not lead to its documents")
            }
            if let id = client.wrongBatch { throw failure("\(client.name): batch \(id) was not sent as before") }
            if let path = client.wrongRead { throw failure("\(client.name): a read of \(path) lacks a pending write") }
            if let path = client.wrongOverlay {
                throw failure("\(client.name): pending writes of \(path) are out of date")
            }
            try checkViews(of: client)
            try checkNames(of: client)
            try checkQueue(of: client)
        }
        // Of those whose queue was deleted, some had reached the server.
        let carriedOut = increments.count { increment in
            let client = clients.first { $0.name == increment.client }
            return client.map { server.ledger[$0.successor(of: increment.id)] != nil } == true
        }
        let counted = server.documents[Self.counter]?["n"]?.integerValue ?? 0
        guard counted == Int64(carriedOut) else { throw failure("\(carriedOut) increments gave \(counted)") }
        for client in clients {
            for id in client.listeners.keys.sorted() { client.unlisten(id) }
            client.passRequests(to: server)
            guard !client.machine.hasListeners, client.stream?.targetIDs.isEmpty ?? true else {
                throw failure("a listener is left behind")
            }
        }
    }

    /// Every listener shows the server's result.
    private func checkViews(of client: SimClient) throws {
        for (id, query) in client.listeners.sorted(by: { $0.key < $1.key }) {
            guard let snapshot = client.shown[id] else { throw failure("\(client.name): no snapshot") }
            if client.readsCacheOnly(id) {
                try checkCacheView(snapshot, of: client)
                continue
            }
            // Its documents may have got other names.
            let expected = server.results(of: hasNames ? snapshot.query : query)
            let isEqual = snapshot.documents.elementsEqual(expected) { $0.path == $1.path && $0.data == $1.data }
            guard isEqual, !snapshot.isFromCache, !snapshot.hasPendingWrites else {
                throw failure(
                    "\(client.name) shows \(snapshot.documents.map(\.path)) for \(query.target), the server has "
                        + "\(expected.map(\.path)), from cache \(snapshot.isFromCache)")
            }
        }
    }

    /// A listener of the cache shows what is in it, with nothing pending.
    private func checkCacheView(_ snapshot: ViewSnapshot, of client: SimClient) throws {
        let expected: [DocumentSnapshot] =
            switch snapshot.query {
            case .document(let path): [try client.machine.document(at: path)].compactMap { $0 }.filter(\.exists)
            case .query(let query): QueryEvaluator(query).results(among: try client.machine.run(query))
            }
        let isEqual = snapshot.documents.elementsEqual(expected) { $0.path == $1.path && $0.data == $1.data }
        // What the server decided is not what the evaluator finds in the cache.
        if case .query(let query) = snapshot.query, tables.have(query) { return }
        // With eager collection the cache may drop a document that only such a listener shows.
        guard isEqual || client.policy == .eager, !snapshot.hasPendingWrites else {
            throw failure(
                "\(client.name) shows \(snapshot.documents.map(\.path)) for \(snapshot.query) from the cache, which has "
                    + "\(expected.map(\.path)), pending \(snapshot.hasPendingWrites)")
        }
    }

    /// Every batch that was ever queued has had its answer, and those that were refused can be decided about.
    private func checkQueue(of client: SimClient) throws {
        var refused: Set<String> = []
        let dependents = try rejectedDependents(of: client)
        for (id, _) in client.queued where !client.wiped.contains(id) {
            if client.superseded[id] != nil {
                guard server.ledger[id] == nil else { throw failure("batch \(id) was sent although it was merged") }
                continue
            }
            switch server.ledger[id] {
            case nil where client.resolved.contains(id): break
            case nil where dependents.contains(id): refused.insert(id)
            case nil: throw failure("batch \(id) is lost")
            case .failure where client.resolved.contains(id): break
            case .failure: refused.insert(id)
            case .success: break
            }
        }
        var listed: Set<String> = []
        for user in Self.users {
            client.setUser(user)
            listed.formUnion(try client.machine.refused().map(\.id))
        }
        guard listed == refused else { throw failure("\(refused) were refused, \(listed) are listed") }
    }

    /// The rejected batches that were never sent, because a document that they mention was not added.
    private func rejectedDependents(of client: SimClient) throws -> Set<String> {
        var found: Set<String> = []
        for user in Self.users.reversed() {
            client.setUser(user)
            for batch in try client.machine.refused() where batch.message.contains("was not added") {
                found.insert(batch.id)
            }
        }
        return found
    }

    /// What was added has the server's name everywhere.
    private func checkNames(of client: SimClient) throws {
        guard server.strays.isEmpty else { throw failure("batches \(server.strays) came with local names") }
        for addition in client.added where addition.user == client.user && !client.wiped.contains(addition.id) {
            guard case .success(let result)? = server.ledger[addition.id] else { continue }
            let name = try client.machine.names(of: [addition.path])[addition.path]
            guard name == result.added else {
                throw failure(
                    "\(client.name): \(addition.path) is \(name ?? "nothing") and not \(result.added ?? "nothing")")
            }
        }
    }

    private func failure(_ text: String) -> SimulationFailure {
        SimulationFailure(description: "seed \(seed): \(text)")
    }
}

struct SimulationFailure: Error, CustomStringConvertible {
    let description: String
}
