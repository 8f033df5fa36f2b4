import Switchyard
import SwitchyardFirestoreFormat

/// One commit on a copy of the documents: either every write takes effect, or none does.
struct CommitRun {
    private(set) var documents: LocalDocuments
    private(set) var results: [FirestoreWriteResults.Result] = []
    /// The changed documents in the order of their first change, each once.
    var changed: [DocumentSnapshot] { order.map { documents.snapshot($0) } }
    private var order: [StoragePath] = []
    /// What the latest write to each document was.
    private var latest: [StoragePath: DocumentWrite.Operation] = [:]

    private let database: FirestoreDatabase
    private let time: Timestamp
    /// The value of server times, which are less precise than versions.
    private let serverTime: Timestamp

    init(_ documents: LocalDocuments, at time: Timestamp, in database: FirestoreDatabase) {
        self.documents = documents
        self.time = time
        self.database = database
        serverTime = Timestamp(microseconds: time.microseconds / 1000 * 1000)
    }

    mutating func apply(_ write: DocumentWrite, by caller: LocalCaller, _ rules: LocalRules) throws(FirestoreFailure) {
        try checkOrder(of: write)
        let old = documents.snapshot(write.path)
        try check(write, against: old)
        let (applied, transformResults) = write.applied(to: old.data, serverTime: serverTime)
        let data = applied?.withStoredTimes
        let action: LocalRules.Action = write.operation == .verify ? .read : .write
        guard rules.allow(action, of: caller, at: write.path, data: old.data, newData: data, in: documents) else {
            throw .permissionDenied
        }
        guard write.operation != .verify else {
            results.append(FirestoreWriteResults.Result())
            return
        }
        guard let data else {
            results.append(FirestoreWriteResults.Result())
            if old.exists { file(.missing(write.path)) }
            return
        }
        try FirestoreFailure.checking { () throws(StorageError) in
            // All writes pass here, so this validates the whole document.
            _ = try DocumentWrite.set(StoragePath(validating: write.path.rawValue), data: data)
        }
        if let field = data.entries.first(where: { $0.value.holdsLongText }) {
            throw .invalid(
                "The value of property “\(field.name)” is longer than \(DocumentValue.longestText) bytes; move it to a file."
            )
        }
        let isSame = old.data == data
        let document = DocumentSnapshot(
            path: write.path, data: data, createTime: old.createTime ?? time,
            updateTime: isSame ? old.updateTime : time)
        if !isSame { file(document) }
        results.append(
            FirestoreWriteResults.Result(
                updateTime: document.updateTime,
                transformResults: zip(write.transforms, transformResults).map { transform, value in
                    switch transform.operation {
                    case .arrayUnion, .arrayRemove: .null
                    default: value
                    }
                }))
    }

    /// Checks that are possible only after all writes are applied.
    func finish(_ writes: [DocumentWrite], by caller: LocalCaller, _ rules: LocalRules) throws(FirestoreFailure) {
        for write in writes {
            switch write.operation {
            case .verify, .delete: continue
            default:
                guard rules.allowOutcome(of: caller, at: write.path, in: documents) else { throw .permissionDenied }
            }
        }
    }

    private mutating func file(_ document: DocumentSnapshot) {
        documents.store(document)
        if !order.contains(document.path) { order.append(document.path) }
    }

    /// Refuses writes to one document whose conditions could only be about what the same commit did before.
    private mutating func checkOrder(of write: DocumentWrite) throws(FirestoreFailure) {
        let before = latest.updateValue(write.operation, forKey: write.path)
        switch (before, write.operation, write.precondition) {
        case (.delete?, .delete, .exists(true)), (.delete?, .delete, .updateTime):
            throw .invalid("Cannot delete then delete an entity in the same request.")
        case (.delete?, .set, .exists(true)), (.delete?, .set, .updateTime), (.delete?, .patch, .exists(true)),
            (.delete?, .patch, .updateTime):
            throw .invalid("Cannot delete then update an entity in the same request.")
        case (.verify?, .verify, _):
            throw .invalid("The same document cannot be verified more than once in a single request.")
        case (_?, .verify, _):
            throw .invalid("The same document cannot be written and then verified in a single request.")
        case (.verify?, _, _):
            throw .invalid("The same document cannot be verified and then written in a single request.")
        default: break
        }
    }

    private func check(_ write: DocumentWrite, against document: DocumentSnapshot) throws(FirestoreFailure) {
        do throws(StorageError) { try write.check(against: document) } catch {
            let name = database.resourceName(of: write.path)
            switch error.code {
            case .notFound: throw FirestoreFailure(.notFound, "No document to update: \(name)")
            case .alreadyExists: throw FirestoreFailure(.alreadyExists, "Document already exists: \(name)")
            default:
                throw FirestoreFailure(
                    .failedPrecondition, "The stored version does not match the required base version: \(name)")
            }
        }
    }
}

extension FirestoreFailure {
    static let permissionDenied = FirestoreFailure(.permissionDenied, "Missing or insufficient permissions.")

    static func invalid(_ message: String) -> FirestoreFailure { FirestoreFailure(.invalidArgument, message) }

    /// Anything refused by the portable API's validation is an invalid argument here, too.
    static func checking<T>(_ body: () throws(StorageError) -> T) throws(FirestoreFailure) -> T {
        do throws(StorageError) { return try body() } catch { throw .invalid(error.message) }
    }

    static func reading<T>(_ body: () throws(FirestoreFormatError) -> T) throws(FirestoreFailure) -> T {
        do throws(FirestoreFormatError) { return try body() } catch { throw .invalid(error.description) }
    }
}

extension DocumentData {
    /// The data as stored by the vendor, with times in whole microseconds.
    fileprivate var withStoredTimes: DocumentData {
        guard entries.contains(where: { $0.value.holdsFineTimes }) else { return self }
        return DocumentData(unsorted: entries.map { Entry(name: $0.name, value: $0.value.withStoredTimes) })
    }
}

extension DocumentValue {
    fileprivate var holdsFineTimes: Bool {
        switch self {
        case .timestamp(let time): time.nanoseconds % 1000 != 0
        case .array(let elements): elements.contains(where: \.holdsFineTimes)
        case .map(let map): map.entries.contains { $0.value.holdsFineTimes }
        default: false
        }
    }

    fileprivate static let longestText = 1_048_487

    fileprivate var holdsLongText: Bool {
        switch self {
        case .string(let text): text.utf8.count > DocumentValue.longestText
        case .bytes(let bytes): bytes.count > DocumentValue.longestText
        case .array(let elements): elements.contains(where: \.holdsLongText)
        case .map(let map): map.entries.contains { $0.value.holdsLongText }
        default: false
        }
    }

    fileprivate var withStoredTimes: DocumentValue {
        switch self {
        case .timestamp(let time): .timestamp(Timestamp(microseconds: time.microseconds))
        case .array(let elements): .array(elements.map(\.withStoredTimes))
        case .map(let map): .map(map.withStoredTimes)
        default: self
        }
    }
}
