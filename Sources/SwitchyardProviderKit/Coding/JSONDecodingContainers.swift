import SwitchyardBytes

/// The members of an object.
struct JSONKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let document: JSONDecodingDocument
    let object: Int

    var codingPath: [any CodingKey] { document.path(to: object) }

    var allKeys: [Key] {
        document.keys(of: object).compactMap { Key(stringValue: document.string(at: $0)) }
    }

    @inline(__always)
    private func find(_ key: Key) -> Int? { document.value(of: key.stringValue, in: object) }

    private func place(of key: Key) throws -> Int {
        guard let place = find(key) else {
            throw DecodingError.keyNotFound(key, document.context("There is no such key.", at: object))
        }
        return place
    }

    /// The place of a value that may be missing or `null`.
    private func present(_ key: Key) -> Int? {
        guard let place = find(key), document.kind(at: place) != .null else { return nil }
        return place
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { document.kind(at: try place(of: key)) == .null }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try document.bool(at: place(of: key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try document.string(type, at: place(of: key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try document.double(at: place(of: key)) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try document.float(at: place(of: key)) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try document.integer(type, at: place(of: key)) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try document.integer(type, at: place(of: key)) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try document.integer(type, at: place(of: key)) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try document.integer(type, at: place(of: key)) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try document.integer(type, at: place(of: key)) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try document.integer(type, at: place(of: key)) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try document.integer(type, at: place(of: key)) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try document.integer(type, at: place(of: key))
    }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try document.integer(type, at: place(of: key))
    }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try document.integer(type, at: place(of: key))
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let place = try place(of: key)
        defer { document.returned(from: place, in: object) }
        return try document.decode(type, at: place)
    }

    // The common types have their own methods, which look up the key only once.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try present(key).map { try document.bool(at: $0) }
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try present(key).map { try document.string(type, at: $0) }
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try present(key).map { try document.double(at: $0) }
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try present(key).map { try document.integer(type, at: $0) }
    }
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let place = present(key) else { return nil }
        defer { document.returned(from: place, in: object) }
        return try document.decode(type, at: place)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try node(at: place(of: key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try node(at: place(of: key)).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        guard let place = document.value(of: "super", in: object) else {
            throw DecodingError.keyNotFound(JSONKey("super"), document.context("There is no such key.", at: object))
        }
        return node(at: place)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { node(at: try place(of: key)) }

    private func node(at place: Int) -> JSONNodeDecoder { JSONNodeDecoder(document: document, place: place) }
}

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
