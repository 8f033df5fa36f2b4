import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// Calls for one document: get, create, patch, delete.
extension FirestoreCall {
    func get() throws(FirestoreFailure) -> JSON {
        let path = try document()
        let found = database.current().documents.snapshot(path)
        try checkRead(found)
        guard found.exists else {
            throw FirestoreFailure(.notFound, "Document \"\(name.resourceName(of: path))\" not found.")
        }
        return try found.masked(fields("mask.fieldPaths")).firestore(in: name)
    }

    func create() throws(FirestoreFailure) -> JSON {
        try allow(["fields"])
        let id = item("documentId") ?? RandomID.make()
        let collection = try collection()
        let path = try FirestoreFailure.checking { () throws(StorageError) in try collection.document(id).checked() }
        return try write(DocumentWrite(path: path, operation: .set(data()), precondition: .exists(false)))
    }

    func patch() throws(FirestoreFailure) -> JSON {
        try allow(["fields", "name", "createTime", "updateTime"])
        let path = try document()
        if let given = body["name"]?.string, given != name.resourceName(of: path) {
            throw .invalid("The document's name does not fit the request's path.")
        }
        let data = try data()
        let mask = try fields("updateMask.fieldPaths")
        let operation = mask.map { DocumentWrite.Operation.patch(data, mask: $0) } ?? .set(data)
        return try write(DocumentWrite(path: path, operation: operation, precondition: precondition()))
    }

    func delete() throws(FirestoreFailure) -> JSON {
        let write = try DocumentWrite(path: document(), operation: .delete, precondition: precondition())
        _ = try database.commit([write], by: caller, rules)
        return [:]
    }

    private func data() throws(FirestoreFailure) -> DocumentData {
        let fields = body["fields"]?.object ?? JSONObject()
        let name = name
        return try FirestoreFailure.reading { () throws(FirestoreFormatError) in
            try DocumentData(firestore: fields, in: name)
        }
    }

    private func write(_ write: DocumentWrite) throws(FirestoreFailure) -> JSON {
        _ = try database.commit([write], by: caller, rules)
        let written = database.current().documents.snapshot(write.path)
        return try written.masked(fields("mask.fieldPaths")).firestore(in: name)
    }
}

/// Calls for many documents at once.
extension FirestoreCall {
    func batchGet() throws(FirestoreFailure) -> JSON {
        try allow(["documents", "mask", "transaction", "newTransaction", "readTime"])
        let paths = try Self.paths(body["documents"]?.array?.compactMap(\.string) ?? [], in: name)
        let view = try view()
        let mask = try mask()
        let readTime = JSON.string(view.readTime.firestoreText)
        var elements: [JSON] = []
        if let begun = view.begun { elements.append(["transaction": .string(begun)]) }
        var seen: Set<StoragePath> = []
        for path in paths where seen.insert(path).inserted {
            let document = view.documents.snapshot(path)
            try checkRead(document)
            database.note(view) { $0.note(document) }
            elements.append(
                document.exists
                    ? ["found": document.masked(mask).firestore(in: name), "readTime": readTime]
                    : ["missing": .string(name.resourceName(of: path)), "readTime": readTime])
        }
        return .array(elements)
    }

    func commit() throws(FirestoreFailure) -> JSON {
        try allow(["writes", "transaction", "labels"])
        let writes = try Self.writes(body["writes"]?.array ?? [], in: name)
        let transaction = body["transaction"]?.string
        if writes.isEmpty, transaction == nil { return [:] }
        return try database.commit(writes, transaction: transaction, by: caller, rules).firestore(in: name)
    }

    /// Applies each write separately; some may fail.
    func batchWrite() throws(FirestoreFailure) -> JSON {
        try allow(["writes", "labels"])
        let writes = try Self.writes(body["writes"]?.array ?? [], in: name)
        try checkIsOwner()
        guard Set(writes.map(\.path)).count == writes.count else {
            throw .invalid("A document cannot be written to more than once in a batch.")
        }
        var results: [FirestoreWriteResults.Result] = []
        var statuses: [JSON] = []
        for write in writes {
            do throws(FirestoreFailure) {
                results += try database.commit([write], by: caller, rules).results
                statuses.append([:])
            } catch {
                results.append(FirestoreWriteResults.Result())
                statuses.append(error.rpcStatus)
            }
        }
        var answer = FirestoreWriteResults(results: results, commitTime: nil).firestore(in: name).object ?? [:]
        answer["status"] = .array(statuses)
        return .object(answer)
    }
}

/// Starts and rolls back transactions; `commit` also ends them.
extension FirestoreCall {
    func beginTransaction() throws(FirestoreFailure) -> JSON {
        try allow(["options"])
        let readOnly = body["options"]?["readOnly"]
        guard readOnly?["readTime"] == nil else {
            throw FirestoreFailure(.unimplemented, "The local server keeps no past versions to read from.")
        }
        return ["transaction": .string(database.begin(.init(isReadOnly: readOnly != nil)))]
    }

    func rollback() throws(FirestoreFailure) -> JSON {
        try allow(["transaction"])
        guard let id = body["transaction"]?.string else { throw .invalid("A rollback names its transaction.") }
        try database.rollBack(id)
        return [:]
    }
}
