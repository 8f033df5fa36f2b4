public import Foundation

/// A collection whose documents are all values of one type.
///
/// ```swift
/// let todos = storage.collection("users").document(id).collection("todos", of: Todo.self)
/// try await todos.add(Todo(title: "Milk"))
/// let open = todos.where(\.done, .equal, false).ordered(by: \.created).limited(to: 50)
/// for try await list in open.stream() { print(list.map(\.title), list.hasPendingWrites ? "(saving)" : "") }
/// try await todos.document("milk").update(\.done, to: true)
/// ```
/// A document that does not fit the type throws `.codingFailed`, naming document and field. It also ends a stream, unless
/// ``MismatchHandling`` says otherwise.
public struct TypedCollection<Value: Sendable>: TypedQuerySource {
    public typealias Narrowed = TypedQuery<Value>
    public let storage: any StorageClient
    public let path: CollectionPath
    let converter: DocumentConverter<Value>

    public var id: String { path.id }
    public var query: Query { Query(in: path) }
    public var typed: TypedQuery<Value> { TypedQuery(storage: storage, query: query, converter: converter) }

    /// The document called `id`.
    public func document(_ id: String) -> TypedDocument<Value> { document(at: path.document(id)) }

    /// The document called `id`, as `uuidString` spells it.
    public func document(_ id: UUID) -> TypedDocument<Value> { document(id.uuidString) }

    /// The document called `id` in decimal digits.
    public func document(_ id: some BinaryInteger) -> TypedDocument<Value> { document(String(id)) }

    /// A document with a new random name. It does not exist until you write it.
    public func newDocument() -> TypedDocument<Value> { document(at: storage.newDocument(in: path)) }

    func document(at path: StoragePath) -> TypedDocument<Value> {
        TypedDocument(storage: storage, path: path, converter: converter)
    }

    /// Adds a document with a new random name. To get the server's answer, use ``addWithReceipt(_:)``.
    @discardableResult
    public func add(_ value: Value) async throws(StorageError) -> TypedDocument<Value> {
        try await addWithReceipt(value).document
    }

    /// Adds a document with a new random name, and returns it with the receipt, which lets you wait for the server.
    public func addWithReceipt(
        _ value: Value
    ) async throws(StorageError) -> (document: TypedDocument<Value>, receipt: WriteReceipt) {
        let document = newDocument()
        let receipt = try await document.create(value)
        return (receipt.added.map { self.document(at: $0) } ?? document, receipt)
    }

    /// The same collection without the type.
    public var untyped: CollectionHandle { CollectionHandle(storage: storage, path: path) }
}
