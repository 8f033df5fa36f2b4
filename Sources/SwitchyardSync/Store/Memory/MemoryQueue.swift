import Switchyard

/// One user's rows in memory.
struct MemoryQueue {
    /// In order; numbers only ever rise, so a new batch goes to the end.
    var batches: [QueuedBatch] = []
    /// How many of the first elements are gone; spares moving the rest with every acknowledgement.
    var start = 0
    var overlays: [StoragePath: Overlay] = [:]
    var overlaysByCollection: [CollectionPath: Set<StoragePath>] = [:]
    var refused: [RefusedBatch] = []
    /// The numbers of the batches that write to a document, rising.
    var numbers: [StoragePath: ArraySlice<Int>] = [:]

    var waiting: ArraySlice<QueuedBatch> { batches[start...] }

    /// Where the first batch stands whose number is not below `number`.
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

/// Numbers in rising order. They come at the end and go at the front, mostly.
extension ArraySlice<Int> {
    /// Where the first stands that is not below `number`.
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
