import Switchyard
import SwitchyardBytes
import SwitchyardSync

extension SupabaseDriver {
    /// The first version of the functions that carries out several batches in one call, and compares the versions of rows.
    private static let firstVersionWithMany = 11
    /// The approximate size from which batches no longer share a call.
    private static let sharedBytes = 1 << 20

    func commit(_ batch: OutgoingBatch) async throws(StorageError) -> CommitResult {
        try await commit(batch.writes, as: batch.id, for: batch)
    }

    /// Each batch has a name and an outcome of its own; the function stops before one that it cannot carry out.
    func commit(_ batches: [OutgoingBatch]) async throws(StorageError) -> [CommitResult] {
        for write in batches[0].writes where try place(of: tables.canonical(write)) != nil {
            return [try await commit(batches[0])]
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

    /// Has a name, so it is safe to send again.
    func commit(
        _ writes: [DocumentWrite], as name: String, for batch: OutgoingBatch? = nil
    ) async throws(StorageError) -> CommitResult {
        if try await isPlain(writes), let place = try place(of: tables.canonical(writes[0])) {
            let result = try await rows.commit(tables.canonical(writes[0]), in: place, for: batch)
            hints.give([tables.canonical(writes[0].path)])
            return result
        }
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
            // Nobody has installed anything, and nobody has to for tables.
            throw .unsupported(
                "several rows in one batch, nor rows together with documents, without functions in the database",
                by: .supabase,
                instead:
                    "Write the rows one by one, or install the functions with “switchyard supabase install --documents”."
            ).asRefusal()
        }
        var result = try CommitResult(postgres: answer, of: writes.count)
        // Rows have the versions that this client gives them.
        for (index, write) in writes.enumerated() where try place(of: tables.canonical(write)) != nil {
            result.updateTimes[index] = rows.written(tables.canonical(write.path))
        }
        hints.give(Set(writes.map { tables.canonical($0.path) }))
        return result
    }

    /// Whether the writes are a request to a table, which no ledger knows. What must not take effect twice goes through the
    /// functions where they are installed.
    func isPlain(_ writes: [DocumentWrite]) async throws(StorageError) -> Bool {
        guard writes.count == 1, let place = try place(of: tables.canonical(writes[0])) else { return false }
        if rows.lacksFunctions { return true }
        guard try await rows.dependsOnRow(tables.canonical(writes[0]), in: place) else { return true }
        do throws(StorageError) {
            return try await service.installedVersion(isForQueue: true) < Self.firstVersionWithMany
        } catch {
            guard error.underlying as? SupabaseSchemaProblem == .missing else { throw error }
            rows.noteMissingFunctions()
            return true
        }
    }

    /// - Throws: A refusal: later attempts would not find a place for it either.
    func place(of write: DocumentWrite) throws(StorageError) -> TableMappings.Place? {
        do throws(StorageError) { return try tables.place(of: write.path.collection) } catch { throw error.asRefusal() }
    }

    private func arguments(
        for writes: [DocumentWrite], as name: String
    ) throws(StorageError) -> (object: JSONObject, hasRows: Bool) {
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
    fileprivate var approximateSize: Int {
        switch self {
        case .null, .bool: 5
        case .integer, .number: 10
        case .string(let text): text.utf8.count + 3
        case .array(let elements): elements.reduce(2) { $0 + $1.approximateSize }
        case .object(let object): object.members.reduce(2) { $0 + $1.key.utf8.count + 4 + $1.value.approximateSize }
        }
    }
}
