import Switchyard

@testable import SwitchyardSync

/// Which collections a server keeps in tables: it decides their results, in an order of its own, which no device knows, has a
/// trigger, and returns what it wrote.
enum SimTables: Sendable {
    case none, all
    /// Documents and rows are in one engine.
    case some

    func have(_ collection: String) -> Bool {
        switch self {
        case .none: false
        case .all: true
        case .some: collection == "halls" || collection == "things"
        }
    }

    func have(_ path: StoragePath) -> Bool { have(path.collection.id) }

    func have(_ query: Query) -> Bool {
        switch query.source {
        case .collection(let collection): have(collection.id)
        case .group(let id, _): have(id)
        }
    }

    func have(_ query: LiveQuery) -> Bool {
        switch query {
        case .document(let path): have(path)
        case .query(let query): have(query)
        }
    }
}

/// A server whose every message waits until the simulation delivers it, or loses it.
struct SimServer {
    private(set) var documents: [StoragePath: DocumentSnapshot] = [:]
    private(set) var ledger: [String: Result<CommitResult, StorageError>] = [:]
    private var changed: [StoragePath: Int64] = [:]
    private var time: Int64 = 1_000_000
    private var lastKey = 0
    /// Batches that came with a name that only a device knows.
    private(set) var strays: [String] = []

    let tables: SimTables

    init(_ tables: SimTables) { self.tables = tables }

    var now: Timestamp { Timestamp(microseconds: time) }

    func results(of query: LiveQuery) -> [DocumentSnapshot] {
        switch query {
        case .document(let path): documents[path].map { [$0] } ?? []
        case .query(let query):
            tables.have(query)
                ? QueryEvaluator(query).results(among: documents.values.map(\.collated)).map { documents[$0.path]! }
                : QueryEvaluator(query).results(among: documents.values)
        }
    }

    func answer(to request: ReadRequest) -> FetchedDocuments {
        switch request {
        case .documents(let paths):
            return answer(with: paths.map { documents[$0] ?? .missing($0) })
        case .results(let query):
            var fetched = answer(with: results(of: .query(query)))
            fetched.areDecided = tables.have(query)
            return fetched
        }
    }

    private func answer(with found: [DocumentSnapshot]) -> FetchedDocuments {
        var fetched = FetchedDocuments(documents: found, readTime: now)
        for document in found { fetched.tags[document.path] = tag(of: document) }
        return fetched
    }

    /// Documents of tables have one: their version, as a text.
    func tag(of document: DocumentSnapshot) -> DocumentTag? {
        tables.have(document.path) ? document.updateTime.map { DocumentTag(rawValue: "\($0)") } : nil
    }

    /// Carries out a batch at its first coming; every later one gets the same answer and has no effect.
    mutating func commit(_ batch: OutgoingBatch) -> Result<CommitResult, StorageError> {
        if let known = ledger[batch.id] { return known }
        let (id, isAddition) = (batch.id, batch.isAddition)
        var batch = batch
        if isAddition {
            lastKey += 1
            batch = OutgoingBatch(
                id: id,
                writes: batch.writes.map { write in
                    DocumentWrite(
                        path: write.path.collection.document("\(lastKey)"), operation: write.operation,
                        transforms: write.transforms, precondition: write.precondition)
                }, mayHaveBeenSent: batch.mayHaveBeenSent)
        }
        for write in batch.writes {
            _ = write.mappingPaths { path in
                if path.isLocal { strays.append(id) }
                return path
            }
        }
        time += 1000
        var staged = documents
        var result = CommitResult(commitTime: now)
        result.added = isAddition ? batch.writes[0].path : nil
        do throws(StorageError) {
            for write in batch.writes {
                if isAddition, case .set(let data) = write.operation, data["n"] == 3 {
                    throw StorageError(.unauthorized, "There are enough of these.")
                }
                let old = staged[write.path] ?? .missing(write.path)
                try write.check(against: old)
                var (data, values) = write.applied(to: old.data, serverTime: now)
                if tables.have(write.path), write.transforms.isEmpty, data?["n"] == 5 { data?["n"] = 4 }
                staged[write.path] = data.map { .existing(write.path, $0, createTime: now, updateTime: now) }
                result.updateTimes.append(data == nil ? nil : now)
                result.transformResults.append(values)
            }
        } catch {
            ledger[batch.id] = .failure(error.asRefusal())
            return .failure(error.asRefusal())
        }
        documents = staged
        result.outcomes = batch.writes.map { write in
            guard tables.have(write.path) else { return .asSent }
            let document = staged[write.path]
            return .returned(document ?? .missing(write.path), tag: document.flatMap { tag(of: $0) })
        }
        for write in batch.writes { changed[write.path] = time }
        ledger[batch.id] = .success(result)
        return .success(result)
    }

