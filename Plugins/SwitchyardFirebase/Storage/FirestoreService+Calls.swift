import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardSync

/// One method for each call.
extension FirestoreService {
    /// The documents in the order asked for, each name once.
    func documents(
        _ paths: [StoragePath], in transaction: String? = nil
    ) async throws(StorageError) -> (found: [DocumentSnapshot], readTime: Timestamp?) {
        let database = database
        var body: JSONObject = ["documents": .array(paths.map { .string(database.resourceName(of: $0)) })]
        if let transaction { body["transaction"] = .string(transaction) }
        let answer = try await list(
            from: "batchGet", at: database.root, .object(body), isBrief: paths.count <= Self.briefList,
            into: ReadDocuments()
        ) { json, answer throws(FirestoreFormatError) in
            let element = try FirestoreAnswers.BatchGetElement(firestore: json, in: database)
            answer.add(element.document, element.readTime)
        }
        if answer.documents.lazy.map(\.path).elementsEqual(paths) { return (answer.documents, answer.time) }
        // The server chooses the order of the answer.
        let byPath = Dictionary(answer.documents.lazy.map { ($0.path, $0) }) { first, _ in first }
        var found: [DocumentSnapshot] = []
        found.reserveCapacity(paths.count)
        for path in paths {
            guard let document = byPath[path] else {
                throw StorageError(.internal, "The server's response lacks a document that was requested.")
            }
            found.append(document)
        }
        return (found, answer.time)
    }

    /// The results in the query's order. They are decoded as they arrive, so that the complete text is never in memory.
    func results(of query: Query) async throws(StorageError) -> (documents: [DocumentSnapshot], readTime: Timestamp?) {
        let encoded = FirestoreQuery(query, in: database)
        let database = database
        var answer = try await list(
            from: "runQuery", at: encoded.parent, ["structuredQuery": encoded.structuredQuery],
            into: ReadDocuments()
        ) { json, answer throws(FirestoreFormatError) in
            let element = try FirestoreAnswers.QueryElement(firestore: json, in: database)
            answer.add(element.document, element.readTime)
        }
        if encoded.isReversed { answer.documents.reverse() }
        return (answer.documents, answer.time)
    }

    /// The server aggregates only documents that have every field used in a request, even for the count. So each field, and the
    /// count, has a separate request, and they may see different snapshots.
    func aggregate(_ query: Query, _ aggregations: [Aggregation]) async throws(StorageError) -> [DocumentValue] {
        var values = [DocumentValue](repeating: .null, count: aggregations.count)
        var places: [FieldPath?: [Int]] = [:]
        for (place, aggregation) in aggregations.enumerated() { places[aggregation.field, default: []].append(place) }
        for places in places.values.sorted(by: { $0[0] < $1[0] }) {
            for start in stride(from: 0, to: places.count, by: Self.maximumAggregations) {
                let part = places[start...].prefix(Self.maximumAggregations)
                let answers = try await aggregateTogether(query, part.map { aggregations[$0] })
                for (place, value) in zip(part, answers) { values[place] = value }
            }
        }
        return values
    }

    private static let maximumAggregations = 5

    private func aggregateTogether(
        _ query: Query, _ aggregations: [Aggregation]
    ) async throws(StorageError) -> [DocumentValue] {
        let encoded = FirestoreQuery(query, in: database, for: .aggregation)
        let answer = try await post(
            "runAggregationQuery", at: encoded.parent, encoded.aggregationBody(aggregations), isIdempotent: true)
        if let error = answer[0]?["error"] { throw StorageError(FirestoreFailure(error: error, ifUnknown: .unknown)) }
        return try StorageError.mapping { () throws(FirestoreFormatError) in
            try FirestoreAnswers.aggregations(firestore: answer, count: aggregations.count, in: database)
        }
    }

    /// - Parameters:
    ///   - batch: The batch that the writes belong to, if they come from the queue.
    ///   - transaction: The server transaction that the commit ends.
    func commit(
        _ writes: [DocumentWrite], of batch: OutgoingBatch? = nil, in transaction: String? = nil
    ) async throws(StorageError) -> FirestoreWriteResults {
        var body: JSONObject = ["writes": .array(writes.map { $0.firestore(in: database) })]
        if let transaction { body["transaction"] = .string(transaction) }
        let answer = try await post(
            "commit", at: database.root, .object(body), isIdempotent: false, for: batch)
        return try StorageError.mapping { () throws(FirestoreFormatError) in
            try FirestoreWriteResults(firestore: answer, in: database)
        }
    }

    /// The name of a new server transaction, which holds locks on what it reads until it ends.
    func beginTransaction() async throws(StorageError) -> String {
        let answer = try await post("beginTransaction", at: database.root, [:], isIdempotent: false)
        guard let name = answer["transaction"]?.string else {
            throw StorageError(.internal, "The server began a transaction without an ID.")
        }
        return name
    }

    func rollBack(_ transaction: String) async throws(StorageError) {
        _ = try await post(
            "rollback", at: database.root, ["transaction": .string(transaction)], isIdempotent: true)
    }
}

/// What a read has found so far, and the latest time in its answer.
private struct ReadDocuments: Sendable {
    var documents: [DocumentSnapshot] = []
    private(set) var time: Timestamp?

    mutating func add(_ document: DocumentSnapshot?, _ time: Timestamp?) {
        if let document { documents.append(document) }
        if let time, self.time.map({ $0 < time }) ?? true { self.time = time }
    }
}

extension Aggregation {
    /// The field that it uses.
    fileprivate var field: FieldPath? {
        switch self {
        case .count: nil
        case .sum(let field), .average(let field): field
        }
    }
}

extension StorageError {
    static func mapping<Value>(
        _ decode: () throws(FirestoreFormatError) -> Value
    ) throws(StorageError) -> Value {
        do throws(FirestoreFormatError) { return try decode() } catch { throw StorageError(error) }
    }
}

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

/// The outcome of a call that answers with a list.
enum ListAnswer<Contents: Sendable>: Sendable {
    case complete(Contents)
    case refused(FirestoreFailure)
    case unreadable(StorageError)
}

/// Decodes a list from the pieces of its text, one element after the other, into what is wanted of it.
struct ListReader<Contents: Sendable> {
    typealias Take = @Sendable (_ element: JSON, _ contents: inout Contents) throws(FirestoreFormatError) -> Void

    private var list = JSONStream(.elements, options: FirestoreService.parsing)
    private var contents: Contents
    private let take: Take

    init(into contents: Contents, _ take: @escaping Take) {
        self.contents = contents
        self.take = take
    }

    /// The outcome, if it is already known because the answer is not a list of elements.
    mutating func take(_ bytes: [UInt8]) -> ListAnswer<Contents>? {
        list.append(bytes)
        return decodeAll()
    }

    mutating func finish() -> ListAnswer<Contents> {
        list.finish()
        return decodeAll() ?? .complete(contents)
    }

    private mutating func decodeAll() -> ListAnswer<Contents>? {
        do {
            while let json = try list.next() {
                // An error can follow some elements, which are then discarded.
                if let error = json["error"] { return .refused(FirestoreFailure(error: error, ifUnknown: .unknown)) }
                try take(json, &contents)
            }
            return nil
        } catch let error as FirestoreFormatError {
            return .unreadable(StorageError(error))
        } catch {
            return .unreadable(StorageError(.unavailable, "The server's response was cut short.", underlying: error))
        }
    }
}
