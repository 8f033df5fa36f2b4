import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import Synchronization

/// What is known about the project's tables, from the service's description, if it provides one, and from its answers.
final class RowCatalog: Sendable {
    private struct State {
        var facts: [String: RowFacts] = [:]
        var descriptions: [DescriptionKey: Task<RowDescription, any Error>] = [:]
        var shapes: [ShapeKey: RowShape] = [:]
        var largestPage = 0
        /// How many rows the last unlimited query of each table found.
        var lengths: [String: Int] = [:]
        var uncounted: Set<String> = []
        var sinceFunctionsWereMissing: Stopwatch?
        var mayAggregate = true
    }

    private struct DescriptionKey: Hashable {
        let schema: String
        /// A description contains only what its reader may use.
        let isSignedIn: Bool
    }

    private struct ShapeKey: Hashable {
        let table: MappedTable
        let isSignedIn: Bool
    }

    private let state = Mutex(State())
    private let clock: any Clock<Duration>

    init(_ clock: any Clock<Duration>) { self.clock = clock }

    /// The largest number of rows in an answer so far; the service's own limit is at least that.
    var largestPage: Int { state.withLock(\.largestPage) }
    func note(page count: Int) { state.withLock { $0.largestPage = max($0.largestPage, count) } }

    /// Whether an unlimited query of the table should ask for the number of its rows, too.
    ///
    /// Without it, an answer that is as long as the longest so far needs another request, which finds that it was whole. An answer
    /// that is expected to be shorter needs neither.
    func shouldCount(_ table: MappedTable) -> Bool {
        state.withLock { state in
            !state.uncounted.contains(table.name) && (state.lengths[table.name] ?? .max) >= state.largestPage
        }
    }
    func note(length: Int, of table: MappedTable) { state.withLock { $0.lengths[table.name] = length } }
    /// Counting the table's rows took longer than the database allows.
    func noteUncounted(_ table: MappedTable) { state.withLock { _ = $0.uncounted.insert(table.name) } }

    /// Whether the functions were missing within the last minute.
    var lacksFunctions: Bool {
        state.withLock { $0.sinceFunctionsWereMissing.map { $0.elapsed < .seconds(60) } ?? false }
    }
    func noteMissingFunctions() { state.withLock { $0.sinceFunctionsWereMissing = Stopwatch(clock) } }

    /// `false` once the service has refused sums and averages.
    var mayAggregate: Bool { state.withLock(\.mayAggregate) }
    func noteRefusedAggregates() { state.withLock { $0.mayAggregate = false } }

    /// The shape of a table's rows.
    ///
    /// - Throws: `.failedPrecondition` if the mapping names a column that the table does not have.
    func shape(of table: MappedTable, _ service: PostgRESTService) async throws(StorageError) -> RowShape {
        let isSignedIn = try await service.reader().userID != nil
        let shapeKey = ShapeKey(table: table, isSignedIn: isSignedIn)
        if let shape = state.withLock({ $0.shapes[shapeKey] }) { return shape }
        let key = DescriptionKey(schema: table.mapping.schema, isSignedIn: isSignedIn)
        let described = try await description(key, service).tables[table.mapping.table]
        do throws(StorageError) { try described?.check(table) } catch {
            // The mapping or the table may have been corrected since.
            state.withLock { $0.descriptions[key] = nil }
            throw error
        }
        return state.withLock { state in
            var facts = state.facts[table.name] ?? RowFacts()
            facts.keys = facts.keys ?? described?.keys(of: table)
            let shape = RowShape(table, types: described?.types ?? [:], facts: facts)
            state.shapes[shapeKey] = shape
            return shape
        }
    }

    /// The shape, if it is already known.
    func knownShape(of table: MappedTable) -> RowShape? {
        state.withLock { state in
            state.shapes[ShapeKey(table: table, isSignedIn: true)]
                ?? state.shapes[ShapeKey(table: table, isSignedIn: false)]
        }
    }

    private func description(
        _ key: DescriptionKey, _ service: PostgRESTService
    ) async throws(StorageError) -> RowDescription {
        let task = state.withLock { state in
            if let task = state.descriptions[key] { return task }
            let task = Task<RowDescription, any Error> { try await RowDescription.fetch(key.schema, service) }
            state.descriptions[key] = task
            return task
        }
        do { return try await task.value } catch {
            state.withLock { $0.descriptions[key] = nil }
            throw StorageError.wrapping(error)
        }
    }

    /// Updates what is known about a table after a refusal.
    ///
    /// - Returns: Whether another attempt, with the shape that the table has now, may succeed.
    func learn(from error: StorageError, of table: MappedTable) -> Bool {
        guard let failure = error.underlying as? PostgRESTFailure, let code = failure.code else { return false }
        return state.withLock { state in
            var facts = state.facts[table.name] ?? RowFacts()
            switch code {
            case "42703" where failure.message.includes(RowShape.version): facts.hasVersions = false
            case "42P10": facts.keys = facts.keys == nil ? [table.mapping.idColumn] : facts.keys
            case "428C9":
                guard let column = table.columns.first(where: { failure.message.includes("\"\($0)\"") }) else {
                    return false
                }
                facts.computed.insert(column)
            default: return false
            }
            guard facts != state.facts[table.name] else { return false }
            state.facts[table.name] = facts
            state.shapes = state.shapes.filter { $0.key.table != table }
            return true
        }
    }
}

extension MappedTable {
    fileprivate var name: String { "\(mapping.schema).\(mapping.table)" }
}
