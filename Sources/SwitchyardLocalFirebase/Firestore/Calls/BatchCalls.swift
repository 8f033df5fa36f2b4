import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// Calls for many documents at once.
extension FirestoreCall {
    func batchGet() throws(FirestoreFailure) -> JSON {
        try allow(["documents", "mask", "transaction", "newTransaction", "readTime"])
        let name = name
        let names = body["documents"]?.array?.compactMap(\.string) ?? []
        let paths = try FirestoreFailure.reading { () throws(FirestoreFormatError) in
            try names.map { text throws(FirestoreFormatError) in try name.path(ofName: text) }
        }
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
        try checkIsOwner()
        let writes = try Self.writes(body["writes"]?.array ?? [], in: name)
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
