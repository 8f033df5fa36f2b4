import Switchyard
import SwitchyardSync
import SwitchyardTestSupport

/// One random schedule: several devices on one server, everything that can go wrong, then quiet, then the truth.
final class Simulation {
    private var generator: SeededGenerator
    private var server = SimServer()
    private var clients: [SimClient] = []
    /// Batches that were given up by their sender and still reach the server at some time.
    private var stray: [OutgoingBatch] = []
    private var increments = 0
    private let seed: UInt64

    private static let counter: StoragePath = "counters/one"
    private static let users: [String?] = ["alice", "bob", nil]

    init(seed: UInt64) throws {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        for index in 0..<Int.random(in: 1...3, using: &generator) {
            let policy: CachePolicy = Bool.random(using: &generator) ? .eager : .standard
            clients.append(try SimClient("c\(index)", policy: policy))
        }
    }

    /// - Returns: What was asked of the outside, in order.
    func run(steps: Int) throws -> String {
        for _ in 0..<steps { try step(clients[Int.random(in: 0..<clients.count, using: &generator)]) }
        try quiesce()
        try check()
        return clients.map(\.trace).joined()
    }

    // MARK: Chance

    private func step(_ client: SimClient) throws {
        client.passRequests(to: server)
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<18: client.write(randomWrites())
        case 18..<26: client.listen(randomQuery(), fromCache: Int.random(in: 0..<6, using: &generator) == 0)
        case 26..<30:
            if let id = client.listeners.keys.sorted().randomElement(using: &generator) { client.unlisten(id) }
        case 30..<55: client.deliverEvent(isDoubled: Int.random(in: 0..<10, using: &generator) == 0)
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
        case 93: stray += client.outbox; try client.restart()
        case 94:
            stray += client.outbox
            client.setUser(Self.users.randomElement(using: &generator)!)
        case 95:
            stray += client.outbox
            client.setNetwork(Bool.random(using: &generator))
        case 96:
            var limits = CacheLimits()
            limits.threshold = 0
            limits.percentile = 50
            client.feed(.collectGarbage(limits))
        case 97: if !stray.isEmpty { commit(stray.remove(at: Int.random(in: 0..<stray.count, using: &generator))) }
        default: client.passRequests(to: server)
        }
    }

    /// The server takes a client's next batch; now and then its answer is lost.
    private func serve(_ client: SimClient) {
        guard !client.outbox.isEmpty else { return }
        let batch = client.outbox.removeFirst()
        let answer = commit(batch)
        if Int.random(in: 0..<8, using: &generator) == 0 {
            stray += client.breakWriter()
        } else {
            client.answers.append(answer)
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
        StoragePath(
            unchecked:
                "\(["rooms", "halls"].randomElement(using: &generator)!)/\(Int.random(in: 0..<5, using: &generator))")
    }

    private func randomWrites() -> [DocumentWrite] {
        let value = DocumentValue.integer(Int64.random(in: 0..<6, using: &generator))
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<4: return [DocumentWrite(path: randomPath(), operation: .set(["n": value, "on": true]))]
        case 4..<6:
            return [
                DocumentWrite(
                    path: randomPath(), operation: .patch(["n": value], mask: ["n"]), precondition: .exists(true))
            ]
        case 6: return [DocumentWrite(path: randomPath(), operation: .delete)]
        case 7:
            return [
                DocumentWrite(path: randomPath(), operation: .set(["n": value])),
                DocumentWrite(path: randomPath(), operation: .delete),
            ]
        default:
            increments += 1
            return [
                DocumentWrite(
                    path: Self.counter, operation: .patch([:], mask: []),
                    transforms: [FieldTransform("n", .increment(1))])
            ]
        }
    }

    private func randomQuery() -> LiveQuery {
        switch Int.random(in: 0..<7, using: &generator) {
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
            query.limit = Bool.random(using: &generator) ? .first(2) : .last(2)
            return .query(query)
        default: return .query(Query(source: .group(id: "halls", under: nil)))
        }
    }

    // MARK: Quiet

    /// All users' queues are emptied, everything on its way arrives, and nothing else happens.
    private func quiesce() throws {
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
                client.deliverEvent(isDoubled: false)
                if !client.outbox.isEmpty {
                    let answer = commit(client.outbox.removeFirst())
                    client.answers.append(answer)
                    if case .failure = answer { client.outbox = [] }
                }
                client.deliverAnswer()
                for timer in [SyncTimer.watchBackoff, .writerBackoff, .recovery] where client.timers.contains(timer) {
                    isQuiet = false
                    client.fire(timer)
                }
            }
            if isQuiet { return }
        }
        throw SimulationFailure("seed \(seed): never quiet")
    }

    private func check() throws {
        for client in clients {
            guard client.machine.isQuiet else { throw SimulationFailure("seed \(seed): \(client.name) still waits") }
            for (id, query) in client.listeners {
                guard let snapshot = client.shown[id] else { throw SimulationFailure("seed \(seed): no snapshot") }
                let expected = server.results(of: query).map { "\($0.path) \($0.data!.hashValue)" }
                let shown = snapshot.documents.map { "\($0.path) \($0.data!.hashValue)" }
                guard shown == expected, !snapshot.isFromCache, !snapshot.hasPendingWrites else {
                    throw SimulationFailure(
                        "seed \(seed): \(client.name) shows \(shown) for \(query.target), the server has \(expected), "
                            + "from cache \(snapshot.isFromCache)")
                }
            }
            for id in client.queued where server.ledger[id] == nil {
                throw SimulationFailure("seed \(seed): batch \(id) is lost")
            }
        }
        let counted = server.documents[Self.counter]?["n"]?.integerValue ?? 0
        guard counted == Int64(increments) else {
            throw SimulationFailure("seed \(seed): \(increments) increments gave \(counted)")
        }
        for client in clients {
            for id in client.listeners.keys.sorted() { client.unlisten(id) }
            client.passRequests(to: server)
            guard !client.machine.hasListeners, client.stream?.targetCount ?? 0 == 0 else {
                throw SimulationFailure("seed \(seed): a listener is left behind")
            }
        }
    }
}

struct SimulationFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
