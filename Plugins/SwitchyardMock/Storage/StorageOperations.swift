public import Switchyard

/// The operations of ``MockStorageClient`` that a script can answer.
extension MockOperation where Failure == StorageError, Answer == DocumentSnapshot {
    public static var document: Self { Self("document") }
    /// Opening a stream of a document; can be made to fail, not to answer.
    public static var documentStream: Self { Self("stream of document") }
}
extension MockOperation where Failure == StorageError, Answer == [DocumentSnapshot] {
    public static var documents: Self { Self("documents") }
    /// A transaction's read.
    public static var transactionRead: Self { Self("transaction read") }
}
extension MockOperation where Failure == StorageError, Answer == QuerySnapshot {
    public static var query: Self { Self("query") }
    /// Opening a stream of a query; can be made to fail, not to answer.
    public static var queryStream: Self { Self("stream of query") }
}
extension MockOperation where Failure == StorageError, Answer == WriteReceipt {
    /// A batch of writes, as an app hands it in: `set`, `update`, `delete` and `commit` alike, and adding to a collection.
    ///
    /// A transaction is another operation: ``MockOperation/transactionCommit`` makes its writes fail,
    /// ``MockOperation/transactionRead`` its reads. So is what waits in the queue: ``MockOperation/send`` is its way to the
    /// server.
    public static var commit: Self { Self("commit") }
}
extension MockOperation where Failure == StorageError, Answer == WriteReceipt.Acknowledgement {
    /// The writes of a transaction. `.aborted` has it tried again.
    public static var transactionCommit: Self { Self("transaction commit") }
    /// A write on its way from the queue to the server: one that was made offline, or behind others that wait.
    public static var send: Self { Self("send") }
}
extension MockOperation where Failure == StorageError, Answer == [DocumentValue] {
    public static var aggregate: Self { Self("aggregate") }
}
extension MockOperation where Failure == StorageError, Answer == [CollectionPath] {
    public static var collections: Self { Self("collections") }
}
extension MockOperation where Failure == StorageError, Answer == [StoragePath] {
    /// Where a scan by several begins each part.
    public static var dividers: Self { Self("dividers") }
}

extension Query {
    /// For recorded calls: where it looks and how many conditions it has, never their values.
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
    /// For recorded calls: what is done to which document, never with what.
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
