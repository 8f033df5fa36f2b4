import Foundation
import Switchyard
import SwitchyardBytes
import Synchronization

/// The documents on a project's server, and the devices that use them.
///
/// One lock orders everything: a commit, its effect on each device and the updates of each stream are determined in one step,
/// so no stream can miss or repeat a change. The updates are delivered after the lock is released, in the same order.
final class MockDatabase: Sendable {
    struct State: Sendable {
        var documents = DocumentTable()
        /// Applied batches by ID, to recognize a batch that is sent again after a lost answer.
        var ledger: [String: WriteReceipt.Acknowledgement] = [:]
        var ledgerOrder: [String] = []
        var lastCommit = Timestamp.distantPast
        var version = 0
        var devices: [MockDevice] = []
    }

    private let state = Mutex(State())
    private let deliveries = DeliveryQueue()
    let now: @Sendable () -> Timestamp

    init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    /// Reads the state, or makes changes that no stream shows.
    func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result { state.withLock { body(&$0) } }

    /// Changes the state and then runs the resulting actions in order.
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> (Result, [DeliveryQueue.Action])
    ) throws(Failure) -> Result {
        let result = try state.withLock { (state) throws(Failure) -> Result in
            let (result, actions) = try body(&state)
            deliveries.add(actions)
            return result
        }
        deliveries.drain()
        return result
    }

    func attach(_ device: MockDevice) { state.withLock { $0.devices.append(device) } }
    func detach(_ device: MockDevice) { state.withLock { $0.devices.removeAll { $0 === device } } }
}

extension MockDatabase.State {
    /// Applies all writes or none.
    ///
    /// - Parameters:
    ///   - device: The writing device, which adds the documents to its cache.
    ///   - isAcknowledged: Whether the batch leaves the device's queue in the same step, so that its streams never show the
    ///     document without the write.
    mutating func commit(
        _ writes: [DocumentWrite], id: String, at time: Timestamp, by device: MockDevice, isAcknowledged: Bool = true
    ) throws(StorageError) -> (WriteReceipt.Acknowledgement, [DeliveryQueue.Action]) {
        var touched: Set<StoragePath> = []
        let acknowledgement: WriteReceipt.Acknowledgement
        if let known = ledger[id] {
            acknowledgement = known
        } else {
            do throws(StorageError) { (touched, acknowledgement) = try apply(writes, at: time, by: device) } catch {
                throw error.asRefusal()
            }
            remember(id, acknowledgement)
        }
        var own = touched
        var actions: [DeliveryQueue.Action] = []
        if isAcknowledged {
            device.queue.hasGotThrough()
            for write in writes { device.cache.store(documents[write.path] ?? .missing(write.path)) }
            if let (item, paths, queueActions) = device.queue.remove(id) {
                own.formUnion(paths)
                actions = queueActions + [{ item.resolve(.success(acknowledgement)) }]
            }
        }
        var deliveries: [DeliveryQueue.Action] = []
        for one in devices where one === device || one.isConnected {
            let paths = one === device ? own : touched
            if !paths.isEmpty { deliveries += one.changed(Array(paths), documents) }
        }
        return (acknowledgement, deliveries + actions)
    }

