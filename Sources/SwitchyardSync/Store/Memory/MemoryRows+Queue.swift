import Switchyard

extension MemoryRows {
    /// The queues of all users except `owner`, and nothing else.
    func wiped(of owner: QueueOwner) -> MemoryRows {
        let rest = MemoryRows()
        rest.setGlobals(globals.wiped)
        for (other, queue) in queues where other != owner {
            for batch in queue.waiting { rest.putBatch(batch, of: other) }
            for overlay in queue.overlays.values { rest.putOverlay(overlay, of: other) }
            for batch in queue.refused { rest.putRefused(batch, of: other) }
            for (document, name) in queue.names { rest.putName(name, of: document, for: other) }
        }
        rest.commit()
        return rest
    }

    /// The number of queued batches of all users.
    var batchCount: Int { queues.values.reduce(0) { $0 + $1.waiting.count } }

    func batches(of owner: QueueOwner, after number: Int, limit: Int) -> [QueuedBatch] {
        guard let queue = queues[owner] else { return [] }
        return Array(queue.batches[queue.index(of: number + 1)...].prefix(limit))
    }

    func batches(of owner: QueueOwner, touching paths: Set<StoragePath>) -> [QueuedBatch] {
        guard let queue = queues[owner] else { return [] }
        var numbers = Set<Int>()
        for path in paths { numbers.formUnion(queue.numbers[path] ?? []) }
        return numbers.sorted().map { queue.batches[queue.index(of: $0)] }
    }

    func lastBatches(
        of owner: QueueOwner, touching path: StoragePath, below number: Int, limit: Int
    ) -> [QueuedBatch] {
        guard let queue = queues[owner], let numbers = queue.numbers[path] else { return [] }
        return numbers[..<numbers.place(of: number)].suffix(limit).reversed()
            .map { queue.batches[queue.index(of: $0)] }
    }

    func batch(_ number: Int, of owner: QueueOwner) -> QueuedBatch? {
        guard let queue = queues[owner] else { return nil }
        let index = queue.index(of: number)
        return index < queue.batches.count && queue.batches[index].number == number ? queue.batches[index] : nil
    }

    func highestBatchNumber(of owner: QueueOwner) -> Int? { queues[owner]?.waiting.last?.number }

    func hasBatch(touching path: StoragePath) -> Bool { batchCounts[path] != nil }

    func putBatch(_ batch: QueuedBatch, of owner: QueueOwner) {
        let index = queues[owner, default: MemoryQueue()].index(of: batch.number)
        if let old = self.batch(batch.number, of: owner) {
            undo { [unowned self] in putBatch(old, of: owner) }
            queues[owner]!.batches[index] = batch
            return
        }
        undo { [unowned self] in removeBatch(batch, of: owner) }
        queues[owner, default: MemoryQueue()].batches.insert(batch, at: index)
        for path in batch.touched {
            batchCounts[path, default: 0] += 1
            queues[owner]!.numbers[path, default: []].file(batch.number)
        }
    }

    func removeBatch(_ batch: QueuedBatch, of owner: QueueOwner) {
        let number = batch.number
        guard let old = self.batch(number, of: owner) else { return }
        undo { [unowned self] in putBatch(old, of: owner) }
        let index = queues[owner]!.index(of: number)
        if index == queues[owner]!.start {
            queues[owner]!.start += 1
            if queues[owner]!.start > 512, queues[owner]!.start * 2 > queues[owner]!.batches.count {
                queues[owner]!.batches.removeFirst(queues[owner]!.start)
                queues[owner]!.start = 0
            }
        } else {
            queues[owner]!.batches.remove(at: index)
        }
        for path in old.touched {
            let left = (batchCounts[path] ?? 1) - 1
            batchCounts[path] = left > 0 ? left : nil
            queues[owner]!.numbers[path]?.unfile(number)
            if queues[owner]!.numbers[path]?.isEmpty == true { queues[owner]!.numbers[path] = nil }
        }
    }

    func name(of document: StoragePath, for owner: QueueOwner) -> StoragePath? { queues[owner]?.names[document] }

    func putName(_ name: StoragePath, of document: StoragePath, for owner: QueueOwner) {
        setName(name, of: document, for: owner)
    }

    private func setName(_ name: StoragePath?, of document: StoragePath, for owner: QueueOwner) {
        let old = queues[owner]?.names[document]
        undo { [unowned self] in setName(old, of: document, for: owner) }
        queues[owner, default: MemoryQueue()].names[document] = name
    }

    func overlay(of owner: QueueOwner, at path: StoragePath) -> Overlay? { queues[owner]?.overlays[path] }

    func overlays(of owner: QueueOwner, in source: Query.Source, afterBatch number: Int?) -> [Overlay] {
        guard let queue = queues[owner] else { return [] }
        let collections: [CollectionPath] =
            switch source {
            case .collection(let path): [path]
            case .group(let id, let ancestor):
                queue.overlaysByCollection.keys.filter { $0.isInGroup(id, under: ancestor) }
            }
        return collections.flatMap { collection in
            (queue.overlaysByCollection[collection] ?? []).compactMap { queue.overlays[$0] }
        }.filter { overlay in number.map { overlay.batchNumber > $0 } ?? true }
    }

    func putOverlay(_ overlay: Overlay, of owner: QueueOwner) { setOverlay(overlay, of: owner, at: overlay.path) }

    func removeOverlay(of owner: QueueOwner, at path: StoragePath) { setOverlay(nil, of: owner, at: path) }

