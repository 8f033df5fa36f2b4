import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// A client's target: the results of a query, or some documents by name.
enum ListenTarget: Sendable {
    case query(QueryView)
    case documents([StoragePath])

    /// The number of documents held beyond a limit, so that not every removal requires a full scan.
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
            wanted = try ListenTarget.wanted(json, in: database)
        }
    }

    /// What a message asks for. Names that no document can have are refused, since nothing would ever come for them.
    private static func wanted(
        _ json: JSON, in database: FirestoreDatabase
    ) throws(FirestoreFailure) -> Request.Wanted {
        guard let query = json["query"] else {
            let names = json["documents"]?["documents"]?.array?.compactMap(\.string) ?? []
            return .documents(try FirestoreCall.paths(names, in: database))
        }
        let parent = query["parent"]?.string ?? ""
        if parent != database.root { _ = try FirestoreCall.paths([parent], in: database) }
        return .query(
            try FirestoreFailure.reading { () throws(FirestoreFormatError) in
                try Query(firestore: query["structuredQuery"] ?? .null, parent: parent, in: database)
            })
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

/// A Bloom filter of the names of all documents of a target, with which a client finds its outdated ones.
enum NameFilter {
    /// The false positive rate is about one percent.
    private static let bitsPerName = 10
    private static let hashCount = 7

    static func make(_ names: [String]) -> FirestoreListenResponse.UnchangedNames? {
        guard !names.isEmpty else { return nil }
        let bits = names.count * bitsPerName
        var bitmap = [UInt8](repeating: 0, count: (bits + 7) / 8)
        for name in names {
            let digest = MD5.digest(of: Array(name.utf8))
            let first = word(digest[0..<8])
            let second = word(digest[8..<16])
            for index in 0..<UInt64(hashCount) {
                let bit = Int((first &+ index &* second) % UInt64(bits))
                bitmap[bit / 8] |= 1 << (bit % 8)
            }
        }
        return FirestoreListenResponse.UnchangedNames(
            bitmap: bitmap, padding: bitmap.count * 8 - bits, hashCount: hashCount)
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
