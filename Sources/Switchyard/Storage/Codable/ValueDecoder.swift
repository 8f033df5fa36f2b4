import Foundation

/// What all decoders of one document share.
final class DecodingContext {
    var names: KeyNames
    let changesNames: Bool
    let userInfo: [CodingUserInfoKey: Any]
    let path: StoragePath?

    init(_ coder: DocumentCoder, _ path: StoragePath?) {
        names = KeyNames(coder.keys)
        changesNames = names.changesNames
        userInfo = coder.userInfo
        self.path = path
    }

    func value<Value: Decodable>(_ type: Value.Type, from data: DocumentData) throws -> Value {
        try ValueDecoder(.map(data), self, under: nil, .name("")).decode(type)
    }
}

/// One value on its way into a Swift type. Also the link by which a path of fields is found when something does not fit.
final class ValueDecoder: Decoder {
    let value: DocumentValue
    let context: DecodingContext
    /// Whether names are changed here; those of a dictionary never are.
    let convertsKeys: Bool
    private let parent: ValueDecoder?
    private let step: CodingStep
    private let depth: Int

    /// Far more than a document can be deep; stops types that decode themselves without end.
    private static let maximumDepth = 200

    init(
        _ value: DocumentValue, _ context: DecodingContext, under parent: ValueDecoder?, _ step: CodingStep,
        keepsKeys: Bool = false
    ) {
        self.value = value
        self.context = context
        convertsKeys = context.changesNames && !keepsKeys
        self.parent = parent
        self.step = step
        depth = (parent?.depth ?? -1) + 1
    }

    var userInfo: [CodingUserInfoKey: Any] { context.userInfo }

    var codingPath: [any CodingKey] {
        guard let parent else { return [] }
        return parent.codingPath + [step]
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .map(let data) = value else { throw mismatch(expected: "a map") }
        return KeyedDecodingContainer(KeyedDecoding(self, data))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        switch value {
        case .array(let elements): return UnkeyedDecoding(self, elements)
        case .vector(let numbers): return UnkeyedDecoding(self, numbers.map { .double($0) })
        default: throw mismatch(expected: "an array")
        }
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    /// The value as `type`: natively where documents have such a value, else by the type's own code.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do throws(CodingFailure) {
            if let native = try NativeValues.decode(type, from: value) { return native }
        } catch {
            throw located(error, at: nil)
        }
        return try decodeByItself(type)
    }

    private func decodeByItself<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard depth < ValueDecoder.maximumDepth else {
            throw located(CodingFailure(reason: "it nests too deeply"), at: nil)
        }
        var decoder = self
        if convertsKeys, type is any TextKeyedDictionary.Type {
            decoder = ValueDecoder(value, context, under: parent, step, keepsKeys: true)
        }
        do {
            return try type.init(from: decoder)
        } catch let error as DecodingError {
            throw error
        } catch let error as StorageError where error.code == .codingFailed {
            throw error
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: codingPath, debugDescription: "", underlyingError: error))
        }
    }

    func mismatch(expected: String) -> DecodingError { located(.found(value, expected: expected), at: nil) }

    /// A value inside of this one as `type`.
    @inline(__always)
    func decode<Value: Decodable>(_ type: Value.Type, from inner: DocumentValue, at step: CodingStep) throws -> Value {
        do throws(CodingFailure) {
            if let native = try NativeValues.decode(type, from: inner) { return native }
        } catch {
            throw located(error, at: step)
        }
        return try ValueDecoder(inner, context, under: self, step).decodeByItself(type)
    }

    /// A plain value inside of this one.
    @inline(__always)
    func unbox<Value>(
        _ inner: DocumentValue, at step: @autoclosure () -> CodingStep,
        _ take: (DocumentValue) throws(CodingFailure) -> Value
    ) throws -> Value {
        do throws(CodingFailure) {
            return try take(inner)
        } catch {
            throw located(error, at: step())
        }
    }

    func located(_ failure: CodingFailure, at step: CodingStep?) -> DecodingError {
        .typeMismatch(
            Any.self,
            DecodingError.Context(
                codingPath: codingPath + (step.map { [$0] } ?? []), debugDescription: "", underlyingError: failure))
    }
}

extension ValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value.isNull }
    func decode(_ type: Bool.Type) throws -> Bool { try own(Unboxing.bool) }
    func decode(_ type: String.Type) throws -> String { try own(Unboxing.string) }
    func decode(_ type: Double.Type) throws -> Double { try own(Unboxing.double) }
    func decode(_ type: Float.Type) throws -> Float { try own(Unboxing.float) }
    func decode(_ type: Int.Type) throws -> Int { try own(Unboxing.integer) }
    func decode(_ type: Int8.Type) throws -> Int8 { try own(Unboxing.integer) }
    func decode(_ type: Int16.Type) throws -> Int16 { try own(Unboxing.integer) }
    func decode(_ type: Int32.Type) throws -> Int32 { try own(Unboxing.integer) }
    func decode(_ type: Int64.Type) throws -> Int64 { try own(Unboxing.integer) }
    func decode(_ type: UInt.Type) throws -> UInt { try own(Unboxing.integer) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try own(Unboxing.integer) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try own(Unboxing.integer) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try own(Unboxing.integer) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try own(Unboxing.integer) }

    private func own<Value>(_ take: (DocumentValue) throws(CodingFailure) -> Value) throws -> Value {
        do throws(CodingFailure) {
            return try take(value)
        } catch {
            throw located(error, at: nil)
        }
    }
}
