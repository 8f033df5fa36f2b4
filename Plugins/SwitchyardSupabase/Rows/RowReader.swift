import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardSync
import SwitchyardWire

/// Reads rows over the data service.
struct RowReader: Sendable {
    let service: PostgRESTService
    let catalog: RowCatalog
    let sequence: RowSequence
    let versions: RowVersions
    let additions: RowAdditions
    /// The only user whose rights an answer may reflect; `nil` for whoever is signed in.
    var reader: CallOwner?

    /// The maximum number of keys in a request.
    private static let portion = 100
    /// The maximum number of rows over which a query is evaluated here, if the service cannot.
    private static let evaluatedHere = 10_000

    /// The rows of an answer, and the version of the read.
    struct Answer: Sendable {
        let shape: RowShape
        let version: Timestamp
        var rows: [AnswerRow] = []
        /// How many more there are that this client is adding.
        var hidden = 0

        mutating func add(_ rows: [AnswerRow], but additions: RowAdditions) {
            let (known, hidden) = additions.known(rows, shape)
            self.rows += known
            self.hidden += hidden
        }
    }

    /// Rows as documents.
    struct Found: Sendable {
        /// Each with the time at which this version of it was first seen.
        var documents: [DocumentSnapshot] = []
        /// The tags of the documents; `nil` if rows have no versions.
        var tags: DocumentTagList?
        /// Whether each is known to be at least as new as what was seen before.
        var areSettled: [Bool] = []
        /// The indices of their rows in the answer.
        var rows: [Int] = []
    }

    /// The rows of an answer whose keys are valid document names.
    func documents(of answer: Answer) -> Found {
        guard let first = answer.rows.first else { return Found() }
        var layout = RowLayout(answer.shape, at: first)
        var paths: [StoragePath] = []
        var versions: [String] = []
        var contents: [DocumentData] = []
        paths.reserveCapacity(answer.rows.count)
        versions.reserveCapacity(answer.rows.count)
        contents.reserveCapacity(answer.rows.count)
        var creations: [Timestamp] = []
        var found = Found()
        found.rows.reserveCapacity(answer.rows.count)
        for place in answer.rows.indices {
            if !layout.move(to: answer.rows[place]) { layout = RowLayout(answer.shape, at: answer.rows[place]) }
            guard let path = layout.path else { continue }
            paths.append(path)
            found.rows.append(place)
            contents.append(layout.data)
            if layout.hasCreated { creations.append(layout.created) }
            if let version = layout.version { versions.append(version) }
        }
        // Rows of views have no versions, so either all have one or none.
        let times =
            versions.count == paths.count ? self.versions.times(of: paths, in: versions, from: answer.version) : []
        found.documents.reserveCapacity(paths.count)
        found.areSettled.reserveCapacity(paths.count)
        for index in paths.indices {
            let time = index < times.count ? times[index] : nil
            found.documents.append(
                DocumentSnapshot(
                    path: paths[index], data: contents[index],
                    createTime: index < creations.count ? creations[index] : .never,
                    updateTime: time ?? answer.version))
            // A later read, whose answer was faster, saw it first; the next check reports it.
            found.areSettled.append(time.map { $0 <= answer.version } ?? false)
        }
        if !times.isEmpty { found.tags = answer.shape.tags(versions) }
        return found
    }

    // MARK: Queries

    /// The results of a query, in its order.
    func results(of query: Query, in place: TableMappings.Place) async throws(StorageError) -> FetchedDocuments {
        let answer = try await rows(of: query, in: place)
        let found = documents(of: answer)
        var fetched = FetchedDocuments(
            documents: found.documents.projected(for: query), readTime: answer.version,
            rowCount: answer.rows.count + answer.hidden,
            tags: found.tags)
        fetched.areDecided = true
        return fetched
    }

    /// The rows of a query, in its order.
    func rows(of query: Query, in place: TableMappings.Place) async throws(StorageError) -> Answer {
        try await knowing(place.table) { (shape) throws(StorageError) in
            let plan = TableQuery(query, in: place, shape)
            var answer = Answer(shape: shape, version: sequence.next())
            guard plan.conditions != nil else { return answer }
            if plan.isWhole {
                let rows = try await pages(
                    plan, shape.selection(of: query.projection.map { $0 + query.effectiveOrders.map(\.field) }),
                    limit: query.limit?.count, offset: query.offset)
                answer.add(rows, but: additions)
                if plan.isReversed { answer.rows.reverse() }
            } else {
                let rows = try await pages(plan, shape.selection(), limit: Self.evaluatedHere + 1, offset: 0)
                answer.add(try evaluated(rows, plan, at: answer.version), but: additions)
            }
            return answer
        }
    }

