import Switchyard
import SwitchyardBytes
import SwitchyardText

/// Collections, queries and documents.
struct DataRoutes: Sendable {
    let backend: PageBackend

    private func storage(_ call: PageCall) async throws -> any StorageClient {
        try await backend.storage(call.persona())
    }

    // MARK: Reading

    func collections(_ call: PageCall) async throws -> JSON {
        let parent = try call.query("parent").flatMap { $0.isEmpty ? nil : try StoragePath(validating: $0) }
        if parent == nil { try await backend.source.refresh() }
        let found = try await backend.source.collections(under: parent, as: call.persona())
        return .object([
            "collections": .array(
                found.map { path, isTable in
                    ["id": .string(path.id), "path": .string(path.rawValue), "isTable": .bool(isTable)]
                })
        ])
    }

    /// The query of a call: its collection, and what its text says.
    static func query(_ call: PageCall) throws -> Query {
        let name = try call.required("collection")
        let source: Query
        if try call.bool("isGroup") {
            source = try Query(group: name).checked()
        } else {
            source = Query(in: try CollectionPath(validating: name))
        }
        guard let text = try call.string("text"), !text.allSatisfy(\.isWhitespace) else { return source }
        return try QueryText(parsing: text).applied(to: source)
    }

    func query(_ call: PageCall) async throws -> JSON {
        let query = try Self.query(call)
        do { return try await results(of: query, call) } catch {
            throw await explained(error, call) { try await $0.check(query, as: $1) }
        }
    }

    private func results(of query: Query, _ call: PageCall) async throws -> JSON {
        let storage = try await storage(call)
        let size = try call.number("size", in: 1...1000) ?? 100
        if case .last = query.limit {
            let all = try await storage.documents(query, from: .server)
            return .object(["documents": .array(all.map(Self.json)), "cursor": .null])
        }
        let cursor = try call.string("cursor").map(PageCursor.init)
        var rest = query
        if let cursor {
            rest = query.starting(after: cursor.last)
            rest.offset = 0
            if let limit = query.limit {
                guard limit.count > cursor.delivered else { return .object(["documents": [], "cursor": .null]) }
                rest = rest.limited(to: limit.count - cursor.delivered)
            }
        }
        // A jump in a long list, where no cursor is known.
        let skipped = cursor == nil ? try call.number("offset", in: 0...Int(Int32.max)) ?? 0 : 0
        if skipped > 0 {
            rest.offset += skipped
            if let limit = query.limit {
                guard limit.count > skipped else { return .object(["documents": [], "cursor": .null]) }
                rest = rest.limited(to: limit.count - skipped)
            }
        }
        var pages = storage.pages(of: rest, size: size, from: .server).makeAsyncIterator()
        let page = try await pages.next()
        let documents = page.map { Array($0.documents) } ?? []
        let delivered = (cursor?.delivered ?? skipped) + documents.count
        var next: String?
        if let last = documents.last, documents.count == size, delivered < query.limit?.count ?? .max,
            Self.isPaged(query)
        {
            next = PageCursor(last: last, delivered: delivered, of: query).text
        }
        return .object(["documents": .array(documents.map(Self.json)), "cursor": next.map { .string($0) } ?? .null])
    }

    /// Pages continue behind the last document, whose fields must then be known.
    private static func isPaged(_ query: Query) -> Bool {
        guard let fields = query.projection else { return true }
        return query.effectiveOrders.allSatisfy { order in
            order.field.isDocumentID || fields.contains { order.field.isWithin($0) }
        }
    }

    func count(_ call: PageCall) async throws -> JSON {
        let query = try Self.query(call)
        let count: DocumentValue?
        do { count = try await storage(call).aggregate(query, [.count]).first } catch {
            throw await explained(error, call) { try await $0.check(query, as: $1) }
        }
        return .object(["count": count?.plainJSON ?? 0])
    }

    func get(_ call: PageCall) async throws -> JSON {
        let path = try StoragePath(validating: call.required("path"))
        do {
            return Self.json(try await storage(call).document(path, from: .server))
        } catch {
            throw await explained(error, call) { try await $0.check(path, as: $1, data: nil).read }
        }
    }

    /// A document as the page has it.
    static func json(_ document: DocumentSnapshot) -> JSON {
        .object([
            "path": .string(document.path.rawValue), "id": .string(document.id), "exists": .bool(document.exists),
            "data": document.data?.json, "createdAt": document.createTime.map { .string("\($0)") },
            "updatedAt": document.updateTime.map { .string("\($0)") },
        ])
    }

    /// A refusal, with what decided it if the server can say.
    private func explained(
        _ error: any Error, _ call: PageCall,
        _ reason: (any LocalSide, Persona) async throws -> Explanation?
    ) async -> any Error {
        var failure = PageFailure(error)
        guard failure.status == 403, let local = backend.local, let persona = try? call.persona(),
            let explanation = try? await reason(local, persona), explanation.isAllowed == false
        else { return error }
        failure.explanation = explanation.json
        return failure
    }

    // MARK: Writing

    private static let patience = Duration.seconds(10)

    func write(_ call: PageCall) async throws -> JSON {
        let kind = try call.required("kind")
        let storage = try await storage(call)
        let path: StoragePath
        if kind == "add", try call.string("path") == nil {
            path = storage.newDocument(in: try CollectionPath(validating: call.required("collection")))
        } else {
            path = try StoragePath(validating: call.required("path"))
        }
        let data = call.body["data"] ?? [:]
        // What was there makes undoing possible. Whoever may not read it may still write it.
        let before = kind == "add" ? nil : try? await storage.document(path, from: .server).data
        var batch = WriteBatch()
        switch kind {
        case "add": try batch.create(path, DocumentJSON.fields(data))
        case "set": try batch.set(path, DocumentJSON.fields(data))
        case "merge": try batch.merge(path, DocumentJSON.fields(data))
        case "update": try batch.update(path, DocumentJSON.updates(data))
        case "delete": batch.delete(path)
        default: throw PageFailure.invalid("There is no write “\(kind)”; use add, set, merge, update or delete.")
        }
        let added: StoragePath?
        do {
            let receipt = try await storage.commit(batch)
            // A client with a queue of its own has only taken it so far.
            let acknowledgement = try await receipt.acknowledged(within: Self.patience)
            added = acknowledgement.added ?? receipt.added
        } catch {
            let written = kind == "delete" ? nil : try? PageCall.data(data)
            throw await explained(error, call) { try await $0.check(path, as: $1, data: written).write }
        }
        let written = kind == "add" ? added ?? path : path
        return .object(["path": .string(written.rawValue), "before": before?.json ?? .null])
    }
}
