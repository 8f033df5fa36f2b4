/// The effect of a write on a document, for the mock, the offline engine and the local servers.
extension DocumentWrite {
    /// The document's fields after this write (`nil` if it is then missing), and the result of each transform.
    ///
    /// Ignores the precondition; see ``check(against:)``.
    package func applied(
        to old: DocumentData?, serverTime: Timestamp
    ) -> (data: DocumentData?, transformResults: [DocumentValue]) {
        var data: DocumentData
        switch operation {
        case .delete: return (nil, [])
        case .verify: return (old, [])
        case .set(let fields): data = fields
        case .patch(let fields, let mask):
            data = old ?? DocumentData()
            for field in mask { data[field] = fields[field] }
        }
        var results: [DocumentValue] = []
        for transform in transforms {
            let value = transform.operation.applied(to: data[transform.field], serverTime: serverTime)
            data[transform.field] = value
            results.append(value)
        }
        return (data, results)
    }

    /// Checks the precondition against the document.
    ///
    /// - Throws: `.notFound`, `.alreadyExists` or `.failedPrecondition`.
    package func check(against document: DocumentSnapshot) throws(StorageError) {
        switch precondition {
        case .none: return
        case .exists(true):
            if !document.exists { throw StorageError(.notFound, "There is no document at “\(path)”.") }
        case .exists(false):
            if document.exists { throw StorageError(.alreadyExists, "There is already a document at “\(path)”.") }
        case .updateTime(let version):
            if document.updateTime != version {
                throw StorageError(.failedPrecondition, "The document at “\(path)” has changed since it was read.")
            }
        }
    }
}