    /// Evaluates here what the service could not.
    private func evaluated(
        _ rows: [AnswerRow], _ plan: TableQuery, at version: Timestamp
    ) throws(StorageError) -> [AnswerRow] {
        guard rows.count <= Self.evaluatedHere else {
            throw .unsupported(
                "a query with conditions that its data service cannot evaluate over more than \(Self.evaluatedHere) rows",
                by: .supabase,
                instead:
                    "Give “\(plan.shape.mapping.table)” a column for each field that is compared, or add a condition on one."
            )
        }
        let evaluator = QueryEvaluator(plan.query)
        var found: [(document: DocumentSnapshot, row: AnswerRow)] = []
        guard let first = rows.first else { return [] }
        var layout = RowLayout(plan.shape, at: first)
        for row in rows {
            if !layout.move(to: row) { layout = RowLayout(plan.shape, at: row) }
            guard let path = layout.path else { continue }
            let document = DocumentSnapshot.existing(
                path, layout.data, createTime: layout.created, updateTime: version)
            if evaluator.matches(document) { found.append((document, row)) }
        }
        if !plan.isSorted {
            found.sort { evaluator.ordering($0.document, $1.document) == .before }
        } else if plan.isReversed {
            found.reverse()
        }
        let rest = found.dropFirst(plan.query.offset).map(\.row)
        return switch plan.query.limit {
        case .first(let count): Array(rest.prefix(count))
        case .last(let count): Array(rest.suffix(count))
        case nil: rest
        }
    }

    /// The number of rows, counted by the service if it can.
    func count(_ query: Query, in place: TableMappings.Place) async throws(StorageError) -> Int {
        let count: Int? = try await knowing(place.table) { (shape) throws(StorageError) -> Int? in
            let plan = TableQuery(query, in: place, shape)
            guard let conditions = plan.conditions else { return 0 }
            guard plan.isWhole else { return nil }
            var request = request(
                .head, shape, RowCondition.parameters(conditions) + [("select", shape.mapping.idColumn)])
            request.headers["Prefer"] = "count=exact"
            guard let total = Self.total(in: try await service.send(request, as: reader)) else {
                throw .unreadableAnswer
            }
            let rest = max(0, total - query.offset)
            return query.limit.map { min($0.count, rest) } ?? rest
        }
        if let count { return count }
        return try await rows(of: query, in: place).rows.count
    }

    // MARK: Names

    /// The rows with the given names, in no particular order.
    func rows(
        named names: [String], in place: TableMappings.Place
    ) async throws(StorageError) -> Answer {
        try await knowing(place.table) { (shape) throws(StorageError) in
            var answer = Answer(shape: shape, version: sequence.next())
            var conditions: [RowCondition] = []
            for (column, name) in zip(shape.table.parentColumns, place.parents ?? []) {
                guard let condition = shape.condition(column, named: name) else { return answer }
                conditions.append(condition)
            }
            let id = shape.mapping.idColumn
            let operands = names.compactMap { shape.kind(of: id).operand(named: $0) }
            for start in stride(from: 0, to: operands.count, by: Self.portion) {
                let some = Array(operands[start..<min(start + Self.portion, operands.count)])
                let named: RowCondition =
                    some.count == 1 ? .test(id, "eq", .value(some[0])) : .test(id, "in", .list(some))
                let rows = try await unlessMistyped { () throws(StorageError) in
                    try await pages(
                        shape, conditions + [named], shape.selection(), orders: [(id, true)], limit: some.count)
                }
                answer.add(rows, but: additions)
            }
            return answer
        }
    }

    /// No row has a name that does not fit the type of its column.
    private func unlessMistyped(
        _ read: () async throws(StorageError) -> [AnswerRow]
    ) async throws(StorageError) -> [AnswerRow] {
        do throws(StorageError) { return try await read() } catch {
            guard let failure = error.underlying as? PostgRESTFailure, ["22P02", "22003"].contains(failure.code) else {
                throw error
            }
            return []
        }
    }

    // MARK: Pages

    /// Reads pages until one is known to be the last: the service truncates long answers without notice.
    func pages(
        _ plan: TableQuery, _ selection: String, limit: Int?, offset: Int
    ) async throws(StorageError) -> [AnswerRow] {
        guard let conditions = plan.conditions else { return [] }
        return try await pages(
            plan.shape, conditions, selection, orders: plan.orders, limit: limit, offset: offset)
    }

