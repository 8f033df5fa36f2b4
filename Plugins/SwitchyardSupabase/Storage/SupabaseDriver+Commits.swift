import Switchyard
import SwitchyardBytes
import SwitchyardSync

extension SupabaseDriver {
    /// The first version of the functions that carries out several batches in one call, and compares the versions of rows.
    private static let firstVersionWithMany = 11
    /// The approximate size from which batches no longer share a call.
    static let sharedBytes = 1 << 20

    func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
        try await commit(batch.writes, as: batch.id, for: batch)
    }

    /// Each batch has a name and an outcome of its own; the function stops before one that it cannot carry out.
    func commit(_ batches: [OutgoingBatch]) async throws(StorageError) -> [CommitResult] {
        for write in batches[0].writes where try place(of: tables.canonical(write)) != nil {
            return try await commitRows(batches)
        }
        let isSupported = try await service.installedVersion(isForQueue: true) >= Self.firstVersionWithMany
        var parts: [JSON] = []
        var size = 0
        for batch in isSupported ? batches : [] {
            // A row has a request of its own, and a write without a place is refused as part of its own batch.
            guard let arguments = try? arguments(for: batch.writes, as: batch.id), !arguments.hasRows else { break }
            let part = JSON.object(arguments.object)
            size += part.approximateSize
            guard parts.isEmpty || size <= Self.sharedBytes else { break }
            parts.append(part)
        }
        guard parts.count > 1 else { return [try await commit(batches[0])] }
        let answer = try await service.call(
            "switchyard_commit_many", ["batches": .array(parts)], isIdempotent: true, for: batches[0])
        hints.give()
        guard let answers = answer.array, answers.count <= parts.count else { throw .unreadableAnswer }
        var results: [CommitResult] = []
        for (batch, answer) in zip(batches, answers) {
            results.append(try CommitResult(postgres: answer, of: batch.writes.count))
        }
        return results
    }

    /// Batches that write to rows of one table in one way share a request.
    private func commitRows(_ batches: [OutgoingBatch]) async throws(StorageError) -> [CommitResult] {
        var some: [OutgoingBatch] = []
        var places: [[TableMappings.Place]] = []
        for batch in batches {
            let batch = tables.canonical(batch)
            guard (try? tables.checkKeys(batch.writes)) != nil,
                let found = (try? self.places(of: batch.writes)) ?? nil
            else { break }
            some.append(batch)
            places.append(found)
        }
        do throws(StorageError) {
            if let results = try await rows.commit(some, in: places), !results.isEmpty {
                hints.give(Set(some.prefix(results.count).flatMap { $0.writes.map(\.path) }))
                return results
            }
        } catch {
            // To change a row takes other rights than to add one, so that only some may be allowed.
            guard error.isAboutRights else { throw error }
        }
        return [try await commit(batches[0])]
    }

    /// Has a name, so it is safe to send again.
    func commit(
        _ writes: [DocumentWrite], as name: String, for batch: OutgoingBatch? = nil
    ) async throws(StorageError) -> CommitResult {
        try tables.checkKeys(writes)
        if let rows = try await plainRows(of: writes) { return try await commit(rows, as: name, for: batch) }
        guard tables.usesDocuments else { throw .separateRows }
        let (arguments, hasRows) = try arguments(for: writes, as: name)
        let answer: JSON
        do throws(StorageError) {
            if hasRows {
                let version = try await service.installedVersion(isForQueue: batch != nil)
                guard version >= Self.firstVersionWithMany else {
                    throw StorageError(.tooOld(version: version, needed: Self.firstVersionWithMany))
                }
            }
            answer = try await service.call(
                hasRows ? "switchyard_commit_rows" : "switchyard_commit", arguments, isIdempotent: true, for: batch)
        } catch {
            guard hasRows, error.underlying as? SupabaseSchemaProblem == .missing else { throw error }
            // Nothing is installed, and tables need nothing.
            throw .separateRows
        }
        var result = try CommitResult(postgres: answer, of: writes.count)
        // Rows have the versions that this client gives them.
        for (index, write) in writes.enumerated() where try place(of: tables.canonical(write)) != nil {
            result.updateTimes[index] = rows.written(tables.canonical(write.path))
        }
        hints.give(Set(writes.map { tables.canonical($0.path) }))
        return result
    }

    private func commit(
        _ plain: PlainRows, as name: String, for batch: OutgoingBatch?
    ) async throws(StorageError) -> CommitResult {
        let (writes, places) = plain
        let batch = batch.map { tables.canonical($0) }
        let result: CommitResult?
        if writes.count == 1 {
            result = try await rows.commit(writes[0], in: places[0], for: batch)
        } else {
            let batch = batch ?? OutgoingBatch(id: name, writes: writes, mayHaveBeenSent: false)
            result = try await rows.commit([batch], in: [places])?.first
        }
        guard let result else { throw .separateRows }
        hints.give(Set(writes.map(\.path)))
        return result
    }

    /// Writes in the database's spelling, and their tables.
    typealias PlainRows = (writes: [DocumentWrite], places: [TableMappings.Place])

    /// Whether the writes are a request to a table, which no ledger knows.
    func isPlain(_ writes: [DocumentWrite]) async throws(StorageError) -> Bool {
        try await plainRows(of: writes) != nil
    }

    /// The rows of writes that are a request to a table. What must not take effect twice, or only in part, goes through the
    /// functions where they are installed.
    private func plainRows(of writes: [DocumentWrite]) async throws(StorageError) -> PlainRows? {
        let writes = writes.map { tables.canonical($0) }
        guard !writes.isEmpty, let places = try places(of: writes) else { return nil }
        switch try await rows.manner(of: writes, in: places) {
        case .plain: return (writes, places)
        case .functions: return nil
        case .cautious: break
        }
        if rows.lacksFunctions || !tables.usesDocuments { return (writes, places) }
        do throws(StorageError) {
            let version = try await service.installedVersion(isForQueue: true)
            return version < Self.firstVersionWithMany ? (writes, places) : nil
        } catch {
            guard error.underlying as? SupabaseSchemaProblem == .missing else { throw error }
            rows.noteMissingFunctions()
            return (writes, places)
        }
    }

    /// The tables of writes; `nil` if one of them is in none.
    private func places(of writes: [DocumentWrite]) throws(StorageError) -> [TableMappings.Place]? {
        var places: [TableMappings.Place] = []
        for write in writes {
            guard let place = try place(of: write) else { return nil }
            places.append(place)
        }
        return places
    }

    /// - Throws: A refusal: later attempts would not find a place for it either.
    func place(of write: DocumentWrite) throws(StorageError) -> TableMappings.Place? {
        do throws(StorageError) { return try tables.place(of: write.path.collection) } catch { throw error.asRefusal() }
    }

    private func arguments(
        for writes: [DocumentWrite], as name: String
    ) throws(StorageError) -> (object: JSONObject, hasRows: Bool) {
        try tables.checkKeys(writes)
        var hasRows = false
        var entries: [JSON] = []
        for write in writes.map({ tables.canonical($0) }) {
            var entry = write.postgres
            if let place = try place(of: write) {
                hasRows = true
                if case .updateTime(let time) = write.precondition {
                    guard let version = rows.version(of: write.path, at: time) else { throw .changedRow(write.path) }
                    entry["updateTime"] = nil
                    entry["version"] = .string(version)
                }
                for member in place.json { entry[member.key] = member.value }
                entry["id"] = .string(write.path.id)
            }
            entries.append(.object(entry))
        }
        return (["batch": .string(name), "writes": .array(entries)], hasRows)
    }
}

extension CommitResult {
    /// - Parameter count: The number of writes.
    fileprivate init(postgres answer: JSON, of count: Int) throws(StorageError) {
        try self.init(postgres: answer)
        guard updateTimes.count == count else { throw .unreadableAnswer }
    }
}

extension JSON {
    /// The size of the text, roughly.
    var approximateSize: Int {
        switch self {
        case .null, .bool: 5
        case .integer, .number: 10
        case .string(let text): text.utf8.count + 3
        case .array(let elements): elements.reduce(2) { $0 + $1.approximateSize }
        case .object(let object): object.members.reduce(2) { $0 + $1.key.utf8.count + 4 + $1.value.approximateSize }
        }
    }
}
