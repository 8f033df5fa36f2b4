import Foundation

/// Turns any `Codable` type into the fields of a document, and back.
///
/// ```swift
/// struct User: Codable {
///     @DocumentID var id: String?
///     var name: String
///     var born: Date
///     @ServerTimestamp var changed: Date?
/// }
/// try await storage.setDocument("users/alice", from: User(name: "Alice", born: Date()))
/// let alice = try await storage.document("users/alice", as: User.self)
/// ```
///
/// Dates are timestamps, `Data` is bytes, a `URL` is text, a ``StoragePath`` is a reference; a `Decimal` is a double, or text if
/// it has more than 15 digits. ``Timestamp``, ``GeoPoint``, ``DocumentReference``, ``DocumentValue`` and ``DocumentData`` stay
/// what they are. Whole numbers decode as fractions, and the other way round, if nothing is lost; otherwise decoding throws, as
/// for 2⁵³ + 1 and a `Double`. A `nil` optional is left out, so a merge does not touch its field. Other types are what their own
/// coding makes of them: a `Duration` becomes an array of two numbers.
public struct DocumentCoder: Sendable {
    /// How property names become field names. Dictionary keys are never changed.
    public enum KeyStrategy: Sendable {
        case asIs
        /// `lastSeenAt` becomes the field `last_seen_at`.
        case snakeCase
        /// Converts a property's name to its field's name. Different names must stay different.
        case custom(@Sendable (String) -> String)
    }

    public var keys: KeyStrategy
    /// Passed to `init(from:)` and `encode(to:)` of coded types.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    public init(keys: KeyStrategy = .asIs, userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.keys = keys
        self.userInfo = userInfo
    }

    public static let standard = DocumentCoder()

    /// The fields of `value`, to be written.
    ///
    /// - Throws: `.codingFailed` naming the field that no document can hold.
    public func encode(_ value: some Encodable) throws(StorageError) -> WriteFields {
        try write(value) { data, fields in fields ?? WriteFields(data) }
    }

    /// What is needed to write `value`: its plain fields, or, if some wait for the server's time, the fields including those.
    func write<Result>(
        _ value: some Encodable, _ make: (DocumentData, WriteFields?) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let (data, serverTimes) = try encoded(value)
        guard !serverTimes.isEmpty else { return try make(data, nil) }
        var fields = WriteFields(data)
        for path in serverTimes { fields.insertServerTime(at: path[...]) }
        return try make(data, fields)
    }

    /// The fields of `value` that are known locally: one that waits for its server time is left out.
    public func data(from value: some Encodable) throws(StorageError) -> DocumentData {
        try encoded(value).data
    }

    /// `value` as a field's value, to compare with or to write; null for a `nil` optional.
    ///
    /// - Throws: `.codingFailed` if no field can hold it.
    public func value(of value: some Encodable) throws(StorageError) -> DocumentValue {
        do {
            return try ValueEncoder(EncodingContext(self), under: nil, .name("")).encoded(value) ?? .null
        } catch {
            throw CodingFailure.storageError(error, encoding: type(of: value))
        }
    }

    private func encoded(_ value: some Encodable) throws(StorageError) -> (data: DocumentData, serverTimes: [[String]])
    {
        let context = EncodingContext(self)
        do {
            return (try context.fields(of: value), context.serverTimes)
        } catch {
            throw CodingFailure.storageError(error, encoding: type(of: value))
        }
    }

    /// Decodes fields to a value. `path` says where they come from, for ``DocumentID`` and for error messages.
    ///
    /// - Throws: `.codingFailed` naming the field that does not fit.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from data: DocumentData, at path: StoragePath? = nil
    ) throws(StorageError) -> Value {
        do {
            return try DecodingContext(self, path).value(type, from: data)
        } catch {
            throw CodingFailure.storageError(error, decoding: type, at: path)
        }
    }

    /// The document as a value; `nil` if it does not exist.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from document: DocumentSnapshot
    ) throws(StorageError) -> Value? {
        guard let data = document.data else { return nil }
        return try decode(type, from: data, at: document.path)
    }
}

/// Decodes documents one after the other, which costs less than each by itself.
final class DocumentDecoder<Value: Decodable> {
    private let coder: DocumentCoder
    private var context: DecodingContext

    init(_ type: Value.Type, by coder: DocumentCoder) {
        self.coder = coder
        context = DecodingContext(coder, nil, isForMany: true)
    }

    /// - Throws: `.codingFailed` naming the field that does not fit.
    func decode(_ data: DocumentData, at path: StoragePath) throws(StorageError) -> Value {
        // A value may have kept its decoder, which still needs its own.
        if !isKnownUniquelyReferenced(&context) { context = DecodingContext(coder, nil, isForMany: true) }
        context.move(to: path)
        do {
            return try context.value(Value.self, from: data)
        } catch {
            throw CodingFailure.storageError(error, decoding: Value.self, at: path)
        }
    }
}

extension DocumentSnapshot {
    /// The document as a value; `nil` if it does not exist.
    ///
    /// - Throws: `.codingFailed` naming the field that does not fit.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, by coder: DocumentCoder = .standard
    ) throws(StorageError) -> Value? {
        try coder.decode(type, from: self)
    }
}

extension QuerySnapshot {
    /// All results as values, in order.
    ///
    /// - Throws: `.codingFailed` naming the first document that does not fit, and its field.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, by coder: DocumentCoder = .standard
    ) throws(StorageError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(count)
        let decoder = DocumentDecoder(type, by: coder)
        for document in documents {
            if let data = document.data { values.append(try decoder.decode(data, at: document.path)) }
        }
        return values
    }
}

extension DocumentData {
    /// These fields as a value.
    ///
    /// - Throws: `.codingFailed` naming the field that does not fit.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, by coder: DocumentCoder = .standard
    ) throws(StorageError) -> Value {
        try coder.decode(type, from: self)
    }
}

extension WriteFields {
    /// The fields of `value`.
    ///
    /// - Throws: `.codingFailed` naming the field that no document can hold.
    public init(encoding value: some Encodable, by coder: DocumentCoder = .standard) throws(StorageError) {
        self = try coder.encode(value)
    }

    fileprivate mutating func insertServerTime(at path: ArraySlice<String>) {
        guard let name = path.first else { return }
        let rest = path.dropFirst()
        guard !rest.isEmpty else {
            self[name] = .serverTime
            return
        }
        var inner: WriteFields =
            switch self[name] {
            case .value(.map(let data)): WriteFields(data)
            case .fields(let fields): fields
            default: [:]
            }
        inner.insertServerTime(at: rest)
        self[name] = .fields(inner)
    }
}
