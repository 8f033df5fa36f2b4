import Switchyard

/// The cached document while local writes are applied on top.
struct LocalDocument {
    enum State {
        /// Nothing is known.
        case absent
        case found
        case missing
        case unknown
    }

    let path: StoragePath
    private(set) var state: State
    private(set) var data: DocumentData?
    private let createTime: Timestamp?
    private(set) var version: Timestamp
    private(set) var localState: SnapshotMetadata.LocalState

    init(_ path: StoragePath, _ cached: CachedDocument?) {
        self.path = path
        data = cached?.data
        createTime = cached?.createTime
        version = cached?.version ?? .never
        localState = cached?.snapshot.metadata.localState ?? .none
        switch cached?.state {
        case nil: state = .absent
        case .found: state = .found
        case .missing: state = .missing
        case .unknown: state = .unknown
        }
    }

    /// The snapshot for views: only an existing document has data.
    var snapshot: DocumentSnapshot {
        DocumentSnapshot(
            path: path, data: state == .found ? data : nil, createTime: state == .found ? createTime : nil,
            updateTime: state == .found && version != .never ? version : nil,
            metadata: SnapshotMetadata(isFromCache: false, localState: localState))
    }

    /// Applies a pending write, if its precondition holds locally, and records the fields it touched.
    mutating func apply(_ write: DocumentWrite, at time: Timestamp, touching mask: inout FieldMask) {
        guard holds(write.precondition) else { return }
        switch write.operation {
        case .verify: return
        case .delete:
            state = .missing
            data = nil
            mask = .whole
        case .set:
            data = write.applied(to: nil, serverTime: time.asEstimate).data
            state = .found
            mask = .whole
        case .patch(_, let fields):
            data = write.applied(to: state == .found ? data : nil, serverTime: time.asEstimate).data
            state = .found
            mask.formUnion(fields)
            mask.formUnion(write.transforms.map(\.field))
        }
        localState = .pending
        version = .never
    }

    /// Applies the sum of all pending writes to the document.
    mutating func apply(_ overlay: Overlay) {
        var mask = FieldMask.none
        apply(overlay.write, at: .never, touching: &mask)
    }

    /// A document that is still unknown after a write counts as missing.
    mutating func settle() {
        if state == .absent { state = .missing }
    }

    private func holds(_ precondition: DocumentWrite.Precondition) -> Bool {
        switch precondition {
        case .none: true
        case .exists(let exists): exists == (state == .found)
        case .updateTime(let time): state == .found && version == time
        }
    }

    /// A single write with the effect of all applied writes; `nil` if none had any.
    func overlay(of mask: FieldMask) -> DocumentWrite? {
        guard localState == .pending else { return nil }
        guard case .fields(let fields) = mask else {
            return DocumentWrite(path: path, operation: state == .found ? .set(data ?? DocumentData()) : .delete)
        }
        guard !fields.isEmpty else { return nil }
        var patch = DocumentData()
        var names = Set<FieldPath>()
        for field in fields.sorted(by: { $0.ordering(to: $1) == .before }) {
            var field = field
            // Removing a nested field can leave its parent as an empty map, which only a mask of the parent expresses.
            if data?[field] == nil, field.components.count > 1 {
                field = FieldPath(unchecked: Array(field.components.dropLast()))
            }
            guard names.insert(field).inserted else { continue }
            if let value = data?[field] { patch[field] = value }
        }
        let sorted = names.sorted { $0.ordering(to: $1) == .before }
        return DocumentWrite(path: path, operation: .patch(patch, mask: sorted))
    }
}

/// The fields of a document that pending writes have touched.
enum FieldMask {
    case fields(Set<FieldPath>)
    /// The document as a whole was set or deleted.
    case whole

    static let none = FieldMask.fields([])

    mutating func formUnion(_ added: [FieldPath]) {
        if case .fields(let fields) = self { self = .fields(fields.union(added)) }
    }
}

extension Overlay {
    var mask: FieldMask {
        if case .patch(_, let mask) = write.operation { .fields(Set(mask)) } else { .whole }
    }

    var isPatch: Bool { if case .patch = write.operation { true } else { false } }
}

/// A document under the pending writes of a batch, or of several.
struct WrittenDocument {
    var document: LocalDocument
    /// The fields that the writes have touched.
    var mask = FieldMask.none
    /// The newest batch among them.
    fileprivate(set) var newest = 0

    init(_ document: LocalDocument, under overlay: Overlay? = nil) {
        self.document = document
        guard let overlay else { return }
        self.document.apply(overlay)
        mask = overlay.mask
    }

    fileprivate mutating func apply(_ write: DocumentWrite, of batch: QueuedBatch) {
        document.apply(write, at: batch.queuedAt, touching: &mask)
        newest = batch.number
    }

    /// The sum of the writes; `nil` if none had any effect.
    var overlay: Overlay? { document.overlay(of: mask).map { Overlay(write: $0, batchNumber: newest) } }
}

extension QueuedBatch {
    /// The fields whose values after this batch do not depend on earlier ones, if the document existed.
    func fieldsDecided(at path: StoragePath) -> Set<FieldPath> {
        var fields = Set<FieldPath>()
        for write in baseWrites + writes where write.path == path {
            guard case .patch(_, let mask) = write.operation else { continue }
            switch write.precondition {
            case .none, .exists(true): break
            case .exists(false), .updateTime: continue
            }
            fields.formUnion(mask)
            for case let transform in write.transforms where transform.operation == .serverTime {
                fields.insert(transform.field)
            }
        }
        return fields
    }

    /// Applies this batch to those of its documents that are in `documents`, as far as the effect is known locally.
    func apply(to documents: inout [StoragePath: WrittenDocument]) {
        for write in baseWrites { documents[write.path]?.apply(write, of: self) }
        for write in writes { documents[write.path]?.apply(write, of: self) }
    }
}
