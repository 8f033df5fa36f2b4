import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// What the server does for the project itself only.
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

    /// The first documents of parts of about the same size, but for the first part's.
    func dividers(ofGroup group: String, into count: Int) async throws(StorageError) -> [StoragePath] {
        let query = FirestoreQuery(Query(group: group), in: database).structuredQuery
        let database = database
        var found: Set<StoragePath> = []
        var place: String?
        repeat {
            // Of the places between the parts there is one less.
            var body: JSONObject = ["structuredQuery": query, "partitionCount": .string("\(count - 1)")]
            if let place { body["pageToken"] = .string(place) }
            let answer = try await post("partitionQuery", at: database.root, .object(body), isIdempotent: true)
            found.formUnion(
                try StorageError.mapping { () throws(FirestoreFormatError) in
                    try FirestoreAnswers.dividers(firestore: answer, in: database)
                })
            place = answer["nextPageToken"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        } while place != nil
        // Each page is sorted, and not all of them together.
        return found.sorted()
    }

    private static let treePage = 500

    /// Deletes a document with everything below it, what lies below missing documents too, in pages: what others add meanwhile
    /// may stay.
    ///
    /// - Parameter progress: Told how many were deleted so far.
    func deleteTree(
        at document: StoragePath, progress: @escaping @Sendable (_ deleted: Int) -> Void
    ) async throws(StorageError) -> Int {
        var deleted = 0
        while true {
            if Task.isCancelled { throw StorageError(.cancelled, "The call was cancelled.") }
            let page = try await descendants(of: document)
            if page.isEmpty { break }
            _ = try await commit(page.map { DocumentWrite.delete($0) })
            deleted += page.count
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
    private func descendants(of document: StoragePath) async throws(StorageError) -> [StoragePath] {
        let database = database
        let query: JSON = [
            "select": ["fields": [["fieldPath": "__name__"]]], "from": [["allDescendants": true]],
            "limit": .integer(Int64(Self.treePage)),
        ]
        let elements = try await elements(
            of: "runQuery", at: database.resourceName(of: document), ["structuredQuery": query]
        ) { json throws(FirestoreFormatError) in try FirestoreAnswers.QueryElement(firestore: json, in: database) }
        return elements.compactMap { $0.document?.path }.filter { $0 != document }
    }
}
