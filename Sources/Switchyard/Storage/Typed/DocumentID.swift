/// A property that is the document's own name: filled in when a document is read, and never written.
///
/// ```swift
/// struct User: Codable, Identifiable {
///     @DocumentID var id: String
///     var name: String
/// }
/// let alice = User(name: "Alice")        // its id is empty until it comes from a document
/// ```
/// As `String?` it is `nil` until then; as `StoragePath` it is the whole path. Adding a value to a collection gives the
/// document a new name, whatever the property contains. For other coders, such as `JSONEncoder`, it is an ordinary value.
///
/// To pass an ID that is not a literal, write `User(id: DocumentID(id), name: name)`, or declare the property as `@DocumentID
/// var id = ""`.
@propertyWrapper
public struct DocumentID<Value: DocumentIDValue>: Sendable {
    public var wrappedValue: Value
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    public init(_ value: Value) { wrappedValue = value }
    /// For a value that does not come from a document.
    public init() { wrappedValue = .noDocumentID }
}

/// A type that a ``DocumentID`` can have.
public protocol DocumentIDValue: Codable, Sendable {
    init(documentPath path: StoragePath)
    /// For a value that does not come from a document.
    static var noDocumentID: Self { get }
}

extension String: DocumentIDValue {
    public init(documentPath path: StoragePath) { self = path.id }
    public static var noDocumentID: String { "" }
}

extension StoragePath: DocumentIDValue {
    public init(documentPath path: StoragePath) { self = path }
    /// An invalid path, which every operation refuses.
    public static var noDocumentID: StoragePath { StoragePath(segments: []) }
}

extension Optional: DocumentIDValue where Wrapped: DocumentIDValue {
    public init(documentPath path: StoragePath) { self = Wrapped(documentPath: path) }
    public static var noDocumentID: Wrapped? { nil }
}

extension DocumentID: Equatable where Value: Equatable {}
extension DocumentID: Hashable where Value: Hashable {}

extension DocumentID: ExpressibleByUnicodeScalarLiteral, ExpressibleByExtendedGraphemeClusterLiteral,
    ExpressibleByStringLiteral
where Value: ExpressibleByDocumentIDLiteral {
    public init(stringLiteral value: String) { wrappedValue = Value(documentIDLiteral: value) }
}

extension DocumentID: ExpressibleByNilLiteral where Value: ExpressibleByNilLiteral {
    public init(nilLiteral: ()) { wrappedValue = nil }
}

/// Allows a literal in place of a ``DocumentID``: `User(id: "alice", name: "Alice")`.
public protocol ExpressibleByDocumentIDLiteral: DocumentIDValue {
    init(documentIDLiteral text: String)
}

extension String: ExpressibleByDocumentIDLiteral {
    public init(documentIDLiteral text: String) { self = text }
}

extension Optional: ExpressibleByDocumentIDLiteral where Wrapped: ExpressibleByDocumentIDLiteral {
    public init(documentIDLiteral text: String) { self = Wrapped(documentIDLiteral: text) }
}

extension DocumentID: Codable {
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? ValueDecoder {
            wrappedValue = decoder.context.path.map(Value.init(documentPath:)) ?? .noDocumentID
        } else if let probe = decoder as? FieldProbe {
            wrappedValue = probe.documentID(Value.self)
        } else {
            let container = try decoder.singleValueContainer()
            wrappedValue = container.decodeNil() ? .noDocumentID : try container.decode(Value.self)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? ValueEncoder {
            encoder.omit()
        } else {
            var container = encoder.singleValueContainer()
            try container.encode(wrappedValue)
        }
    }
}

extension KeyedDecodingContainer {
    /// Synthesized code calls this: the field is missing in every document, which is not an error here.
    public func decode<Value>(_ type: DocumentID<Value>.Type, forKey key: Key) throws -> DocumentID<Value> {
        try DocumentID(from: superDecoder(forKey: key))
    }
}
