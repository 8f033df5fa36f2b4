import Switchyard

extension [StoragePath] {
    /// Their places in the order in which keys are filed, near enough: by the bytes of the whole, and not segment by
    /// segment.
    var placesInKeyOrder: [Int] {
        withUnsafeBufferPointer { paths in
            paths.indices.sorted { paths[$0].rawValue.utf8Ordering(to: paths[$1].rawValue) == .before }
        }
    }
}

extension Array {
    /// In the order in which keys are filed.
    func inKeyOrder(of path: (Element) -> StoragePath) -> [Element] { map(path).placesInKeyOrder.map { self[$0] } }
}
