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
    init(postgres text: IndexedJSON, isReversed: Bool = false) throws(StorageError) {
        guard let list = text.value(of: "documents", in: 0), text.isArray(at: list),
            let readTime = text.value(of: "readTime", in: 0).flatMap({ Timestamp(postgres: text, at: $0) })
        else { throw .unreadableAnswer }
        let elements = text.elements(of: list)
        var documents: [DocumentSnapshot] = []
        documents.reserveCapacity(elements.count)
        var layout: DocumentLayout?
        for element in elements {
            guard let data = text.value(of: "data", in: element), text.isObject(at: data),
                let name = text.value(of: "path", in: element).flatMap({ text.text(at: $0) }),
                let created = text.value(of: "created", in: element).flatMap({ Timestamp(postgres: text, at: $0) }),
                let updated = text.value(of: "updated", in: element).flatMap({ Timestamp(postgres: text, at: $0) })
            else { throw .unreadableAnswer }
            guard let path = try? StoragePath(validating: name) else { continue }
            var fields = layout?.data(at: data)
            if fields == nil {
                layout = DocumentLayout(text, at: data)
                fields = layout?.data(at: data)
            }
            documents.append(
                .existing(path, fields ?? DocumentData(), createTime: created, updateTime: updated))
        }
        if isReversed { documents.reverse() }
        var deletionTimes: [StoragePath: Timestamp] = [:]
        for key in text.value(of: "gone", in: 0).map({ text.keys(of: $0) }) ?? [] {
            guard let path = try? StoragePath(validating: text.string(at: key)) else { continue }
            deletionTimes[path] = Timestamp(postgres: text, at: key + 1)
        }
        self.init(
            documents: documents, readTime: readTime, deletionTimes: deletionTimes, rowCount: elements.count)
    }
}

extension Timestamp {
    init?(postgres json: JSON?) {
        guard let time = json?.string.flatMap({ RFC3339.parse($0) }) else { return nil }
        self.init(clampingSeconds: time.seconds, nanoseconds: time.nanoseconds)
    }

    fileprivate init?(postgres text: IndexedJSON, at place: Int) {
        guard let time = text.moment(at: place) else { return nil }
        self.init(clampingSeconds: time.seconds, nanoseconds: time.nanoseconds)
    }
}

extension StorageError {
    /// A proxy has answered, so the call may still have been carried out.
    static var unreadableAnswer: StorageError {
        StorageError(.unavailable, "The database's response could not be read.", isRetryable: true)
    }
}
