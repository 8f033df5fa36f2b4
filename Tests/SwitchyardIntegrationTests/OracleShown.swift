import Switchyard

/// What a snapshot shows, without the times, which are each server's own.
struct OracleShown: Sendable, Equatable {
    struct Document: Sendable, Equatable {
        let path: StoragePath
        let data: DocumentData?
        let hasPendingWrites: Bool

        init(_ document: DocumentSnapshot) {
            path = document.path
            data = document.data
            // The engine, like the official ones, does not say of a stream's missing document that its deletion waits.
            hasPendingWrites = document.exists && document.metadata.hasPendingWrites
        }

        var text: String { "\(path) \(data?.plain ?? "missing")\(hasPendingWrites ? " *" : "")" }
    }

    let documents: [Document]
    let isFromCache: Bool
    let hasPendingWrites: Bool

    init(_ snapshot: QuerySnapshot) {
        documents = snapshot.documents.map(Document.init)
        isFromCache = snapshot.metadata.isFromCache
        hasPendingWrites = snapshot.metadata.hasPendingWrites
    }

    init(_ snapshot: DocumentSnapshot) {
        documents = [Document(snapshot)]
        isFromCache = snapshot.metadata.isFromCache
        hasPendingWrites = documents[0].hasPendingWrites
    }

    var isMissingFromCache: Bool { isFromCache && documents.allSatisfy { $0.data == nil } && !documents.isEmpty }

    var text: String {
        "\(documents.map(\.text))\(isFromCache ? " from cache" : "")\(hasPendingWrites ? " with writes" : "")"
    }
}

extension DocumentData {
    var plain: String { "{\(entries.map { "\($0.name): \($0.value.plain)" }.joined(separator: ", "))}" }
}

extension DocumentValue {
    /// Values say nothing of themselves in logs; here they must.
    var plain: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)d"
        case .string(let value): "“\(value)”"
        case .array(let values): "[\(values.map(\.plain).joined(separator: ", "))]"
        case .map(let data): data.plain
        case .timestamp(let time): "\(time)"
        case .bytes(let bytes): "\(Array(bytes))"
        case .reference(let reference): "\(reference)"
        case .geoPoint(let point): "\(point)"
        case .vector(let values): "\(values)"
        }
    }
}

extension Query {
    var plain: String {
        let filter = filter.map { " where \($0)" } ?? ""
        let orders = orders.map { " by \($0.field) \($0.direction)" }.joined()
        let rest = "\(limit.map { " \($0)" } ?? "")\(offset > 0 ? " skipping \(offset)" : "")"
        return "\(source)\(filter)\(orders)\(rest)\(start == nil && end == nil ? "" : " within bounds")"
    }
}

extension DocumentWrite {
    var plain: String {
        let text =
            switch operation {
            case .set(let data): "set \(path) \(data.plain)"
            case .patch(let data, let mask): "patch \(path) \(data.plain) of \(mask)"
            case .delete: "delete \(path)"
            case .verify: "verify \(path)"
            }
        let condition = precondition == .none ? "" : " if \(precondition)"
        return text + (transforms.isEmpty ? "" : " \(transforms)") + condition
    }
}
