import Switchyard

/// One client, with writes that wait for the server and reads that check their results.
struct StorageDevice: Sendable {
    let client: any StorageClient
    let features: StorageFeatures
    /// The name of the document that a check calls by another.
    private let id: @Sendable (String) -> String

    init(
        _ client: any StorageClient, features: StorageFeatures,
        id: @escaping @Sendable (String) -> String = { $0 }
    ) {
        self.client = client
        self.features = features
        self.id = id
    }

    // MARK: Writing, until the server has it

    @discardableResult
    func commit(_ writes: DocumentWrite...) async throws -> WriteReceipt.Acknowledgement {
        try await commit(WriteBatch(writes))
    }

    @discardableResult
    func commit(_ batch: WriteBatch) async throws -> WriteReceipt.Acknowledgement {
        try await client.commit(batch).acknowledged()
    }

    func set(_ path: StoragePath, _ fields: WriteFields) async throws {
        try await client.setDocument(path, fields).acknowledged()
    }
    func merge(_ path: StoragePath, _ fields: WriteFields) async throws {
        try await client.mergeDocument(path, fields).acknowledged()
    }
    func update(_ path: StoragePath, _ updates: FieldUpdates) async throws {
        try await client.updateDocument(path, updates).acknowledged()
    }
    func create(_ path: StoragePath, _ fields: WriteFields) async throws {
        try await client.createDocument(path, fields).acknowledged()
    }
    func delete(_ path: StoragePath) async throws {
        try await client.deleteDocument(path).acknowledged()
    }

    /// Writes documents, in as few batches as the provider allows.
    func seed(_ collection: CollectionPath, _ documents: KeyValuePairs<String, DocumentData>) async throws {
        try await seed(documents.map { (collection.document(id($0.key)), $0.value) })
    }

    func seed(_ documents: [(StoragePath, DocumentData)]) async throws {
        let size = min(features.capabilities.maximumBatchSize ?? 100, 100)
        var rest = documents[...]
        while !rest.isEmpty {
            let writes = try rest.prefix(size).map { try DocumentWrite.set($0.0, WriteFields($0.1)) }
            try await commit(WriteBatch(writes))
            rest = rest.dropFirst(size)
        }
    }

    /// Deletes every document of `collection`.
    func empty(_ collection: CollectionPath) async throws {
        let size = min(features.capabilities.maximumBatchSize ?? 100, 100)
        while true {
            let page = try await client.documents(Query(in: collection).limited(to: size), from: .server)
            guard !page.isEmpty else { return }
            try await commit(WriteBatch(page.documents.map { .delete($0.path) }))
        }
    }

    // MARK: Reading, from the server

    func read(_ path: StoragePath) async throws -> DocumentSnapshot { try await client.document(path, from: .server) }

    func results(_ query: Query) async throws -> QuerySnapshot { try await client.documents(query, from: .server) }

    /// The names of the results, in order.
    func ids(_ query: Query) async throws -> [String] { try await results(query).documents.map(\.id) }

    // MARK: Checking

    /// Expects the document to have these fields, and no others if fields can be absent.
    func expect(
        _ path: StoragePath, holds fields: DocumentData, file: String = #fileID, line: Int = #line
    ) async throws {
        try expect(try await read(path), holds: fields, file: file, line: line)
    }

    func expect(
        _ snapshot: DocumentSnapshot, holds fields: DocumentData, file: String = #fileID, line: Int = #line
    ) throws {
        let data = try expectValue(snapshot.data, "a document at “\(snapshot.id)”", file: file, line: line)
        // In a table, a field that was never written exists anyway, as null.
        let found =
            features.capabilities.openTypes ? data : DocumentData(data.filter { !$0.value.isNull }.map { ($0, $1) })
        try expectEqual(found, fields, "the document “\(snapshot.id)”", file: file, line: line)
    }

    func expectMissing(_ path: StoragePath, file: String = #fileID, line: Int = #line) async throws {
        let snapshot = try await read(path)
        try SwitchyardConformance.expect(
            !snapshot.exists && snapshot.data == nil, "there is no document at “\(path.id)”",
            found: Readable.text(snapshot), file: file, line: line)
    }

    /// Expects `field` to be absent or, in a table, null.
    func expectNothing(
        _ snapshot: DocumentSnapshot, at field: FieldPath, file: String = #fileID, line: Int = #line
    ) throws {
        let value = snapshot[field]
        try SwitchyardConformance.expect(
            value == nil || (!features.capabilities.openTypes && value?.isNull == true),
            "the field “\(field)” is gone", found: Readable.text(value), file: file, line: line)
    }

    func expect(
        _ query: Query, gives ids: [String], file: String = #fileID, line: Int = #line
    ) async throws {
        try expectEqual(
            try await self.ids(query), ids.map { id($0) }, "the result of the query", file: file, line: line)
    }

    /// Expects `body` to fail with one of `codes`.
    @discardableResult
    func expectFailure<Value>(
        _ codes: StorageError.Code..., in what: String, file: String = #fileID, line: Int = #line,
        _ body: () async throws -> Value
    ) async throws -> StorageError {
        try await SwitchyardConformance.expectFailure(
            codes, as: StorageError.self, what, file: file, line: line, body)
    }

    /// Expects `body` to be refused as unsupported by the provider.
    func expectRefusal<Value>(
        _ what: String, file: String = #fileID, line: Int = #line, _ body: () async throws -> Value
    ) async throws {
        try await SwitchyardConformance.expectRefusal(
            .unsupported, as: StorageError.self, of: "Storage", by: client.provider, what, file: file, line: line, body)
    }
}
