import Switchyard

/// Keys that stand for those which the database will make: numbers below all that a table counts to, so that an ID of type
/// `Int64` reads them. They are never sent.
enum ProvisionalKey {
    private static let range = Int64.min ... -(1 << 62)

    static func make() -> String { String(Int64.random(in: range)) }

    static func isOne(_ name: String) -> Bool {
        guard name.utf8.count == 20, name.utf8.first == UInt8(ascii: "-"), let number = Int64(name) else {
            return false
        }
        return range.contains(number)
    }
}

extension StoragePath {
    /// The document here or above that has a provisional key.
    func provisional(in tables: TableMappings) -> StoragePath? {
        var path: StoragePath? = tables.generatesIDs ? self : nil
        while let document = path {
            if tables.isProvisional(document) { return document }
            path = document.parent
        }
        return nil
    }
}

extension DocumentValue {
    /// A document that this refers to and that has a provisional key.
    func provisional(in tables: TableMappings) -> StoragePath? {
        switch self {
        case .reference(let reference) where reference.origin == nil: reference.path.provisional(in: tables)
        case .array(let elements): elements.lazy.compactMap { $0.provisional(in: tables) }.first
        case .map(let data): data.lazy.compactMap { $0.value.provisional(in: tables) }.first
        default: nil
        }
    }
}

extension DocumentWrite {
    /// All values that it writes.
    var values: [DocumentValue] {
        var values: [DocumentValue] = []
        switch operation {
        case .set(let data), .patch(let data, _): values = data.map(\.value)
        case .delete, .verify: break
        }
        for transform in transforms {
            switch transform.operation {
            case .arrayUnion(let elements), .arrayRemove(let elements): values += elements
            case .serverTime, .increment, .maximum, .minimum: break
            }
        }
        return values
    }
}
