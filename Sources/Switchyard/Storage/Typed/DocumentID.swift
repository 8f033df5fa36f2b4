/// A property that is the document's own name: filled in when a document is read, and never written.
///
/// ```swift
/// struct User: Codable {
///     @DocumentID var id: String?
///     var name: String
/// }
/// ```
/// With `StoragePath` as its type it is the whole path. With other coders, such as `JSONEncoder`, it is an ordinary value.
@propertyWrapper
public struct DocumentID<Value: DocumentIDValue>: Sendable {
    public var wrappedValue: Value?
    public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

/// What a ``DocumentID`` can be.
public protocol DocumentIDValue: Codable, Sendable {
    init(documentPath path: StoragePath)
}

extension String: DocumentIDValue {
    public init(documentPath path: StoragePath) { self = path.id }
}

extension StoragePath: DocumentIDValue {
    public init(documentPath path: StoragePath) { self = path }
}

extension DocumentID: Equatable where Value: Equatable {}
extension DocumentID: Hashable where Value: Hashable {}

extension DocumentID: Codable {
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? ValueDecoder {
            wrappedValue = decoder.context.path.map(Value.init(documentPath:))
        } else if let probe = decoder as? FieldProbe {
            wrappedValue = probe.documentID(Value.self)
        } else {
            let container = try decoder.singleValueContainer()
            wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
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
    /// Chosen by synthesized code: the field is missing in every document, which is no error here.
    public func decode<Value>(_ type: DocumentID<Value>.Type, forKey key: Key) throws -> DocumentID<Value> {
        try DocumentID(from: superDecoder(forKey: key))
    }
}
