import Foundation
import Switchyard

/// The order of values, by copies, keys and lists: below zero is before, zero the same, above zero after.
enum PlainOrder {
    static func isNull(_ value: DocumentValue) -> Bool { if case .null = value { true } else { false } }
    static func isNaN(_ value: DocumentValue) -> Bool {
        if case .double(let number) = value { number.isNaN } else { false }
    }

    static func rank(_ value: DocumentValue) -> Int {
        switch value {
        case .null: 1
        case .bool: 2
        case .integer, .double: 3
        case .timestamp: 4
        case .string: 5
        case .bytes: 6
        case .reference: 7
        case .geoPoint: 8
        case .array: 9
        case .vector: 10
        case .map: 11
        }
    }

    static func values(_ left: DocumentValue, _ right: DocumentValue) -> Int {
        switch (left, right) {
        case (.bool(let left), .bool(let right)): things(left ? 1 : 0, right ? 1 : 0)
        case (.integer, .integer), (.integer, .double), (.double, .integer), (.double, .double):
            numbers(key(left), key(right))
        case (.timestamp(let left), .timestamp(let right)):
            first(
                things(left.isEstimate ? 1 : 0, right.isEstimate ? 1 : 0), things(left.seconds, right.seconds),
                things(left.nanoseconds, right.nanoseconds))
        case (.string(let left), .string(let right)): lists(Array(left.utf8), Array(right.utf8), things)
        case (.bytes(let left), .bytes(let right)): lists(Array(left), Array(right), things)
        case (.reference(let left), .reference(let right)):
            first(
                lists(Array((left.origin ?? "").utf8), Array((right.origin ?? "").utf8), things),
                lists(segments(left.path.rawValue), segments(right.path.rawValue), names))
        case (.geoPoint(let left), .geoPoint(let right)):
            first(things(left.latitude, right.latitude), things(left.longitude, right.longitude))
        case (.array(let left), .array(let right)): lists(left, right, values)
        case (.vector(let left), .vector(let right)):
            first(
                things(left.count, right.count),
                lists(left.map { DocumentValue.double($0) }, right.map { DocumentValue.double($0) }, values))
        case (.map(let left), .map(let right)):
            lists(sortedEntries(left), sortedEntries(right)) { left, right in
                first(lists(left.name, right.name, things), values(left.value, right.value))
            }
        default: things(rank(left), rank(right))
        }
    }

    static func directed(
        _ left: (value: DocumentValue, isDescending: Bool), _ right: (value: DocumentValue, isDescending: Bool)
    ) -> Int {
        left.isDescending ? values(right.value, left.value) : values(left.value, right.value)
    }

    static func fields(_ left: FieldPath, _ right: FieldPath) -> Int {
        lists(left.components, right.components) { lists(Array($0.utf8), Array($1.utf8), things) }
    }

    static func lists<Element>(_ left: [Element], _ right: [Element], _ order: (Element, Element) -> Int) -> Int {
        for (left, right) in zip(left, right) where order(left, right) != 0 { return order(left, right) }
        return things(left.count, right.count)
    }

    static func segments(_ path: String) -> [[UInt8]] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { Array($0) }
    }

    /// `__id<number>__` by number and before all others.
    private static func names(_ left: [UInt8], _ right: [UInt8]) -> Int {
        func number(_ name: [UInt8]) -> Int64? {
            let text = String(decoding: name, as: UTF8.self)
            guard text.hasPrefix("__id"), text.hasSuffix("__"), let number = Int64(text.dropFirst(4).dropLast(2)) else {
                return nil
            }
            return text == "__id\(number)__" ? number : nil
        }
        return switch (number(left), number(right)) {
        case (let left?, let right?): things(left, right)
        case (_?, nil): -1
        case (nil, _?): 1
        case (nil, nil): lists(left, right, things)
        }
    }

    private typealias NumberKey = (place: Int, whole: Int64, rest: Double)

    /// NaN, what no integer is as small as, what lies between integers, what no integer is as large as.
    private static func key(_ number: DocumentValue) -> NumberKey {
        switch number {
        case .integer(let integer): (2, integer, 0)
        case .double(let double) where double.isNaN: (0, 0, 0)
        case .double(let double) where double < -0x1p63: (1, 0, double)
        case .double(let double) where double >= 0x1p63: (3, 0, double)
        case .double(let double): (2, Int64(double.rounded(.down)), double - double.rounded(.down))
        default: (0, 0, 0)
        }
    }

    private static func numbers(_ left: NumberKey, _ right: NumberKey) -> Int {
        first(things(left.place, right.place), things(left.whole, right.whole), things(left.rest, right.rest))
    }

    private static func sortedEntries(_ data: DocumentData) -> [(name: [UInt8], value: DocumentValue)] {
        data.map { (name: Array($0.name.utf8), value: $0.value) }.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    private static func first(_ orders: Int...) -> Int { orders.first { $0 != 0 } ?? 0 }

    private static func things<Thing: Comparable>(_ left: Thing, _ right: Thing) -> Int {
        left < right ? -1 : left > right ? 1 : 0
    }
}
