import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// Calls that the server accepts only from the project itself.
extension FirestoreService {
    func collections(under document: StoragePath?) async throws(StorageError) -> [CollectionPath] {
        let parent = document.map { database.resourceName(of: $0) } ?? database.root
        var found: [CollectionPath] = []
        var place: String?
        repeat {
            var body: JSONObject = ["pageSize": 300]
            if let place { body["pageToken"] = .string(place) }
            let answer = try await post("listCollectionIds", at: parent, .object(body), isIdempotent: true)
            for id in answer["collectionIds"]?.array ?? [] {
                guard let id = id.string else { continue }
                let collection = document?.collection(id) ?? CollectionPath(unchecked: id)
                found.append(try collection.checked())
            }
            place = answer["nextPageToken"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        } while place != nil
        return found.sorted { $0.rawValue < $1.rawValue }
    }

    /// The first documents of all parts but the first. The parts are of about the same size.
    func dividers(ofGroup group: String, into count: Int) async throws(StorageError) -> [StoragePath] {
        let query = FirestoreQuery(Query(group: group), in: database).structuredQuery
        let database = database
        var found: Set<StoragePath> = []
        var place: String?
        repeat {
            // The number of dividers is one less than the number of parts.
            var body: JSONObject = ["structuredQuery": query, "partitionCount": .string("\(count - 1)")]
            if let place { body["pageToken"] = .string(place) }
            let answer = try await post("partitionQuery", at: database.root, .object(body), isIdempotent: true)
            found.formUnion(
                try StorageError.mapping { () throws(FirestoreFormatError) in
                    try FirestoreAnswers.dividers(firestore: answer, in: database)
                })
            place = answer["nextPageToken"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        } while place != nil
        // Each page is sorted, but not the whole list.
        return found.sorted()
    }

    private static let treePage = 500

    /// Deletes a document with everything below it, including documents below missing ones, in pages. Documents added meanwhile
    /// may remain.
    ///
    /// - Parameter progress: Called with the number of documents deleted so far.
    func deleteTree(
        at document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        var deleted = 0
        while true {
            if Task.isCancelled { throw StorageError(.cancelled, "The call was cancelled.") }
            let page = try await descendants(of: document)
            if page.paths.isEmpty { break }
            _ = try await commit(page.paths.map { DocumentWrite.delete($0) })
            deleted += page.paths.count
            progress(deleted)
            if page.count < Self.treePage { break }
        }
        if try await documents([document]).found[0].exists {
            _ = try await commit([.delete(document)])
            deleted += 1
            progress(deleted)
        }
        return deleted
    }

    /// Some documents below `document`, at any depth.
    private struct Descendants {
        var paths: [StoragePath] = []
        /// How many the server returned, which may be more.
        var count = 0
    }

    private func descendants(of document: StoragePath) async throws(StorageError) -> Descendants {
        let database = database
        let query: JSON = [
            "select": ["fields": [["fieldPath": "__name__"]]], "from": [["allDescendants": true]],
            "limit": .integer(Int64(Self.treePage)),
        ]
        return try await list(
            from: "runQuery", at: database.resourceName(of: document), ["structuredQuery": query], into: Descendants()
        ) { json, page throws(FirestoreFormatError) in
            let element = try FirestoreAnswers.QueryElement(firestore: json, in: database)
            guard let path = element.document?.path else { return }
            page.count += 1
            if path != document { page.paths.append(path) }
        }
    }
}
