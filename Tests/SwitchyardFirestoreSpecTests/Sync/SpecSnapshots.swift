import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// Compares the snapshots that a step raised with those it should have.
enum SpecSnapshots {
    static func check(_ expected: [JSON], _ actual: [(query: LiveQuery, outcome: SpecWorld.Outcome)]) throws {
        var rest = actual
        for event in expected {
            let query = try SpecValues.query(event["query"] ?? .null)
            guard let index = rest.firstIndex(where: { $0.query == query }) else {
                throw SpecFailure("no event for \(name(query)); there were \(actual.map { name($0.query) })")
            }
            try compare(event, rest.remove(at: index).outcome)
        }
        if !rest.isEmpty { throw SpecFailure("unexpected \(rest.map { "\(name($0.query)): \(text($0.outcome))" })") }
    }

    private static func compare(_ expected: JSON, _ outcome: SpecWorld.Outcome) throws {
        let code = expected["errorCode"]?.int ?? 0
        switch outcome {
        case .failure(let error):
            guard SpecValues.number(of: error.code) == code else { throw SpecFailure("error \(error.code)") }
        case .snapshot(let snapshot):
            guard code == 0 else { throw SpecFailure("a snapshot instead of error \(code)") }
            var wanted: [String] = []
            for kind in ["added", "modified", "removed", "metadata"] {
                for json in expected[kind]?.array ?? [] {
                    let document = try SpecValues.document(json)
                    let state =
                        json["options"]?["hasLocalMutations"]?.bool == true
                        ? "pending" : json["options"]?["hasCommittedMutations"]?.bool == true ? "committed" : "none"
                    wanted.append(line(kind, document, state))
                }
            }
            let own = snapshot.changes.map {
                line($0.kind.rawValue, $0.document, "\($0.document.metadata.localState)")
            }
            guard wanted.sorted() == own.sorted() else {
                throw SpecFailure("changes \(own.sorted()), expected \(wanted.sorted())")
            }
            guard snapshot.isFromCache == expected["fromCache"]?.bool else {
                throw SpecFailure("fromCache is \(snapshot.isFromCache)")
            }
            guard snapshot.hasPendingWrites == expected["hasPendingWrites"]?.bool else {
                throw SpecFailure("hasPendingWrites is \(snapshot.hasPendingWrites)")
            }
        }
    }

    private static func line(_ kind: String, _ document: DocumentSnapshot, _ state: String) -> String {
        let fields = document.data.map { text(.map($0)) } ?? "-"
        return "\(document.path) \(kind) v\(document.updateTime?.microseconds ?? 0) \(state) \(fields)"
    }

    private static func text(_ value: DocumentValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "i\(value)"
        case .double(let value): "d\(value)"
        case .string(let value): "“\(value)”"
        case .array(let elements): "[\(elements.map(text).joined(separator: ","))]"
        case .map(let data): "{\(data.map { "\($0.name):\(text($0.value))" }.joined(separator: ","))}"
        default: "?"
        }
    }

    private static func text(_ outcome: SpecWorld.Outcome) -> String {
        switch outcome {
        case .failure(let error): "\(error.code)"
        case .snapshot(let snapshot):
            "fromCache \(snapshot.isFromCache) "
                + snapshot.changes.map { line($0.kind.rawValue, $0.document, "\($0.document.metadata.localState)") }
                .description
        }
    }

    static func name(_ query: LiveQuery) -> String {
        switch query {
        case .document(let path): path.rawValue
        case .query(let query):
            "\(query.collectionID) \(query.filter == nil ? "" : "filtered") \(query.limit.map { "\($0)" } ?? "")"
        }
    }
}