    /// Each commit gets a unique time, in whole microseconds, so that a version identifies one state of a document.
    private mutating func apply(
        _ writes: [DocumentWrite], at now: Timestamp, by device: MockDevice
    ) throws(StorageError) -> (Set<StoragePath>, WriteReceipt.Acknowledgement) {
        let time = Timestamp(microseconds: max(now.microseconds, lastCommit.microseconds + 1))
        let outcome = device.outcome(of: writes, at: time, documents)
        var working: [StoragePath: DocumentSnapshot] = [:]
        // Store documents in the order of the writes, so that neighbors are adjacent in memory.
        var order: [StoragePath] = []
        var updateTimes: [Timestamp?] = []
        for write in writes {
            let old = working[write.path] ?? documents[write.path] ?? .missing(write.path)
            let data = write.applied(to: old.data, serverTime: time).data
            // First, so that users who may not see a document do not learn whether it exists.
            if let refusal = device.refusal(of: write, to: old, leaving: data, documents, outcome: outcome) {
                throw refusal
            }
            try write.check(against: old)
            if case .verify = write.operation {
                updateTimes.append(old.updateTime)
                continue
            }
            if let data, data.storedBytes > DocumentLimits.maximumBytes {
                throw .invalid(
                    "The document at “\(write.path)” would have more than \(DocumentLimits.maximumBytes) bytes.")
            }
            let new: DocumentSnapshot =
                switch data {
                case nil: .missing(write.path)
                case let data? where data == old.data: old  // a write that changes nothing makes no new version
                case let data?:
                    .existing(write.path, data, createTime: old.createTime ?? time, updateTime: time)
                }
            if working.updateValue(new, forKey: write.path) == nil { order.append(write.path) }
            updateTimes.append(new.updateTime)
        }
        var changed: Set<StoragePath> = []
        for path in order {
            guard let document = working[path], documents[path] ?? .missing(path) != document else { continue }
            changed.insert(path)
            if document.exists { documents.store(document) } else { documents.remove(path) }
        }
        if !changed.isEmpty { version += 1 }
        lastCommit = time
        return (changed, WriteReceipt.Acknowledgement(commitTime: time, updateTimes: updateTimes))
    }

    private mutating func remember(_ id: String, _ answer: WriteReceipt.Acknowledgement) {
        ledger[id] = answer
        ledgerOrder.append(id)
        if ledgerOrder.count > 10_000 {
            for id in ledgerOrder.prefix(5_000) { ledger[id] = nil }
            ledgerOrder.removeFirst(5_000)
        }
    }
}

/// Documents by path, and in a contiguous array per collection, so that a lookup is one hash and a query one pass over an
/// array.
struct DocumentTable: Sendable {
    /// The documents of one collection, in no particular order.
    struct Rows: Sendable {
        fileprivate(set) var documents: [DocumentSnapshot] = []
    }

    private struct Place {
        let collection: Int
        var row: Int
    }

    /// Increases with every change.
    private(set) var version = 0
    private var places: [StoragePath: Place] = [:]
    private var collections: [Rows] = []
    private var indices: [CollectionPath: Int] = [:]
    private var groups: [UTF8Key: [CollectionPath]] = [:]

    subscript(path: StoragePath) -> DocumentSnapshot? {
        places[path].map { collections[$0.collection].documents[$0.row] }
    }

    var count: Int { places.count }
    var all: some Sequence<DocumentSnapshot> { collections.lazy.flatMap(\.documents) }

    func documents(in collection: CollectionPath) -> [DocumentSnapshot] {
        indices[collection].map { collections[$0].documents } ?? []
    }

    /// The non-empty collections that a query covers.
    func collections(of source: Query.Source) -> [CollectionPath] {
        switch source {
        case .collection(let path): [path]
        case .group(let id, nil): groups[UTF8Key(id)] ?? []
        case .group(let id, let ancestor?):
            groups[UTF8Key(id)]?.filter { $0.parent.map { $0 == ancestor || $0.isBelow(ancestor) } ?? false } ?? []
        }
    }

    var occupied: [CollectionPath] { indices.filter { !collections[$0.value].documents.isEmpty }.map(\.key) }

    /// Stores the current state of a document. A missing document can be stored too, so that it is known to be missing.
    mutating func store(_ document: DocumentSnapshot) {
        version += 1
        if let place = places[document.path] {
            collections[place.collection].documents[place.row] = document
            return
        }
        let index = index(of: document.path.collection)
        places[document.path] = Place(collection: index, row: collections[index].documents.count)
        collections[index].documents.append(document)
    }

    mutating func remove(_ path: StoragePath) {
        version += 1
        guard let place = places.removeValue(forKey: path) else { return }
        let last = collections[place.collection].documents.removeLast()
        guard last.path != path else { return }
        collections[place.collection].documents[place.row] = last
        places[last.path]?.row = place.row
    }

    private mutating func index(of collection: CollectionPath) -> Int {
        if let index = indices[collection] { return index }
        indices[collection] = collections.count
        groups[UTF8Key(collection.id), default: []].append(collection)
        collections.append(Rows())
        return collections.count - 1
    }
}
