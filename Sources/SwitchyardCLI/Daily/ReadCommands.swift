import Switchyard
import SwitchyardBytes
import SwitchyardText

/// `switchyard get`
struct GetCommand: BackendCommand {
    let name = "get"
    let backend: BackendOptions
    private let paths: [StoragePath]
    private let isPlain: Bool

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("get"))
        backend = BackendOptions(given)
        isPlain = given.has("--plain")
        var paths: [StoragePath] = []
        for path in given.arguments { paths.append(try path.documentPath()) }
        self.paths = paths
    }

    func run(on backend: OpenBackend) async throws -> ExitStatus {
        let documents = try await backend.storage.documents(paths, from: backend.source)
        if let first = documents.first { remark(first.metadata) }
        var status = ExitStatus.success
        for document in documents {
            if document.exists {
                guard Terminal.print(document.json(isPlain: isPlain).bytes()) else { return .success }
            } else {
                report("there is no document “\(document.path)”")
                status = .failure
            }
        }
        return status
    }
}

/// A query on the command line: its text, and the collection.
struct QueryWords: Sendable {
    let query: Query
    let isPlain: Bool

    init(_ given: Options) throws(UsageError) {
        isPlain = given.has("--plain")
        guard given.arguments.count <= 2, let name = given.arguments.last else {
            throw UsageError("“\(given.arguments.last ?? "")” was not expected here")
        }
        let source: Query
        // A collection may have such a name, but no one's has.
        if given.arguments.count == 1, name.includes(" "), (try? QueryText(parsing: name)) != nil {
            throw UsageError("the collection is missing after the query “\(name)”")
        }
        if given.has("--group") {
            source = Query(group: name)
            if let mistake = source.mistake { throw UsageError(mistake.message) }
        } else {
            do throws(StorageError) { source = Query(in: try CollectionPath(validating: name)) } catch {
                throw UsageError(error.message)
            }
        }
        guard given.arguments.count == 2 else {
            query = source
            return
        }
        do throws(TextMistake) { query = try QueryText(parsing: given.arguments[0]).applied(to: source) } catch {
            throw UsageError(error.description)
        }
    }
}

/// `switchyard query`
struct QueryCommand: BackendCommand {
    let name = "query"
    let backend: BackendOptions
    private let words: QueryWords

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("query"))
        backend = BackendOptions(given)
        self.words = try QueryWords(given)
    }

    /// The size of a page, small enough to show the first results soon.
    private static let pageSize = 300

    func run(on backend: OpenBackend) async throws -> ExitStatus {
        let bar = ProgressBar(.things("documents"), total: words.query.limit.map { Int64($0.count) })
        defer { bar.clear() }
        var isFirst = true
        func show(_ page: QuerySnapshot) -> Bool {
            if isFirst { remark(page.metadata) }
            isFirst = false
            for document in page.documents {
                // A bar would break lines on the same terminal.
                if Terminal.isTerminal(1) { bar.clear() } else { bar.add() }
                guard Terminal.print(document.json(isPlain: words.isPlain).bytes()) else { return false }
            }
            return true
        }
        guard isPaged else {
            _ = show(try await backend.storage.documents(words.query, from: backend.source))
            return .success
        }
        for try await page in backend.storage.pages(of: words.query, size: Self.pageSize, from: backend.source) {
            guard show(page) else { return .success }
        }
        return .success
    }

    /// Pages continue behind the last document, whose fields must then be known.
    private var isPaged: Bool {
        if case .last = words.query.limit { return false }
        guard let fields = words.query.projection else { return true }
        return words.query.effectiveOrders.allSatisfy { order in
            order.field.isDocumentID || fields.contains { order.field.isWithin($0) }
        }
    }
}

/// `switchyard count`
struct CountCommand: BackendCommand {
    let name = "count"
    let backend: BackendOptions
    private let words: QueryWords
    private let aggregation: Aggregation
    /// What it is called in JSON.
    private let key: String
    private let isJSON: Bool

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("count"))
        backend = BackendOptions(given)
        self.words = try QueryWords(given)
        isJSON = given.has("--json")
        switch (given["--sum"], given["--average"]) {
        case (nil, nil): (aggregation, key) = (.count, "count")
        case (let field?, nil): (aggregation, key) = (.sum(try Self.field(field)), "sum")
        case (nil, let field?): (aggregation, key) = (.average(try Self.field(field)), "average")
        default: throw UsageError("“--sum” and “--average” are two commands")
        }
    }

    private static func field(_ text: String) throws(UsageError) -> FieldPath {
        do throws(StorageError) { return try FieldPath(validating: text) } catch { throw UsageError(error.message) }
    }

    func run(on backend: OpenBackend) async throws -> ExitStatus {
        let value = try await backend.storage.aggregate(words.query, [aggregation]).first ?? .null
        Terminal.print(isJSON ? JSON.object([key: value.plainJSON]).text() : value.plainJSON.text())
        return .success
    }
}