    func changed(_ path: StoragePath, after time: Int64) -> Bool { changed[path] ?? 0 > time }
}

extension DocumentSnapshot {
    /// The document as a server with an order of its own compares and filters it.
    fileprivate var collated: DocumentSnapshot {
        guard var data, let n = data["n"]?.integerValue, (0..<6).contains(n) else { return self }
        data["n"] = .integer([0, 3, 1, 4, 2, 5][Int(n)])
        return .existing(path, data, updateTime: updateTime)
    }
}

/// The server's end of one client's stream of changes.
struct SimStream {
    private var targets: [Int: WatchTarget] = [:]
    private var told: [Int: [StoragePath: DocumentSnapshot]] = [:]
    /// What is on its way to the client, in order.
    var inbox: [WatchEvent] = []
    /// Whether the client has missed a removal.
    var owesCounts = false

    var targetIDs: [Int] { targets.keys.sorted() }

    /// The server begins a target again.
    mutating func reset(_ id: Int, _ server: SimServer) {
        guard let target = targets[id] else { return }
        inbox.append(.reset([id]))
        let matches = matches(of: target, server)
        told[id] = matches
        for document in matches.values.sorted(by: { $0.path < $1.path }) {
            inbox.append(.changed(document, targets: [id], tag: server.tag(of: document)))
        }
        sayResults(of: id, server)
        inbox.append(.current([id], token: token(server)))
        inbox.append(.snapshot(version: server.now, token: token(server)))
    }

    /// The server ends a target for good.
    mutating func refuse(_ id: Int) {
        guard targets.removeValue(forKey: id) != nil else { return }
        told[id] = nil
        inbox.append(.removed([id], cause: StorageError(.unauthorized, "no more")))
    }

    /// The server says how many documents each target has.
    mutating func count(_ server: SimServer) {
        owesCounts = false
        for id in targetIDs { inbox.append(.filter(target: id, count: told[id]!.count)) }
        inbox.append(.snapshot(version: server.now, token: token(server)))
    }

    mutating func take(_ request: WatchRequest, _ server: SimServer) {
        switch request {
        case .remove(let id):
            targets[id] = nil
            told[id] = nil
            inbox.append(.removed([id]))
        case .add(let target):
            inbox.append(.added([target.id]))
            targets[target.id] = target.target
            let matches = matches(of: target.target, server)
            told[target.id] = matches
            var since = Int64(String(decoding: target.resumeToken, as: UTF8.self)) ?? target.readTime?.microseconds
            if since != nil, case .query(let query) = target.target, query.limit != nil {
                // A document that moved up into the result need not have changed, so the result is sent again.
                inbox.append(.reset([target.id]))
                since = nil
            }
            for document in matches.values.sorted(by: { $0.path < $1.path })
            where since.map({ server.changed(document.path, after: $0) }) ?? true {
                inbox.append(.changed(document, targets: [target.id], tag: server.tag(of: document)))
            }
            if since != nil { inbox.append(.filter(target: target.id, count: matches.count)) }
            sayResults(of: target.id, server)
            inbox.append(.current([target.id], token: token(server)))
            inbox.append(.snapshot(version: server.now, token: token(server)))
        }
    }

    mutating func serverChanged(_ server: SimServer) {
        for id in targets.keys.sorted() {
            let old = told[id]!
            let new = matches(of: targets[id]!, server)
            for path in old.keys.filter({ new[$0] == nil }).sorted() {
                inbox.append(
                    server.documents[path] == nil
                        ? .deleted(path, version: server.now, removedFrom: [id]) : .left(path, removedFrom: [id]))
            }
            for path in new.keys.filter({ old[$0] != new[$0] }).sorted() {
                inbox.append(.changed(new[path]!, targets: [id], tag: server.tag(of: new[path]!)))
            }
            told[id] = new
            sayResults(of: id, server)
        }
        inbox.append(.snapshot(version: server.now, token: token(server)))
    }

    private mutating func sayResults(of id: Int, _ server: SimServer) {
        guard case .query(let query)? = targets[id], server.tables.have(query) else { return }
        inbox.append(.results(target: id, server.results(of: .query(query)).map(\.path)))
    }

    private func matches(of target: WatchTarget, _ server: SimServer) -> [StoragePath: DocumentSnapshot] {
        let query: LiveQuery =
            switch target {
            case .document(let path): .document(path)
            case .query(let query): .query(query)
            }
        return Dictionary(server.results(of: query).map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private func token(_ server: SimServer) -> [UInt8] { Array(String(server.now.microseconds).utf8) }
}

extension StoragePath {
    /// Whether the server makes another name of this one.
    var isLocal: Bool { collection.id == "tasks" && id.utf8.first == UInt8(ascii: "-") }
}
