package import Switchyard
package import SwitchyardBytes

/// A client's request on the stream of changes.
package enum FirestoreListenRequest: Sendable {
    package enum Target: Sendable, Hashable {
        case query(Query)
        case document(StoragePath)
    }

    /// The point at which a target resumes.
    package enum Resumption: Sendable, Hashable {
        case token([UInt8])
        case readTime(Timestamp)
    }

    /// Why the client listens to a target, for the server's statistics.
    package enum Purpose: String, Sendable, Hashable {
        case existenceFilterMismatch = "existence-filter-mismatch"
        case existenceFilterMismatchBloom = "existence-filter-mismatch-bloom"
        case limboDocument = "limbo-document"
    }

    /// - Parameter expectedCount: The number of documents that the server had confirmed; sent only when resuming.
    case add(Target, id: Int, from: Resumption? = nil, expectedCount: Int? = nil, purpose: Purpose? = nil)
    case remove(id: Int)

    package func firestore(in database: FirestoreDatabase) -> JSON {
        var object: JSONObject = ["database": .string(database.name)]
        switch self {
        case .remove(let id): object["removeTarget"] = .integer(Int64(id))
        case .add(let target, let id, let resumption, let expectedCount, let purpose):
            var add: JSONObject = ["targetId": .integer(Int64(id))]
            switch target {
            case .query(let query): add["query"] = FirestoreQuery(query, in: database, for: .target).target
            case .document(let path):
                add["documents"] = .object("documents", [.string(database.resourceName(of: path))])
            }
            switch resumption {
            case .token(let token): add["resumeToken"] = .string(Base64.encode(token))
            case .readTime(let time): add["readTime"] = .string(time.firestoreText)
            case nil: break
            }
            if resumption != nil, let expectedCount { add["expectedCount"] = .integer(Int64(expectedCount)) }
            object["addTarget"] = .object(add)
            if let purpose { object["labels"] = .object("goog-listen-tags", .string(purpose.rawValue)) }
        }
        return .object(object)
    }
}
