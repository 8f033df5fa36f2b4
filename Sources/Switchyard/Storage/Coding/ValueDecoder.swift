import Foundation

/// What all decoders of one document share, and those of documents that are decoded one after the other.
final class DecodingContext {
    var names: KeyNames
    let changesNames: Bool
    let userInfo: [CodingUserInfoKey: Any]
    private(set) var path: StoragePath?
    // Used within one call at a time.
    @exclusivity(unchecked) private var places = FieldPlaces()
    private let isForMany: Bool

    init(_ coder: DocumentCoder, _ path: StoragePath?, isForMany: Bool = false) {
        names = KeyNames(coder.keys)
        changesNames = names.changesNames
        userInfo = coder.userInfo
        self.path = path
        self.isForMany = isForMany
    }

    /// Goes on to another document.
    func move(to path: StoragePath?) {
        self.path = path
        places.startOver()
    }

    /// The value of a field.
    func value(of name: String, in data: DocumentData) -> DocumentValue? {
        isForMany ? places.value(of: name, in: data) : data[name]
    }

    func value<Value: Decodable>(_ type: Value.Type, from data: DocumentData) throws -> Value {
        try ValueDecoder(.map(data), self, under: nil, .name("")).decode(type)
    }
}

/// Where the fields were that were looked up, in that order: most of the next document's are there, too.
private struct FieldPlaces {
    private var places: [Int] = []
    private var lookUps = 0
    private static let limit = 256

    mutating func startOver() { lookUps = 0 }

    mutating func value(of name: String, in data: DocumentData) -> DocumentValue? {
        let turn = lookUps
        lookUps += 1
        if turn < places.count, let value = data.value(at: places[turn], ifCalled: name) { return value }
        let place = data.place(of: name)
        if turn < places.count {
            places[turn] = place ?? places[turn]
        } else if turn < Self.limit {
            places.append(place ?? 0)
        }
        // No conditional expression: in one, `nil` would be read as the value null.
        guard let place else { return nil }
        return data.entries[place].value
    }
}

/// Decodes one value to a Swift type. The chain of decoders also gives the field path if something does not fit.
final class ValueDecoder: Decoder {
    let value: DocumentValue
    let context: DecodingContext
    var convertsKeys: Bool { context.changesNames }
    private let parent: ValueDecoder?
    private let step: CodingStep
    private let depth: Int

    /// Far deeper than any document; stops types that decode themselves endlessly.
    private static let maximumDepth = 200

    init(_ value: DocumentValue, _ context: DecodingContext, under parent: ValueDecoder?, _ step: CodingStep) {
        self.value = value
        self.context = context
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
        KeyedDecodingContainer(KeyedDecoding(self, try fields()))
    }

    /// The value as that of a map.
    func fields() throws -> DocumentData {
        guard case .map(let data) = value else { throw mismatch(expected: "a map") }
        return data
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { UnkeyedDecoding(self, try elements()) }

    /// The value as that of an array.
    func elements() throws -> [DocumentValue] {
        switch value {
        case .array(let elements): return elements
        case .vector(let numbers): return numbers.map { .double($0) }
        default: throw mismatch(expected: "an array")
        }
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    /// The value as `type`: natively if documents have such a value, else by the type's own code.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let native = NativeType(type), !native.isInParts(in: value) else { return try decodeByItself(type) }
        return try own { (value) throws(CodingFailure) in try native.decode(type, from: value) }
    }

    private func decodeByItself<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard depth < ValueDecoder.maximumDepth else {
            throw located(CodingFailure(reason: "it nests too deeply"), at: nil)
        }
        if let type = Elementwise.decodable(type) {
            func decode<Elements: ElementwiseDecodable>(_ type: Elements.Type) throws -> Value {
                same(try Elements.decoded(by: self))
            }
            return try decode(type)
        }
        do {
            return try type.init(from: self)
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

    /// A value inside this one as `type`.
    @inline(__always)
    func decode<Value: Decodable>(
        _ type: Value.Type, from inner: DocumentValue, at step: @autoclosure () -> CodingStep
    ) throws -> Value {
        guard let native = NativeType(type), !native.isInParts(in: inner) else {
            return try ValueDecoder(inner, context, under: self, step()).decodeByItself(type)
        }
        return try unbox(inner, at: step()) { (value) throws(CodingFailure) in
            try native.decode(type, from: value)
        }
    }

    /// A plain value inside this one.
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
