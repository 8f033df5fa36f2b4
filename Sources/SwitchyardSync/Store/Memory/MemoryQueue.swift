import Switchyard

/// One user's queue in memory.
struct MemoryQueue {
    /// Sorted. Numbers only increase, so a new batch goes to the end.
    var batches: [QueuedBatch] = []
    /// The number of removed elements at the front, which avoids moving the rest with every acknowledgement.
    var start = 0
    var overlays: [StoragePath: Overlay] = [:]
    var overlaysByCollection: [CollectionPath: Set<StoragePath>] = [:]
    var refused: [RefusedBatch] = []
    /// The numbers of the batches that write to a document, in ascending order.
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