    private func pages(
        _ shape: RowShape, _ conditions: [RowCondition], _ selection: String,
        orders: [(column: String, isAscending: Bool)], limit: Int?, offset: Int = 0
    ) async throws(StorageError) -> [AnswerRow] {
        let isUnlimited = limit == nil && offset == 0
        var rows: [AnswerRow] = []
        var position: RowCondition?
        while true {
            var parameters = RowCondition.parameters(conditions + (position.map { [$0] } ?? []))
            parameters.append(("select", selection))
            parameters.append(("order", TableQuery.order(orders)))
            let wanted = limit.map { $0 - rows.count }
            if let wanted { parameters.append(("limit", String(wanted))) }
            let skipped = position == nil ? offset + rows.count : 0
            if skipped > 0 { parameters.append(("offset", String(skipped))) }
            let known = catalog.largestPage
            let page =
                isUnlimited && position == nil && catalog.shouldCount(shape.table)
                ? try await countedPage(shape, parameters) : try await self.page(shape, parameters)
            catalog.note(page: page.rows.count)
            rows += page.rows
            // Nothing is left, or fewer rows came than the service is known to return at once.
            if page.rows.isEmpty || page.total == rows.count || page.rows.count < known
                || wanted.map({ page.rows.count >= $0 }) == true
            {
                if isUnlimited { catalog.note(length: rows.count, of: shape.table) }
                return rows
            }
            position = TableQuery.behind(page.rows[page.rows.count - 1], orders)
        }
    }

    /// The rows of an answer, and how many the query has in all, if that was asked.
    private typealias Page = (rows: [AnswerRow], total: Int?)

    private func page(
        _ shape: RowShape, _ parameters: [(name: String, value: String)], counting: Bool = false
    ) async throws(StorageError) -> Page {
        var request = request(.get, shape, parameters)
        if counting { request.headers["Prefer"] = "count=exact" }
        let response = try await service.send(request, as: reader)
        return (try rows(in: response, of: shape), counting ? Self.total(in: response) : nil)
    }

    /// A page and the number of all rows, or the page alone if counting them takes the database too long.
    private func countedPage(
        _ shape: RowShape, _ parameters: [(name: String, value: String)]
    ) async throws(StorageError) -> Page {
        do throws(StorageError) {
            return try await page(shape, parameters, counting: true)
        } catch {
            guard let failure = error.underlying as? PostgRESTFailure, failure.isAboutTime else { throw error }
            catalog.noteUncounted(shape.table)
            return try await page(shape, parameters)
        }
    }

    /// The number behind the range of rows.
    private static func total(in response: HTTPResponse) -> Int? {
        response.headers["Content-Range"]?.split(separator: "/").last.flatMap { Int($0) }
    }

    // MARK: Requests

    /// Runs `body` with what is known about a table, and again if a refusal revealed more.
    func knowing<Result>(
        _ table: MappedTable, _ body: (RowShape) async throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        while true {
            let shape = try await catalog.shape(of: table, service)
            do throws(StorageError) { return try await body(shape) } catch {
                guard catalog.learn(from: error, of: table) else { throw error }
            }
        }
    }

    func request(
        _ method: HTTPMethod, _ shape: RowShape, _ parameters: [(name: String, value: String)], body: [UInt8] = []
    ) -> HTTPRequest {
        let isRead = method == .get || method == .head
        let table = FormCoding.encode([(shape.mapping.table, "")], space: .percent).dropLast()
        var request = HTTPRequest(
            method, "\(service.project.rest)/\(table)?\(FormCoding.encode(parameters, space: .percent))", body: body,
            isIdempotent: isRead)
        request.headers[isRead ? "Accept-Profile" : "Content-Profile"] = shape.mapping.schema
        if !body.isEmpty { request.headers["Content-Type"] = "application/json" }
        return request
    }

    func rows(in response: HTTPResponse, of shape: RowShape) throws(StorageError) -> [AnswerRow] {
        guard let text = try service.indexed(response.body, of: shape.mapping.table), text.isArray(at: 0) else {
            throw .unreadableAnswer
        }
        var rows: [AnswerRow] = []
        var place = 1
        while place < text.end(of: 0) {
            guard text.isObject(at: place) else { throw .unreadableAnswer }
            rows.append(AnswerRow(text: text, place: place))
            place = text.end(of: place)
        }
        return rows
    }
}
