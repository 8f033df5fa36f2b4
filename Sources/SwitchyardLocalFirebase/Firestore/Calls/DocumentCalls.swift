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
