import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// A channel on which the database announces writes and their location.
struct HintTopic: Hashable, Sendable {
    let name: String
    let configuration: RealtimeConfiguration

    private init(_ name: String, _ configuration: RealtimeConfiguration) {
        self.name = name
        self.configuration = configuration
    }

    /// The documents of a collection.
    static func documents(in collection: CollectionPath) -> HintTopic { documents(collection.rawValue) }

    /// The documents of all collections with a name.
    static func documents(inGroup id: String) -> HintTopic { documents("*/\(id)") }

    private static func documents(_ place: String) -> HintTopic {
        HintTopic("documents:\(place)", RealtimeConfiguration(isPrivate: true, awaitsDatabase: true))
    }

    /// All rows of a table: a filter would hide rows that stop matching it, and most deletions.
    static func rows(of table: String, in schema: String) -> HintTopic {
        HintTopic(
            "rows:\(schema).\(table)",
            RealtimeConfiguration(changes: [RealtimeConfiguration.Binding(schema: schema, table: table)]))
    }

    /// Whether it is a table's.
    var isOfRows: Bool { !configuration.changes.isEmpty }

    /// The transaction of a broadcast; `nil` if it contains none.
    static func transaction(of broadcast: RealtimeBroadcast) -> UInt64? {
        guard case .json(let payload) = broadcast.content else { return nil }
        return payload["transaction"]?.string.flatMap { UInt64($0) }
    }
}

extension WatchTarget {
    /// The topic that announces changes of documents in the document table.
    var documentTopic: HintTopic {
        switch self {
        case .document(let path): .documents(in: path.collection)
        case .query(let query):
            switch query.source {
            case .collection(let path): .documents(in: path)
            case .group(let id, _): .documents(inGroup: id)
            }
        }
    }
}
