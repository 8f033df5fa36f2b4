import Foundation
import Switchyard
import SwitchyardBytes

/// Carries what is in one side's log to the other side.
///
/// From the side that serves, *states* are carried: each document that an entry names is copied as it is now. This cannot count
/// twice, needs no order, and ends with what the serving side has. A write that reaches a side which no longer serves, such as
/// that of a device without a connection, is carried as what it is, an *operation*, and exactly once.
struct Carrier: Sendable {
    let clients: Sides<any StorageClient>
    let files: Sides<BackendFiles?>
    let limits: Sides<ValueLimits>
    let log: MoveLog
    /// Documents in one transaction.
    private static let chunk = 40
    private static let parallel = 6
    /// At most so many entries are carried at a time.
    static let page = 400

    var layout: MoveLayout { log.layout }

    /// The oldest entries of a log, in the order in which they were committed.
    func entries(_ side: MoveSide) async throws(StorageError) -> [MoveLogEntry] {
        let client = clients[side]
        let found = try await client.documents(MoveLogEntry.query(layout, limit: Self.page), from: .server)
        var entries: [MoveLogEntry] = []
        for document in found.documents { entries.append(try await MoveLogEntry.read(document, client)) }
        return entries
    }

    /// Removes entries that have been carried.
    func forget(_ entries: [MoveLogEntry], _ side: MoveSide) async throws(StorageError) {
        try await delete(entries.flatMap { [$0.path] + $0.parts }, side)
    }

    private func delete(_ paths: [StoragePath], _ side: MoveSide) async throws(StorageError) {
        let capabilities = clients[side].capabilities
        let most = min(capabilities.maximumBatchSize ?? .max, capabilities.maximumDeletions ?? .max, 200)
        for start in stride(from: 0, to: paths.count, by: most) {
            let writes = paths[start...].prefix(most).map(DocumentWrite.delete)
            try await clients[side].commit(WriteBatch(writes)).acknowledged()
        }
    }

    // MARK: States

    /// What became of documents.
    struct Outcome: Sendable {
        /// What the other side rejects for good.
        var rejections: [Rejection] = []
        /// What waits, for the other side's log has a write to it: that one has to be carried first.
        var postponed: Set<StoragePath> = []
        /// The version of each document that was read for the copy; `nil` for a missing one.
        var versions: [StoragePath: Timestamp?] = [:]

        mutating func add(_ other: Outcome) {
            rejections += other.rejections
            postponed.formUnion(other.postponed)
            versions.merge(other.versions) { _, new in new }
        }
    }

    /// Makes the documents of entries on the other side what they are on `side`.
    func copyStates(of paths: [StoragePath], from side: MoveSide) async throws -> Outcome {
        var known: Set<StoragePath> = []
        let paths = paths.filter { known.insert($0).inserted }
        let chunks = stride(from: 0, to: paths.count, by: Self.chunk).map { Array(paths[$0...].prefix(Self.chunk)) }
        return try await withThrowingTaskGroup(of: Outcome.self) { group in
            var outcome = Outcome()
            for (index, chunk) in chunks.enumerated() {
                if index >= Self.parallel, let next = try await group.next() { outcome.add(next) }
                group.addTask { try await copyChunk(chunk, from: side) }
            }
            for try await next in group { outcome.add(next) }
            return outcome
        }
    }

    private func copyChunk(_ paths: [StoragePath], from side: MoveSide) async throws(MoveError) -> Outcome {
        do throws(MoveError) {
            return try await patiently("Carrying writes to the \(side.other) side") {
                try await copy(paths, from: side)
            }
        } catch {
            guard error.concernsWrite else { throw error }
            guard paths.count > 1 else {
                return Outcome(rejections: [Rejection(paths[0].description, error.message)])
            }
            var outcome = Outcome()
            for path in paths { outcome.add(try await copyChunk([path], from: side)) }
            return outcome
        }
    }

    /// The target is read first and must not have changed at the commit: so of several that carry the same document, none puts
    /// an older state over a newer one. Whatever a device still writes to the target, in the same batch as an entry of its log, is
    /// seen in that log, or changes the document before the commit.
    private func copy(_ paths: [StoragePath], from side: MoveSide) async throws(StorageError) -> Outcome {
        let (source, limits) = (clients[side], limits[side.other])
        return try await clients[side.other].transaction(TransactionOptions(maximumAttempts: 8)) { transaction in
            let targets = try await transaction.documents(paths)
            let entries = try await entries(side.other)
            // Behind a full page there may be more, about any document.
            guard entries.count < Self.page else { return Outcome(postponed: Set(paths)) }
            let late = Set(entries.flatMap(\.documents))
            let documents = try await source.documents(paths, from: .server)
            for (document, target) in zip(documents, targets) where !late.contains(document.path) {
                switch document.data {
                case nil: if target.exists { try await transaction.delete(document.path) }
                case let data?:
                    guard target.data != limits.stored(data) else { break }
                    try await transaction.add(.set(document.path, data: data))
                }
            }
            var outcome = Outcome(postponed: late.intersection(paths))
            for document in documents where !late.contains(document.path) {
                outcome.versions[document.path] = .some(document.updateTime)
            }
            return outcome
        }
    }