    func removeOverlay(of owner: QueueOwner, at path: StoragePath, ofBatch number: Int) {
        if overlay(of: owner, at: path)?.batchNumber == number { setOverlay(nil, of: owner, at: path) }
    }

    private func setOverlay(_ overlay: Overlay?, of owner: QueueOwner, at path: StoragePath) {
        let old = queues[owner]?.overlays[path]
        guard old != nil || overlay != nil else { return }
        undo { [unowned self] in setOverlay(old, of: owner, at: path) }
        let collection = path.collection
        queues[owner, default: MemoryQueue()].overlays[path] = overlay
        if overlay != nil {
            queues[owner]!.overlaysByCollection[collection, default: []].insert(path)
        } else {
            queues[owner]!.overlaysByCollection[collection]?.remove(path)
            if queues[owner]!.overlaysByCollection[collection]?.isEmpty == true {
                queues[owner]!.overlaysByCollection[collection] = nil
            }
        }
    }

    func refusedBatches(of owner: QueueOwner) -> [RefusedBatch] { queues[owner]?.refused ?? [] }

    func putRefused(_ batch: RefusedBatch, of owner: QueueOwner) {
        let old = refusedBatches(of: owner)
        undo { [unowned self] in queues[owner, default: MemoryQueue()].refused = old }
        queues[owner, default: MemoryQueue()].refused = old.filter { $0.id != batch.id } + [batch]
    }

    func removeRefused(_ id: String, of owner: QueueOwner) {
        let old = refusedBatches(of: owner)
        undo { [unowned self] in queues[owner, default: MemoryQueue()].refused = old }
        queues[owner, default: MemoryQueue()].refused = old.filter { $0.id != id }
    }
}

/// One user's queue in memory.
struct MemoryQueue {
    /// Sorted. Numbers only increase, so a new batch goes to the end.
    var batches: [QueuedBatch] = []
    /// The number of removed elements at the front, which avoids moving the rest with every acknowledgement.
    var start = 0
    var overlays: [StoragePath: Overlay] = [:]
    var overlaysByCollection: [CollectionPath: Set<StoragePath>] = [:]
    var refused: [RefusedBatch] = []
    /// The names that the server made for documents of this device.
    var names: [StoragePath: StoragePath] = [:]
    /// The numbers of the batches that write to a document, or wait for its name, in ascending order.
    var numbers: [StoragePath: ArraySlice<Int>] = [:]

    var waiting: ArraySlice<QueuedBatch> { batches[start...] }

    /// The index of the first batch whose number is at least `number`.
    func index(of number: Int) -> Int {
        var low = start
        var high = batches.count
        while low < high {
            let middle = (low + high) / 2
            if batches[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Numbers in ascending order, mostly added at the end and removed at the front.
extension ArraySlice<Int> {
    /// The index of the first number that is at least `number`.
    func place(of number: Int) -> Index {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    mutating func file(_ number: Int) {
        if last ?? .min < number { append(number) } else { insert(number, at: place(of: number)) }
    }

    mutating func unfile(_ number: Int) {
        let place = place(of: number)
        guard place < endIndex, self[place] == number else { return }
        if place == startIndex { removeFirst() } else { remove(at: place) }
    }
}

extension MemoryRows {
    func target(_ target: WatchTarget) -> TargetRecord? { targetIDs[target].flatMap { targetsByID[$0] } }

    func targets() -> [TargetRecord] { Array(targetsByID.values) }

    func putTarget(_ record: TargetRecord) {
        let old = targetsByID[record.id]
        undo { [unowned self] in
            targetsByID[record.id] = old
            if old == nil { targetIDs[record.target] = nil }
        }
        targetsByID[record.id] = record
        targetIDs[record.target] = record.id
    }

    func removeTarget(_ id: Int) {
        removeAllConfirmed(from: id)
        guard let old = targetsByID[id] else { return }
        undo { [unowned self] in
            targetsByID[id] = old
            targetIDs[old.target] = id
        }
        targetsByID[id] = nil
        targetIDs[old.target] = nil
    }

    func confirmedKeys(of target: Int) -> Set<StoragePath> { confirmed[target] ?? [] }

    func addConfirmed(_ paths: some Collection<StoragePath>, to target: Int) {
        guard !paths.isEmpty else { return }
        var added = Array(paths)
        var keys = confirmed.removeValue(forKey: target) ?? []
        if keys.isEmpty, let all = paths as? Set<StoragePath> {
            keys = all
        } else {
            keys.reserveCapacity(keys.count + added.count)
            added = added.filter { keys.insert($0).inserted }
        }
        confirmed[target] = keys
        confirmations.reserveCapacity(confirmations.count + added.count)
        for path in added { confirmations[path, default: 0] += 1 }
        if !added.isEmpty { undo { [unowned self] in removeConfirmed(added, from: target) } }
    }

    func removeConfirmed(_ paths: some Collection<StoragePath>, from target: Int) {
        var removed: [StoragePath] = []
        for path in paths where confirmed[target]?.remove(path) != nil {
            let left = (confirmations[path] ?? 1) - 1
            confirmations[path] = left > 0 ? left : nil
            removed.append(path)
        }
        if confirmed[target]?.isEmpty == true { confirmed[target] = nil }
        if !removed.isEmpty { undo { [unowned self] in addConfirmed(removed, to: target) } }
    }

    func removeAllConfirmed(from target: Int) { removeConfirmed(confirmedKeys(of: target), from: target) }

    func isConfirmed(_ path: StoragePath) -> Bool { confirmations[path] != nil }
}
