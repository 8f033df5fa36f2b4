import Foundation
import Switchyard

extension [StoragePath] {
    /// The indexes of the paths in approximate key order: compared by the bytes of the whole path, not segment by segment.
    var placesInKeyOrder: [Int] {
        withUnsafeBufferPointer { paths in
            if paths.isInOrder { return Array<Int>(paths.indices) }
            let start = paths.commonPrefix
            let ranks = paths.map { path in
                path.rawValue.withBytes { UnsafeBufferPointer(rebasing: $0.dropFirst(start)).rank }
            }
            return ranks.placesInOrder { paths[$0].rawValue.utf8Ordering(to: paths[$1].rawValue) == .before }
        }
    }
}

extension UnsafeBufferPointer<StoragePath> {
    /// Whether each comes after the one before, as results in the order of their names do.
    fileprivate var isInOrder: Bool {
        for index in indices.dropFirst()
        where self[index - 1].rawValue.utf8Ordering(to: self[index].rawValue) != .before { return false }
        return true
    }

    /// How many bytes all begin with.
    fileprivate var commonPrefix: Int {
        guard let first else { return 0 }
        return first.rawValue.withBytes { first in
            var length = first.count
            for path in self {
                path.rawValue.withBytes { path in
                    length = Swift.min(length, path.count)
                    while memcmp(first.baseAddress!, path.baseAddress!, length) != 0 { length -= 1 }
                }
            }
            return length
        }
    }
}

extension Array {
    /// The elements in approximate key order.
    func inKeyOrder(of path: (Element) -> StoragePath) -> [Element] { map(path).placesInKeyOrder.map { self[$0] } }
}
