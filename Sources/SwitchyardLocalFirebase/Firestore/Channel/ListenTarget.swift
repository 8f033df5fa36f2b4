import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// A client's target: the results of a query, or some documents by name.
enum ListenTarget: Sendable {
    case query(QueryView)
    case documents([StoragePath])

    /// The number of documents kept beyond a limit, so that not every removal requires a full scan.
    private static let reserve = 20

    init(_ query: Query, _ documents: LocalDocuments) {
        var view = QueryView(query, reserve: ListenTarget.reserve)
        ListenTarget.fill(&view, documents)
        self = .query(view)
    }

    /// From the `addTarget` message of a client.
    struct Request {
        enum Wanted {
            case query(Query)
            case documents([StoragePath])
        }
        let id: Int
        let wanted: Wanted
        /// The time up to which the client knows everything.
        let since: Timestamp?
        let expectedCount: Int?
        let isOnce: Bool

        init(_ json: JSON, in database: FirestoreDatabase) throws(FirestoreFailure) {
            guard let id = json["targetId"]?.int, id > 0 else { throw .invalid("A target has a positive number.") }
            self.id = id
            expectedCount = json["expectedCount"]?.int ?? json["expectedCount"]?["value"]?.int
            isOnce = json["once"]?.bool ?? false
            since = json["resumeToken"]?.string.flatMap { ResumeToken.time(of: $0) }
            wanted = try FirestoreFailure.reading { () throws(FirestoreFormatError) in
                if let query = json["query"] {
                    return .query(
                        try Query(
                            firestore: query["structuredQuery"] ?? .null, parent: query["parent"]?.string ?? "",
                            in: database))
                }
                let names = json["documents"]?["documents"]?.array?.compactMap(\.string) ?? []
                return .documents(
                    try names.map { name throws(FirestoreFormatError) in try database.path(ofName: name) })
            }
        }
    }

    /// The current documents of the target.
    func found(in documents: LocalDocuments) -> [DocumentSnapshot] {
        switch self {
        case .query(let view): Array(view.documents)
        case .documents(let paths): paths.map { documents.snapshot($0) }
        }
    }

    /// Whether document times alone show what a client lacks, which is not the case if other documents can move results in and
    /// out.
    var canResume: Bool {
        switch self {
        case .query(let view): view.query.limit == nil && view.query.offset == 0
        case .documents: true
        }
    }

    /// The effect of a commit: the documents to send, and those that have left.
    mutating func update(
        _ changed: [DocumentSnapshot], in documents: LocalDocuments
    ) -> (shown: [DocumentSnapshot], gone: [DocumentSnapshot]) {
        switch self {
        case .documents(let paths):
            let own = changed.filter { paths.contains($0.path) }
            return (own.filter(\.exists), own.filter { !$0.exists })
        case .query(var view):
            var isTouched = false
            for document in changed where view.update(document) { isTouched = true }
            guard isTouched else { return ([], []) }
            if view.needsRefill { ListenTarget.fill(&view, documents) }
            let changes = view.takeChanges()
            self = .query(view)
            return (
                changes.filter { $0.kind != .removed }.map(\.document),
                changes.filter { $0.kind == .removed }.map { documents.snapshot($0.document.path) }
            )
        }
    }

    private static func fill(_ view: inout QueryView, _ documents: LocalDocuments) {
        func reset(_ candidates: some Sequence<DocumentSnapshot>) { view.reset(to: candidates) }
        reset(documents.candidates(for: view.query.source))
        _ = view.takeChanges()
    }
}

/// A time as an opaque token for clients.
enum ResumeToken {
    static func bytes(_ time: Timestamp) -> [UInt8] {
        withUnsafeBytes(of: time.microseconds.bigEndian) { Array($0) }
    }

    /// `nil` if it was not created here; then everything is sent again.
    static func time(of text: String) -> Timestamp? {
        guard let bytes = Base64.decode(text, padding: .optional), bytes.count == 8 else { return nil }
        return Timestamp(microseconds: Int64(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
    }
}
