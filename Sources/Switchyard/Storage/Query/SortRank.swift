/// Numbers that stand in for values and paths during a sort: most comparisons need nothing else.
///
/// The lower rank comes first. Two values with the same rank may still differ.
extension DocumentValue {
    package var sortRank: UInt64 { UInt64(typeOrder) << 60 | rankInType >> 4 }

    /// The rank of a string with these bytes.
    package static func sortRank(ofString bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        DocumentValue.string("").sortRank | bytes.rank >> 4
    }

    /// Loses its last four bits.
    private var rankInType: UInt64 {
        switch self {
        case .bool(let flag): flag ? 16 : 0
        case .integer(let number): Double(number).sortRank
        case .double(let number): number.sortRank
        case .timestamp(let time): time.sortRank << 4
        case .string(let text): text.utf8Rank
        default: 0
        }
    }
}

extension Double {
    /// NaN first; −0 and 0 the same.
    fileprivate var sortRank: UInt64 {
        if isNaN { return 0 }
        let bits = self == 0 ? 0 : bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }
}

extension Timestamp {
    /// In 60 bits. Estimates come last.
    fileprivate var sortRank: UInt64 {
        let seconds = UInt64(bitPattern: seconds + 1 << 36)
        return (isEstimate ? 1 << 59 : 0) | seconds << 20 | UInt64(nanoseconds) >> 10
    }
}

extension StoragePath {
    /// Among the documents of `collection`.
    func sortRank(in collection: CollectionPath) -> UInt64 {
        rawValue.withBytes { path in
            let id = UnsafeBufferPointer(rebasing: path.dropFirst(collection.rawValue.utf8.count + 1))
            // Numeric names come first, by number; few are.
            let isNumeric =
                id.starts(with: "__id".utf8) && PathSegment.numericID(String(decoding: id, as: UTF8.self)) != nil
            return isNumeric ? 0 : id.rank
        }
    }
}

extension [UInt64] {
    /// The indices of these ranks, sorted.
    ///
    /// - Parameter isBefore: Decides between two indices with the same rank.
    package func placesInOrder(_ isBefore: (Int, Int) -> Bool) -> [Int] {
        var ranked: [(rank: UInt64, place: Int)] = []
        ranked.reserveCapacity(count)
        for place in indices { ranked.append((self[place], place)) }
        ranked.sort { $0.rank == $1.rank ? isBefore($0.place, $1.place) : $0.rank < $1.rank }
        return ranked.map(\.place)
    }
}
