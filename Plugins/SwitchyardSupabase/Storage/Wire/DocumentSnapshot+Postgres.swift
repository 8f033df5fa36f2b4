import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// The answers of the reading functions.
extension DocumentSnapshot {
    /// - Returns: `nil` for a row that was added another way, with a name that no document can have.
    init?(postgres json: JSON) throws(StorageError) {
        guard let text = json["path"]?.string, let data = json["data"]?.object,
            let created = Timestamp(postgres: json["created"]), let updated = Timestamp(postgres: json["updated"])
        else { throw .unreadableAnswer }
        guard let path = try? StoragePath(validating: text) else { return nil }
        self = .existing(path, DocumentData(postgres: data), createTime: created, updateTime: updated)
    }
}

extension FetchedDocuments {
    /// - Parameter isReversed: Whether the answer's order is the reverse of the requested one.
    init(postgres json: JSON, isReversed: Bool = false) throws(StorageError) {
        guard let list = json["documents"]?.array, let readTime = Timestamp(postgres: json["readTime"]) else {
            throw .unreadableAnswer
        }
        var documents: [DocumentSnapshot] = []
        documents.reserveCapacity(list.count)
        for element in list { if let document = try DocumentSnapshot(postgres: element) { documents.append(document) } }
        if isReversed { documents.reverse() }
        var deletionTimes: [StoragePath: Timestamp] = [:]
        for gone in json["gone"]?.object ?? [:] {
            guard let path = try? StoragePath(validating: gone.key) else { continue }
            deletionTimes[path] = Timestamp(postgres: gone.value)
        }
        self.init(
            documents: documents, readTime: readTime, deletionTimes: deletionTimes, rowCount: list.count)
    }
}

extension Timestamp {
    init?(postgres json: JSON?) {
        guard let time = json?.string.flatMap({ RFC3339.parse($0) }) else { return nil }
        self.init(clampingSeconds: time.seconds, nanoseconds: time.nanoseconds)
    }
}

extension StorageError {
    /// A proxy has answered, so the call may still have been carried out.
    static var unreadableAnswer: StorageError {
        StorageError(.unavailable, "The database's response could not be read.", isRetryable: true)
    }
}
