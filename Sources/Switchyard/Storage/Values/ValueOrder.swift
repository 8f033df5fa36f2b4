import Foundation

/// The order of values in queries: across types, and within each.
///
/// null < bool < NaN < numbers < timestamp < string < bytes < reference < geo point < array < vector < map.
extension DocumentValue {
    /// Values of the same class compare with `<` in a filter; a filter never matches across classes.
    package var typeOrder: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .integer, .double: 2
        case .timestamp: 3
        case .string: 4
        case .bytes: 5
        case .reference: 6
        case .geoPoint: 7
        case .array: 8
        case .vector: 9
        case .map: 10
        }
    }

    package func ordering(to other: DocumentValue) -> Ordering {
        switch (self, other) {
        case (.null, .null): .same
        case (.bool(let left), .bool(let right)): Ordering(left ? 1 : 0, right ? 1 : 0)
        case (.integer(let left), .integer(let right)): Ordering(left, right)
        case (.double(let left), .double(let right)): left.queryOrdering(to: right)
        case (.integer(let left), .double(let right)): right.queryOrdering(to: left).reversed
        case (.double(let left), .integer(let right)): left.queryOrdering(to: right)
        case (.timestamp(let left), .timestamp(let right)): Ordering(left, right)
        case (.string(let left), .string(let right)): left.utf8Ordering(to: right)
        case (.bytes(let left), .bytes(let right)): left.ordering(to: right)
        case (.reference(let left), .reference(let right)):
            (left.origin ?? "").utf8Ordering(to: right.origin ?? "").then(left.path.ordering(to: right.path))
        case (.geoPoint(let left), .geoPoint(let right)):
            left.latitude.queryOrdering(to: right.latitude)
                .then(left.longitude.queryOrdering(to: right.longitude))
        case (.array(let left), .array(let right)): left.ordering(to: right) { $0.ordering(to: $1) }
        case (.vector(let left), .vector(let right)):
            Ordering(left.count, right.count).then(left.ordering(to: right) { $0.queryOrdering(to: $1) })
        case (.map(let left), .map(let right)):
            left.entries.ordering(to: right.entries) {
                $0.name.utf8Ordering(to: $1.name).then($0.value.ordering(to: $1.value))
            }
        default: Ordering(typeOrder, other.typeOrder)
        }
    }

    /// Equality as filters and array transforms see it: `1` and `1.0` are the same value, also inside arrays and maps.
    package func isSame(as other: DocumentValue) -> Bool { ordering(to: other) == .same }
}

extension Double {
    /// NaN first and equal to itself; −0 and 0 the same.
    fileprivate func queryOrdering(to other: Double) -> Ordering {
        if self < other { return .before }
        if self > other { return .after }
        if self == other { return .same }
        return Ordering(isNaN ? 0 : 1, other.isNaN ? 0 : 1)
    }

    /// Exact, while converting to `Double(other)` would round.
    fileprivate func queryOrdering(to other: Int64) -> Ordering {
        if isNaN { return .before }
        if self >= 0x1p63 { return .after }
        if self < -0x1p63 { return .before }
        let whole = Int64(self)  // towards zero, and in range
        return Ordering(whole, other).then(Ordering(self - Double(whole), 0))
    }
}

extension Data {
    fileprivate func ordering(to other: Data) -> Ordering {
        withUnsafeBytes { left in
            other.withUnsafeBytes { right in
                let common = Swift.min(left.count, right.count)
                let difference = common == 0 ? 0 : memcmp(left.baseAddress!, right.baseAddress!, common)
                return difference != 0 ? (difference < 0 ? .before : .after) : Ordering(left.count, right.count)
            }
        }
    }
}

extension Array {
    /// Element by element, then the shorter one first.
    fileprivate func ordering(to other: [Element], by ordering: (Element, Element) -> Ordering) -> Ordering {
        for (left, right) in zip(self, other) {
            let result = ordering(left, right)
            if result != .same { return result }
        }
        return Ordering(count, other.count)
    }
}
