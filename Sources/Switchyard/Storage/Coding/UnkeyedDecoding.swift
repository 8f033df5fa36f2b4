/// The elements of an array, one after the other.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
    private let decoder: ValueDecoder
    private let elements: [DocumentValue]
    private(set) var currentIndex = 0

    init(_ decoder: ValueDecoder, _ elements: [DocumentValue]) {
        self.decoder = decoder
        self.elements = elements
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    /// The current element. Advances only after a successful decode, so that another type can be tried.
    @inline(__always)
    private func element() throws -> DocumentValue {
        guard currentIndex < elements.count else {
            throw decoder.located(
                CodingFailure(reason: "the array has only \(elements.count) elements"), at: .index(currentIndex))
        }
        return elements[currentIndex]
    }

    @inline(__always)
    private mutating func next<Value>(_ take: (DocumentValue) throws(CodingFailure) -> Value) throws -> Value {
        let value = try decoder.unbox(element(), at: .index(currentIndex), take)
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard try element().isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try decoder.decode(type, from: element(), at: .index(currentIndex))
        currentIndex += 1
        return value
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try next(Unboxing.bool) }
    mutating func decode(_ type: String.Type) throws -> String { try next(Unboxing.string) }
    mutating func decode(_ type: Double.Type) throws -> Double { try next(Unboxing.double) }
    mutating func decode(_ type: Float.Type) throws -> Float { try next(Unboxing.float) }
    mutating func decode(_ type: Int.Type) throws -> Int { try next(Unboxing.integer) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next(Unboxing.integer) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next(Unboxing.integer) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next(Unboxing.integer) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next(Unboxing.integer) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try next(Unboxing.integer) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next(Unboxing.integer) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next(Unboxing.integer) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next(Unboxing.integer) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next(Unboxing.integer) }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let container = try inner().container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try inner().unkeyedContainer()
        currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try inner()
        currentIndex += 1
        return decoder
    }

    private func inner() throws -> ValueDecoder {
        try ValueDecoder(element(), decoder.context, under: decoder, .index(currentIndex))
    }
}