    // MARK: Operations

    /// Carries out an entry of the side that no longer serves.
    ///
    /// - Returns: Why it could not be carried out, if the serving side does not allow it.
    func replay(_ entry: MoveLogEntry, from side: MoveSide) async throws(MoveError) -> String? {
        switch entry.content {
        case .barrier: return nil
        case .unreadable(let reason): return try await keep(entry, [], reason, onto: side.other)
        case .file(let path, _):
            try await copyFile(path, from: side, onlyIfNewer: true)
            return nil
        case .writes(let writes):
            let writes = writes.filter { if case .verify = $0.operation { false } else { true } }
            return try await patiently("Carrying a late write to the \(side.other) side") {
                try await replay(entry, writes, onto: side.other)
            }
        }
    }

    private func replay(
        _ entry: MoveLogEntry, _ writes: [DocumentWrite], onto side: MoveSide
    ) async throws -> String? {
        let client = clients[side]
        let marker = layout.applied.document(entry.path.id)
        let note = try DocumentWrite.create(marker, ["at": .serverTime])
        do throws(StorageError) {
            // The side that it comes from has it already, and must never get it again as an operation.
            let batch = WriteBatch([note] + writes + (try log.entry(for: writes, isState: true)))
            try await client.commit(batch).acknowledged()
            return nil
        } catch {
            guard error.concernsWrite else { throw error }
            // An earlier attempt may have done it.
            if try await client.document(marker, from: .server).exists { return nil }
            return try await keep(entry, writes, error.message, onto: side)
        }
    }

    /// Removes the notes of operations that were carried out long ago: no request of an ended process can still arrive.
    func forgetOldMarkers(_ side: MoveSide) async throws(StorageError) {
        let horizon = Timestamp(Date().addingTimeInterval(-600))
        let old = Query(in: layout.applied).where("at", .lessThan, horizon).limited(to: 200)
        let found = try await clients[side].documents(old, from: .server)
        try await delete(found.documents.map(\.path), side)
    }

    /// Keeps what could not be carried out, for someone to decide.
    private func keep(
        _ entry: MoveLogEntry, _ writes: [DocumentWrite], _ reason: String, onto side: MoveSide
    ) async throws(MoveError) -> String {
        let client = clients[side]
        try await patiently("Keeping a late write that cannot be carried out") {
            let kept = try DocumentWrite.set(
                layout.conflicts.document(entry.path.id),
                [
                    "at": .serverTime, "writtenAt": .of(entry.at), "reason": .of(reason),
                    "writes": .value(.array(writes.map { .string($0.description) })),
                    "contents": .of(try MoveLog.bytes(of: writes)),
                ])
            try await client.commit(WriteBatch([kept])).acknowledged()
        }
        return reason
    }

    // MARK: Files

    /// Makes a file on the other side what it is on `side`.
    ///
    /// - Parameter onlyIfNewer: Whether a file that the other side has changed later stays.
    func copyFile(_ path: FilePath, from side: MoveSide, onlyIfNewer: Bool = false) async throws(MoveError) {
        guard let source = files[side], let target = files[side.other] else { return }
        try await patiently("Carrying the file “\(path)” to the \(side.other) side") {
            let (found, other) = (try await source.metadata(of: path), try await target.metadata(of: path))
            guard let file = found else {
                if other != nil, !onlyIfNewer { try await target.delete(path) }
                return
            }
            if let other {
                if file.isSame(as: other) { return }
                if onlyIfNewer, let left = file.updatedAt, let right = other.updatedAt, left <= right { return }
            }
            _ = try await target.write(file) { source.contents(of: path) }
        }
    }
}

extension FileMetadata {
    fileprivate func isSame(as other: FileMetadata) -> Bool {
        guard size == other.size, contentType == other.contentType, custom == other.custom else { return false }
        guard let md5, let otherMD5 = other.md5 else { return false }
        return md5 == otherMD5
    }
}
