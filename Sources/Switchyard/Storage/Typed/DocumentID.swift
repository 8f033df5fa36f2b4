public import Foundation

/// A property that is the document's own name: filled in when a document is read, and never written.
///
/// ```swift
/// struct User: Codable, Identifiable {
///     @DocumentID var id: String
///     var name: String
/// }
/// let alice = User(name: "Alice")        // its id is empty until it comes from a document
/// ```
/// As `String?` it is `nil` until then; as `StoragePath` it is the whole path. As `UUID`, `Int` or `Int64` it fits only
/// documents with such names, for example rows of a table with such a key; until then it is zero, or `nil` as an optional.
/// Adding a value to a collection gives the document a new name, whatever the property contains. For other coders, such as
/// `JSONEncoder`, it is an ordinary value.
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
    /// - Throws: Any error if the name does not fit; reading the document then fails with `.codingFailed`.
    init(documentPath path: StoragePath) throws
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

extension UUID: DocumentIDValue {
    public init(documentPath path: StoragePath) throws {
        guard let id = UUID(uuidString: path.id) else {
            throw CodingFailure(reason: "the document's name is not a UUID")
        }
        self = id
    }
    /// All zeros.
    public static var noDocumentID: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}

extension Int64: DocumentIDValue {
    public init(documentPath path: StoragePath) throws { self = try number(namedBy: path) }
    public static var noDocumentID: Int64 { 0 }
}

extension Int: DocumentIDValue {
    public init(documentPath path: StoragePath) throws { self = try number(namedBy: path) }
    public static var noDocumentID: Int { 0 }
}

/// Only the spelling that a number has as a name, so that the document is found again.
private func number<Number: FixedWidthInteger>(namedBy path: StoragePath) throws -> Number {
    let name = path.id
    guard let number = Number(name), String(number) == name else {
        throw CodingFailure(reason: "the document's name is not a whole number of the type \(Number.self)")
    }
    return number
}

extension Optional: DocumentIDValue where Wrapped: DocumentIDValue {
    public init(documentPath path: StoragePath) throws { self = try Wrapped(documentPath: path) }
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
            do {
                wrappedValue = try decoder.context.path.map { try Value(documentPath: $0) } ?? .noDocumentID
            } catch {
                let failure = error as? CodingFailure
                throw decoder.located(
                    failure ?? CodingFailure(reason: "\(Value.self) does not accept the document's name"), at: nil)
            }
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
