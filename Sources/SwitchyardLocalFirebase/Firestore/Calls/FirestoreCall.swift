import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// One call to a database, with its context.
struct FirestoreCall: Sendable {
    let database: LocalDatabase
    let caller: LocalCaller
    let rules: LocalRules
    /// The path after `documents/`, decoded; empty for the root.
    let place: String
    let query: [(name: String, value: String)]
    let body: JSONObject

    var name: FirestoreDatabase { database.name }

    // MARK: The path

    func document() throws(FirestoreFailure) -> StoragePath {
        try FirestoreFailure.checking { () throws(StorageError) in try StoragePath(validating: place) }
    }

    func collection() throws(FirestoreFailure) -> CollectionPath {
        try FirestoreFailure.checking { () throws(StorageError) in try CollectionPath(validating: place) }
    }

    /// The document below which a call reads, `nil` for the root.
    func parent() throws(FirestoreFailure) -> StoragePath? { place.isEmpty ? nil : try document() }

    var isDocumentPath: Bool { place.split(separator: "/").count.isMultiple(of: 2) }

    // MARK: The query

    func item(_ name: String) -> String? { query.first { $0.name == name }?.value }

    func count(_ name: String) throws(FirestoreFailure) -> Int? {
        guard let text = item(name) else { return nil }
        guard let number = Int(text), number >= 0 else { throw .invalid("“\(name)” must be a number of at least 0.") }
        return number
    }

    /// Repeated field paths; `nil` if there are none.
    func fields(_ name: String) throws(FirestoreFailure) -> [FieldPath]? {
        let texts = query.filter { $0.name == name }.map(\.value)
        guard !texts.isEmpty else { return nil }
        return try FirestoreFailure.reading { () throws(FirestoreFormatError) in
            try texts.map { text throws(FirestoreFormatError) in try FieldPath(firestore: text) }
        }
    }

    /// `currentDocument` from the query.
    func precondition() throws(FirestoreFailure) -> DocumentWrite.Precondition {
        var object = JSONObject()
        if let text = item("currentDocument.exists") { object["exists"] = .bool(text == "true") }
        object["updateTime"] = item("currentDocument.updateTime").map { .string($0) }
        let complete = object
        return try FirestoreFailure.reading { () throws(FirestoreFormatError) in
            try DocumentWrite.Precondition(firestore: complete)
        }
    }

    // MARK: The body

    /// - Throws: For unknown members, as the vendor does.
    func allow(_ names: Set<String>) throws(FirestoreFailure) {
        for member in body.members where !names.contains(member.key) {
            throw .invalid("Invalid JSON payload received. Unknown name \"\(member.key)\": Cannot find field.")
        }
    }

    /// `mask` from the body.
    func mask() throws(FirestoreFailure) -> [FieldPath]? {
        guard let mask = body["mask"]?.object else { return nil }
        return try FirestoreFailure.reading { () throws(FirestoreFormatError) in try FieldPath.list(mask) }
    }

    /// - Throws: Also for names that no document can have, so that none of the writes takes effect.
    static func writes(_ elements: [JSON], in name: FirestoreDatabase) throws(FirestoreFailure) -> [DocumentWrite] {
        let writes = try FirestoreFailure.reading { () throws(FirestoreFormatError) in
            try elements.map { element throws(FirestoreFormatError) in
                try DocumentWrite(firestore: element, in: name)
            }
        }
        for write in writes {
            try FirestoreFailure.checking { () throws(StorageError) in
                let path = try StoragePath(validating: write.path.rawValue)
                if case .set(let data) = write.operation { _ = try DocumentWrite.set(path, data: data) }
                if case .patch(let data, _) = write.operation { _ = try DocumentWrite.set(path, data: data) }
            }
        }
        return writes
    }

    /// The paths of resource names that may be wrong.
    static func paths(_ names: [String], in database: FirestoreDatabase) throws(FirestoreFailure) -> [StoragePath] {
        let paths = try FirestoreFailure.reading { () throws(FirestoreFormatError) in
            try names.map { name throws(FirestoreFormatError) in try database.path(ofName: name) }
        }
        return try FirestoreFailure.checking { () throws(StorageError) in
            try paths.map { path throws(StorageError) in try StoragePath(validating: path.rawValue) }
        }
    }

    /// The state from which the call reads.
    func view() throws(FirestoreFailure) -> LocalDatabase.View {
        guard body["readTime"] == nil else {
            throw FirestoreFailure(.unimplemented, "The local server keeps no past versions to read from.")
        }
        var options: LocalDatabase.TransactionOptions?
        if let new = body["newTransaction"]?.object {
            options = LocalDatabase.TransactionOptions(isReadOnly: new["readOnly"] != nil)
        }
        return try database.view(transaction: body["transaction"]?.string, new: options)
    }

    /// Whether the caller may see this document.
    func checkRead(_ document: DocumentSnapshot) throws(FirestoreFailure) {
        guard
            rules.allow(
                .read, of: caller, at: document.path, data: document.data, in: database.current().documents)
        else { throw .permissionDenied }
    }

    /// Checks that the caller is the project's owner, even with open access.
    func checkIsOwner() throws(FirestoreFailure) {
        guard caller == .owner else { throw .permissionDenied }
    }
}

extension DocumentSnapshot {
    func masked(_ fields: [FieldPath]?) -> DocumentSnapshot {
        guard let fields, let data else { return self }
        return DocumentSnapshot(
            path: path, data: data.projected(to: fields), createTime: createTime, updateTime: updateTime)
    }
}
