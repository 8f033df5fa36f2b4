public import Foundation

/// A property that the server sets to the time of the commit whenever it is written as `nil`.
///
/// ```swift
/// struct Message: Codable {
///     var text: String
///     @ServerTimestamp var sentAt: Date?
/// }
/// ```
/// Until the server has answered, reads return this device's estimate.
@propertyWrapper
public struct ServerTimestamp<Value: ServerTimestampValue>: Sendable {
    public var wrappedValue: Value?
    public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

/// A type that a ``ServerTimestamp`` can have: `Date` or ``Timestamp``.
public protocol ServerTimestampValue: Codable, Sendable {}
extension Date: ServerTimestampValue {}
extension Timestamp: ServerTimestampValue {}

extension ServerTimestamp: Equatable where Value: Equatable {}
extension ServerTimestamp: Hashable where Value: Hashable {}

extension ServerTimestamp: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    public func encode(to encoder: any Encoder) throws {
        if wrappedValue == nil, let encoder = encoder as? ValueEncoder {
            try encoder.omitForServerTime()
        } else {
            var container = encoder.singleValueContainer()
            try container.encode(wrappedValue)
        }
    }
}

extension KeyedDecodingContainer {
    /// Synthesized code calls this: a document without the field has no time yet.
    public func decode<Value>(_ type: ServerTimestamp<Value>.Type, forKey key: Key) throws -> ServerTimestamp<Value> {
        ServerTimestamp(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
    }
}
