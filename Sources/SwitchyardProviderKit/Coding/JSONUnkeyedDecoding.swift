import SwitchyardBytes

/// The elements of an array, in order.
struct JSONUnkeyedDecoding: UnkeyedDecodingContainer {
    private let document: JSONDecodingDocument
    private let array: Int
    private var place: Int
    private(set) var currentIndex = 0

    init(document: JSONDecodingDocument, array: Int) {
        self.document = document
        self.array = array
        place = array + 1
    }

    var codingPath: [any CodingKey] { document.path(to: array) }
    var count: Int? { document.elements(of: array).count }
    var isAtEnd: Bool { place == document.end(of: array) }

    /// Decodes the next element with `read`, and advances only if that succeeds.
    @inline(__always)
    private mutating func next<Value>(_ type: Any.Type, _ read: (Int) throws -> Value) throws -> Value {
        guard !isAtEnd else {
            var context = document.context("The array has no further element.", at: array)
            context = DecodingError.Context(
                codingPath: context.codingPath + [JSONKey(index: currentIndex)],
                debugDescription: context.debugDescription)
            throw DecodingError.valueNotFound(type, context)
        }
        let value = try read(place)
        place = document.end(of: place)
        currentIndex += 1
        return value
    }

    private mutating func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        try next(type) { [document] in try document.integer(type, at: $0) }
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd else { return try next(Never.self) { _ in false } }
        guard document.kind(at: place) == .null else { return false }
        return try next(Never.self) { _ in true }
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        try next(type) { [document] in try document.bool(at: $0) }
    }
    mutating func decode(_ type: String.Type) throws -> String {
        try next(type) { [document] in try document.string(type, at: $0) }
    }
    mutating func decode(_ type: Double.Type) throws -> Double {
        try next(type) { [document] in try document.double(at: $0) }
    }
    mutating func decode(_ type: Float.Type) throws -> Float {
        try next(type) { [document] in try document.float(at: $0) }
    }
    mutating func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try next(type) { [document] in try document.decode(type, at: $0) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try next(type) { [document] in
            try JSONNodeDecoder(document: document, place: $0).container(keyedBy: type)
        }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next([Any].self) { [document] in
            try JSONNodeDecoder(document: document, place: $0).unkeyedContainer()
        }
    }

    mutating func superDecoder() throws -> any Decoder {
        try next((any Decoder).self) { [document] in
            JSONNodeDecoder(document: document, place: $0)
        }
    }
}
