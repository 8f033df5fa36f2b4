import Switchyard
import SwitchyardBytes

/// Replaces the IDs of accounts that have others on the target: in the names of documents, in references, in the fields that
/// the caller names, and in the paths of files.
struct IDRewriter: Sendable {
    private let ids: [String: String]
    private let fields: [FieldPath]

    init(_ ids: [String: String], fields: [FieldPath]) {
        self.ids = ids
        self.fields = fields
    }

    func rewritten(_ document: DocumentSnapshot) -> DocumentSnapshot {
        guard !ids.isEmpty, var data = document.data else { return document }
        data = references(in: data)
        for field in fields {
            if let value = data[field] { data[field] = owner(value) }
        }
        return .existing(
            rewritten(document.path), data, createTime: document.createTime, updateTime: document.updateTime)
    }

    func rewritten(_ path: StoragePath) -> StoragePath {
        guard !ids.isEmpty else { return path }
        // Every second segment names a document.
        return StoragePath(
            segments: path.segments.enumerated().map { $0 % 2 == 1 ? ids[$1] ?? $1 : $1 })
    }

    /// Also a name that is an ID with an extension, such as `ID.png`.
    func rewritten(_ path: FilePath) -> FilePath {
        guard !ids.isEmpty else { return path }
        let segments = path.rawValue.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            let stem = segment.prefix { $0 != "." }
            return (ids[String(stem)] ?? String(stem)) + segment.dropFirst(stem.count)
        }
        return FilePath(unchecked: segments.joined(separator: "/"))
    }

    func rewritten(_ id: AuthUser.ID) -> AuthUser.ID { ids[id] ?? id }

    private func owner(_ value: DocumentValue) -> DocumentValue {
        switch value {
        case .string(let text): .string(ids[text] ?? text)
        case .array(let elements): .array(elements.map(owner))
        default: value
        }
    }

    private func references(in data: DocumentData) -> DocumentData {
        DocumentData(inOrder: data.entries.map { .init(name: $0.name, value: references(in: $0.value)) })
    }

    private func references(in value: DocumentValue) -> DocumentValue {
        switch value {
        // One with an origin points into another database.
        case .reference(let reference) where reference.origin == nil:
            .reference(DocumentReference(rewritten(reference.path)))
        case .array(let elements): .array(elements.map(references))
        case .map(let data): .map(references(in: data))
        default: value
        }
    }
}
