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

/// A server's message on the stream of changes.
package enum FirestoreListenResponse: Sendable, Equatable {
    case targetChange(TargetChange)
    /// The document's current state, for the targets that contain it and those that it has left.
    case documentChange(DocumentSnapshot, targetIDs: [Int], removedTargetIDs: [Int])
    /// The document no longer exists, as of `readTime`.
    case documentDelete(StoragePath, readTime: Timestamp?, removedTargetIDs: [Int])
    /// The document left these targets; its current state is unknown.
    case documentRemove(StoragePath, readTime: Timestamp?, removedTargetIDs: [Int])
    case existenceFilter(ExistenceFilter)

    package struct TargetChange: Sendable, Hashable {
        package enum Kind: String, Sendable, Hashable {
            case noChange = "NO_CHANGE"
            case add = "ADD"
            case remove = "REMOVE"
            case current = "CURRENT"
            case reset = "RESET"
        }

        package let kind: Kind
        /// The affected targets; empty for all targets.
        package let targetIDs: [Int]
        /// Why the server removed the targets.
        package let cause: FirestoreFailure?
        /// Empty if there is none.
        package let resumeToken: [UInt8]
        /// If no target is named, this makes the message a consistent snapshot of all targets.
        package let readTime: Timestamp?

        package init(
            _ kind: Kind, targetIDs: [Int] = [], cause: FirestoreFailure? = nil, resumeToken: [UInt8] = [],
            readTime: Timestamp? = nil
        ) {
            self.kind = kind
            self.targetIDs = targetIDs
            self.cause = cause
            self.resumeToken = resumeToken
            self.readTime = readTime
        }
    }

    /// The number of documents in the target, and a digest of the names of unchanged ones.
    package struct ExistenceFilter: Sendable, Hashable {
        package let targetID: Int
        package let count: Int
        /// Also `nil` if the digest cannot be decoded, since an unusable filter counts as none.
        package let unchangedNames: UnchangedNames?

        package init(targetID: Int, count: Int, unchangedNames: UnchangedNames? = nil) {
            self.targetID = targetID
            self.count = count
            self.unchangedNames = unchangedNames
        }
    }

    /// A Bloom filter as transferred. Its user checks whether its parts are consistent.
    package struct UnchangedNames: Sendable, Hashable {
        package let bitmap: [UInt8]
        package let padding: Int
        package let hashCount: Int

        package init(bitmap: [UInt8], padding: Int, hashCount: Int) {
            self.bitmap = bitmap
            self.padding = padding
            self.hashCount = hashCount
        }

        /// `nil` if it has no bits, or they are not valid base64.
        package init?(firestore json: JSON) {
            guard let bits = json["bits"], let bitmap = JSON.base64(bits["bitmap"]?.string ?? "") else { return nil }
            self.init(bitmap: bitmap, padding: bits["padding"]?.int ?? 0, hashCount: json["hashCount"]?.int ?? 0)
        }
    }
}

extension FirestoreListenResponse {
    package init(firestore json: JSON, in database: FirestoreDatabase) throws(FirestoreFormatError) {
        let object = try json.members(of: "a message of the stream")
        if let change = try object.object("documentChange") {
            guard let document = change.nonNull("document") else {
                throw FirestoreFormatError("a change without a document")
            }
            self = .documentChange(
                try DocumentSnapshot(firestore: document, in: database), targetIDs: try change.targetIDs("targetIds"),
                removedTargetIDs: try change.targetIDs("removedTargetIds"))
        } else if let change = try object.object("targetChange") {
            self = .targetChange(try TargetChange(firestore: change))
        } else if let delete = try object.object("documentDelete") {
            self = .documentDelete(
                try database.path(ofName: try delete.requiredString("document")),
                readTime: try delete.timestamp("readTime"),
                removedTargetIDs: try delete.targetIDs("removedTargetIds"))
        } else if let remove = try object.object("documentRemove") {
            self = .documentRemove(
                try database.path(ofName: try remove.requiredString("document")),
                readTime: try remove.timestamp("readTime"),
                removedTargetIDs: try remove.targetIDs("removedTargetIds"))
        } else if let filter = try object.object("filter") {
            self = .existenceFilter(
                ExistenceFilter(
                    targetID: try filter.integer("targetId") ?? 0, count: try filter.integer("count") ?? 0,
                    unchangedNames: filter.nonNull("unchangedNames").flatMap { UnchangedNames(firestore: $0) }))
        } else {
            throw FirestoreFormatError("a message of an unknown kind")
        }
    }

    package func firestore(in database: FirestoreDatabase) -> JSON {
        switch self {
        case .targetChange(let change): .object("targetChange", change.firestore)
        case .documentChange(let document, let targetIDs, let removed):
            .object(
                "documentChange",
                .object(
                    FirestoreListenResponse.targets(
                        ["document": document.firestore(in: database)], targetIDs, removed: removed)))
        case .documentDelete(let path, let readTime, let removed):
            .object("documentDelete", FirestoreListenResponse.gone(database.resourceName(of: path), readTime, removed))
        case .documentRemove(let path, let readTime, let removed):
            .object("documentRemove", FirestoreListenResponse.gone(database.resourceName(of: path), readTime, removed))
        case .existenceFilter(let filter): .object("filter", filter.firestore)
        }
    }

    private static func gone(_ name: String, _ readTime: Timestamp?, _ removed: [Int]) -> JSON {
        var object: JSONObject = ["document": .string(name)]
        if let readTime { object["readTime"] = .string(readTime.firestoreText) }
        return .object(targets(object, [], removed: removed))
    }

    private static func targets(_ object: JSONObject, _ targetIDs: [Int], removed: [Int]) -> JSONObject {
        var object = object
        if !targetIDs.isEmpty { object["targetIds"] = .array(targetIDs.map { .integer(Int64($0)) }) }
        if !removed.isEmpty { object["removedTargetIds"] = .array(removed.map { .integer(Int64($0)) }) }
        return object
    }
}

extension FirestoreListenResponse.TargetChange {
    fileprivate init(firestore object: JSONObject) throws(FirestoreFormatError) {
        let name = try object.string("targetChangeType") ?? Kind.noChange.rawValue
        guard let kind = Kind(rawValue: name) else { throw FirestoreFormatError("an unknown change of a target") }
        self.init(
            kind, targetIDs: try object.targetIDs("targetIds"),
            cause: object.nonNull("cause").map { FirestoreFailure(rpcStatus: $0) },
            resumeToken: try object.bytes("resumeToken") ?? [], readTime: try object.timestamp("readTime"))
    }

    fileprivate var firestore: JSON {
        var object = JSONObject()
        if kind != .noChange { object["targetChangeType"] = .string(kind.rawValue) }
        if !targetIDs.isEmpty { object["targetIds"] = .array(targetIDs.map { .integer(Int64($0)) }) }
        if let cause { object["cause"] = cause.rpcStatus }
        if !resumeToken.isEmpty { object["resumeToken"] = .string(Base64.encode(resumeToken)) }
        if let readTime { object["readTime"] = .string(readTime.firestoreText) }
        return .object(object)
    }
}

extension FirestoreListenResponse.ExistenceFilter {
    fileprivate var firestore: JSON {
        var object: JSONObject = ["targetId": .integer(Int64(targetID))]
        if count != 0 { object["count"] = .integer(Int64(count)) }
        if let names = unchangedNames {
            object["unchangedNames"] = [
                "bits": ["bitmap": .string(Base64.encode(names.bitmap)), "padding": .integer(Int64(names.padding))],
                "hashCount": .integer(Int64(names.hashCount)),
            ]
        }
        return .object(object)
    }
}
