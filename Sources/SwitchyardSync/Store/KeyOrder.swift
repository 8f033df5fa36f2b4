import Switchyard

extension [StoragePath] {
    /// The indexes of the paths in approximate key order: compared by the bytes of the whole path, not segment by segment.
    var placesInKeyOrder: [Int] {
        withUnsafeBufferPointer { paths in
            paths.indices.sorted { paths[$0].rawValue.utf8Ordering(to: paths[$1].rawValue) == .before }
        }
    }
}

extension Array {
    /// The elements in approximate key order.
    func inKeyOrder(of path: (Element) -> StoragePath) -> [Element] { map(path).placesInKeyOrder.map { self[$0] } }
}
