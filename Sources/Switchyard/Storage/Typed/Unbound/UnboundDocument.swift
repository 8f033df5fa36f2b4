/// A typed document without a client: `StoragePath("users/alice").of(User.self)`.
public struct UnboundDocument<Value: Sendable>: Sendable {
    public let path: StoragePath
    let converter: DocumentConverter<Value>

    /// The document as `storage` reads and writes it.
    public func `in`(_ storage: any StorageClient) -> TypedDocument<Value> {
        TypedDocument(storage: storage, path: path, converter: converter)
    }
}

extension UnboundDocument: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.path == right.path }
    public func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

extension UnboundDocument: CustomStringConvertible, CustomDebugStringConvertible {
    /// The path.
    public var description: String { path.description }
    public var debugDescription: String { "UnboundDocument(\(description))" }
}

extension TypedDocument {
    /// The same document without its client.
    package var unbound: UnboundDocument<Value> { UnboundDocument(path: path, converter: converter) }
}

extension StoragePath {
    /// The document, as a value of a `Codable` type.
    public func of<Value: Codable & Sendable>(
        _ type: Value.Type, by coder: DocumentCoder = .standard
    ) -> UnboundDocument<Value> { UnboundDocument(path: self, converter: DocumentConverter(coder)) }

    /// The document, as a value of a type with its own conversion.
    public func of<Value: DocumentConvertible>(_ type: Value.Type) -> UnboundDocument<Value> {
        UnboundDocument(path: self, converter: .own)
    }

    /// For a type that is both, uses its own conversion.
    public func of<Value: DocumentConvertible & Codable>(_ type: Value.Type) -> UnboundDocument<Value> {
        UnboundDocument(path: self, converter: .own)
    }
}
