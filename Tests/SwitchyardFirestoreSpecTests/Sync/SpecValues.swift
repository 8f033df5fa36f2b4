import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardSync

/// A scenario that says something this runner does not know, or that does not hold.
struct SpecFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// How the scenarios write queries, values and errors.
enum SpecValues {
    static let database = FirestoreDatabase(project: "test-project")

    static func query(_ json: JSON) throws -> LiveQuery {
        let text = json.string ?? json["path"]?.string ?? ""
        let group = json["collectionGroup"]?.string
        if group == nil, text.split(separator: "/").count.isMultiple(of: 2) {
            return .document(try StoragePath(validating: text))
        }
        var query: Query
        if let group {
            query = try Query(group: group, under: text.isEmpty ? nil : StoragePath(validating: text))
        } else {
            query = Query(in: try CollectionPath(validating: text))
        }
        for filter in json["filters"]?.array ?? [] {
            guard let field = filter[0]?.string, let name = filter[1]?.string, let value = filter[2],
                let operation = Filter.Operator(rawValue: name)
            else { throw SpecFailure("unknown filter") }
            query = try query.where(FieldPath(validating: field), operation, self.value(value))
        }
        for order in json["orderBys"]?.array ?? [] {
            query = try query.ordered(
                by: FieldPath(validating: order[0]?.string ?? ""),
                order[1]?.string == "desc" ? .descending : .ascending)
        }
        if let limit = json["limit"]?.int {
            query.limit = json["limitType"]?.string == "LimitToLast" ? .last(limit) : .first(limit)
        }
        return .query(query)
    }

    static func value(_ json: JSON) -> DocumentValue {
        switch json {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .number(let value): .double(value)
        case .string(let value): .string(value)
        case .array(let elements): .array(elements.map(value))
        case .object(let object): .map(data(object))
        }
    }

    static func data(_ object: JSONObject) -> DocumentData {
        DocumentData(object.members.map { ($0.key, value($0.value)) })
    }

    static func document(_ json: JSON) throws -> DocumentSnapshot {
        let path = try StoragePath(validating: json["key"]?.string ?? "")
        let version = Timestamp(microseconds: json["version"]?.int64 ?? 0)
        guard let object = json["value"]?.object else {
            return DocumentSnapshot(path: path, data: nil, updateTime: version)
        }
        return DocumentSnapshot(path: path, data: data(object), updateTime: version)
    }

    static func patch(_ path: StoragePath, _ object: JSONObject) throws -> DocumentWrite {
        var data = DocumentData()
        var mask: [FieldPath] = []
        for (key, json) in object.members.map({ ($0.key, $0.value) }) {
            let field = try FieldPath(validating: key)
            mask.append(field)
            if json.string != "<DELETE>" { data[field] = value(json) }
        }
        return DocumentWrite(path: path, operation: .patch(data, mask: mask), precondition: .exists(true))
    }

    private static let codes: [Int: StorageError.Code] = [
        1: .cancelled, 2: .unknown, 3: .invalidArgument, 4: .deadlineExceeded, 5: .notFound, 6: .alreadyExists,
        7: .unauthorized, 8: .resourceExhausted, 9: .failedPrecondition, 10: .aborted,
        11: .init(rawValue: "outOfRange"), 12: .unsupported, 13: .internal, 14: .unavailable,
        15: .init(rawValue: "dataLoss"), 16: .unauthenticated,
    ]

    /// What takes a write out of its queue.
    private static let refusals = Set([3, 5, 6, 7, 9, 11, 12, 15].compactMap { codes[$0] })

    static func error(_ json: JSON?) throws -> StorageError {
        guard let code = json?["code"]?.int.flatMap({ codes[$0] }) else { throw SpecFailure("unknown error code") }
        let error = StorageError(code, "The scenario's own error.")
        return refusals.contains(code) ? error.asRefusal() : error
    }

    static func number(of code: StorageError.Code) -> Int { codes.first { $0.value == code }?.key ?? -1 }

    static func bloomFilter(_ json: JSON?) -> BloomFilter? {
        guard let bits = json?["bits"], let text = bits["bitmap"]?.string ?? Optional(""),
            let bitmap = Data(base64Encoded: text)
        else { return nil }
        return BloomFilter(
            bitmap: Array(bitmap), padding: bits["padding"]?.int ?? 0, hashCount: json?["hashCount"]?.int ?? 0,
            prefix: database.root + "/")
    }
}
