public import Switchyard

/// The operations of ``MockStorageClient`` that a script can answer.
extension MockOperation where Failure == StorageError, Answer == DocumentSnapshot {
    public static var document: Self { Self("document") }
    /// Opening a stream of a document. It can fail, but has no scripted answer.
    public static var documentStream: Self { Self("stream of document") }
}
extension MockOperation where Failure == StorageError, Answer == [DocumentSnapshot] {
    public static var documents: Self { Self("documents") }
    /// A read in a transaction.
    public static var transactionRead: Self { Self("transaction read") }
}
extension MockOperation where Failure == StorageError, Answer == QuerySnapshot {
    public static var query: Self { Self("query") }
    /// Opening a stream of a query. It can fail, but has no scripted answer.
    public static var queryStream: Self { Self("stream of query") }
}
extension MockOperation where Failure == StorageError, Answer == WriteReceipt {
    /// A batch of writes as the app makes it: `set`, `update`, `delete` and `commit` alike, and adding to a collection.
    ///
    /// A transaction has other operations: ``MockOperation/transactionCommit`` for its writes,
    /// ``MockOperation/transactionRead`` for its reads. Sending a queued write is ``MockOperation/send``.
    public static var commit: Self { Self("commit") }
}
extension MockOperation where Failure == StorageError, Answer == WriteReceipt.Acknowledgement {
    /// The commit of a transaction. After `.aborted`, the transaction is repeated.
    public static var transactionCommit: Self { Self("transaction commit") }
    /// Sending a queued write to the server: one made offline, or while others were waiting.
    public static var send: Self { Self("send") }
}
extension MockOperation where Failure == StorageError, Answer == [DocumentValue] {
    public static var aggregate: Self { Self("aggregate") }
}
extension MockOperation where Failure == StorageError, Answer == [CollectionPath] {
    public static var collections: Self { Self("collections") }
}
extension MockOperation where Failure == StorageError, Answer == [StoragePath] {
    /// The dividers between the parts of a concurrent scan.
    public static var dividers: Self { Self("dividers") }
}

extension Query {
    /// For recorded calls: the source and the number of conditions, never their values.
    var subject: String {
        var text =
            switch source {
            case .collection(let path): path.rawValue
            case .group(let id, nil): "group \(id)"
            case .group(let id, let ancestor?): "group \(id) under \(ancestor)"
            }
        for case .comparison(let field, let operation, _) in filter?.conditions ?? [] {
            text += " \(field) \(operation.rawValue) …"
        }
        for case .test(let field, let test) in filter?.conditions ?? [] { text += " \(field) \(test.rawValue)" }
        for order in orders { text += " by \(order.field)\(order.direction == .descending ? " descending" : "")" }
        switch limit {
        case .first(let count): text += " first \(count)"
        case .last(let count): text += " last \(count)"
        case nil: break
        }
        return text
    }
}

extension DocumentWrite {
    /// For recorded calls: the operation and the document, never the contents.
    var subject: String {
        let verb =
            switch (operation, precondition) {
            case (.set, .exists(false)): "create"
            case (.set, _): "set"
            case (.patch, .exists(true)): "update"
            case (.patch, _): "merge"
            case (.delete, _): "delete"
            case (.verify, _): "verify"
            }
        return "\(verb) \(path)"
    }
}

extension WriteBatch {
    var subject: String { writes.map(\.subject).joined(separator: ", ") }
}
