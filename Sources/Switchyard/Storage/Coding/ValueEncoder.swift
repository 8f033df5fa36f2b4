import Foundation

/// What all encoders of one document share.
final class EncodingContext {
    var names: KeyNames
    let changesNames: Bool
    let userInfo: [CodingUserInfoKey: Any]
    /// The fields that wait for the time of their commit, by their path.
    var serverTimes: [[String]] = []

    init(_ coder: DocumentCoder) {
        names = KeyNames(coder.keys)
        changesNames = names.changesNames
        userInfo = coder.userInfo
    }

    func fields(of value: some Encodable) throws -> DocumentData {
        let encoder = ValueEncoder(self, under: nil, .name(""))
        switch try encoder.encoded(value) {
        case .map(let data): return data
        default:
            throw encoder.failure(
                CodingFailure(reason: "a document needs fields by name, as a struct or a dictionary has"))
        }
    }
}

/// Encodes one Swift value for a document.
final class ValueEncoder: Encoder {
    let context: EncodingContext
    private let parent: ValueEncoder?
    private let step: CodingStep
    private let depth: Int

    private var content = Content.none
    var entries: [DocumentData.Entry] = []
    var elements: [DocumentValue] = []
    /// Encoders whose values are added at the end, with the positions reserved for them.
    private var pending: [(place: Int, encoder: ValueEncoder)] = []

    private enum Content {
        case none, map, array
        case value(DocumentValue)
        /// A field that is not written, ``DocumentID``.
        case omitted
    }

    /// Far deeper than any document; stops types that encode themselves endlessly.
    private static let maximumDepth = 200

    init(_ context: EncodingContext, under parent: ValueEncoder?, _ step: CodingStep) {
        self.context = context
        self.parent = parent
        self.step = step
        depth = (parent?.depth ?? -1) + 1
    }

    var userInfo: [CodingUserInfoKey: Any] { context.userInfo }
    var convertsKeys: Bool { context.changesNames }

    var codingPath: [any CodingKey] {
        guard let parent else { return [] }
        return parent.codingPath + [step]
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        content = .map
        entries.reserveCapacity(parent == nil ? 16 : 6)
        return KeyedEncodingContainer(KeyedEncoding(self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        content = .array
        return UnkeyedEncoding(self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// The whole of `value`; `nil` if it is not to be written.
    func encoded<Value: Encodable>(_ value: Value) throws -> DocumentValue? {
        if let native = NativeType(Value.self) { return native.encode(value) }
        return try encodedByItself(value)
    }

    private func encodedByItself<Value: Encodable>(_ value: Value) throws -> DocumentValue? {
        guard depth < ValueEncoder.maximumDepth else { throw failure(CodingFailure(reason: "it nests too deeply")) }
        if let elements = try encodedElements(value) { return elements }
        do {
            try value.encode(to: self)
        } catch let error as EncodingError {
            throw error
        } catch let error as StorageError where error.code == .codingFailed {
            throw error
        } catch {
            throw EncodingError.invalidValue(
                (), EncodingError.Context(codingPath: codingPath, debugDescription: "", underlyingError: error))
        }
        return finished()
    }

    /// An array or a dictionary; `nil` for all other values.
    private func encodedElements<Value: Encodable>(_ value: Value) throws -> DocumentValue? {
        guard let type = Elementwise.encodable(Value.self) else { return nil }
        func encoded<Elements: ElementwiseEncodable>(as type: Elements.Type) throws -> DocumentValue {
            try (same(value) as Elements).encoded(by: self)
        }
        return try encoded(as: type)
    }

    /// A value inside this one; `nil` if it is not to be written.
    @inline(__always)
    func encoded<Value: Encodable>(_ value: Value, at step: @autoclosure () -> CodingStep) throws -> DocumentValue? {
        if let native = NativeType(Value.self) { return native.encode(value) }
        return try ValueEncoder(context, under: self, step()).encodedByItself(value)
    }

    private func finished() -> DocumentValue? {
        switch content {
        case .omitted: return nil
        case .value(let value): return value
        case .none: return .map(DocumentData())
        case .array:
            for (place, encoder) in pending { elements[place] = encoder.finished() ?? .null }
            return .array(elements)
        case .map:
            for (place, encoder) in pending.reversed() {
                if let value = encoder.finished() { entries[place].value = value } else { entries.remove(at: place) }
            }
            // Moved out, so that they are sorted in place.
            let fields = entries
            entries = []
            return .map(DocumentData(unsorted: fields))
        }
    }

    /// An encoder for a field, whose value is taken when this one is finished.
    func nested(named name: String) -> ValueEncoder {
        let encoder = ValueEncoder(context, under: self, .name(name))
        pending.append((entries.count, encoder))
        entries.append(DocumentData.Entry(name: name, value: .null))
        return encoder
    }

    /// An encoder for the next element, whose value is taken when this one is finished.
    func nestedElement() -> ValueEncoder {
        let encoder = ValueEncoder(context, under: self, .index(elements.count))
        pending.append((elements.count, encoder))
        elements.append(.null)
        return encoder
    }

    /// Leaves the field out.
    func omit() { content = .omitted }

    /// Leaves the field out, to be written with the time of the commit.
    func omitForServerTime() throws {
        var path: [String] = []
        for step in codingPath {
            guard step.intValue == nil else {
                throw failure(CodingFailure(reason: "an array cannot contain a server time"))
            }
            path.append(step.stringValue)
        }
        context.serverTimes.append(path)
        content = .omitted
    }

    func failure(_ failure: CodingFailure, at step: CodingStep? = nil) -> EncodingError {
        .invalidValue(
            (),
            EncodingError.Context(
                codingPath: codingPath + (step.map { [$0] } ?? []), debugDescription: "", underlyingError: failure))
    }
}

extension ValueEncoder: SingleValueEncodingContainer {
    func encodeNil() { content = .value(.null) }

    func encode<Value: Encodable>(_ value: Value) throws {
        // The same position in the document, so the same encoder: a wrapper adds no level.
        if let native = NativeType(Value.self) {
            content = .value(native.encode(value))
        } else if let elements = try encodedElements(value) {
            content = .value(elements)
        } else {
            try value.encode(to: self)
        }
    }

    func encode(_ value: Bool) { content = .value(.bool(value)) }
    func encode(_ value: String) { content = .value(.string(value)) }
    func encode(_ value: Double) { content = .value(.double(value)) }
    func encode(_ value: Float) { content = .value(.double(Double(value))) }
    func encode(_ value: Int) { content = .value(.integer(Int64(value))) }
    func encode(_ value: Int8) { content = .value(.integer(Int64(value))) }
    func encode(_ value: Int16) { content = .value(.integer(Int64(value))) }
    func encode(_ value: Int32) { content = .value(.integer(Int64(value))) }
    func encode(_ value: Int64) { content = .value(.integer(Int64(value))) }
    func encode(_ value: UInt8) { content = .value(.integer(Int64(value))) }
    func encode(_ value: UInt16) { content = .value(.integer(Int64(value))) }
    func encode(_ value: UInt32) { content = .value(.integer(Int64(value))) }
    func encode(_ value: UInt) throws { content = .value(try fitting(value, at: nil)) }
    func encode(_ value: UInt64) throws { content = .value(try fitting(value, at: nil)) }

    func fitting(_ value: some FixedWidthInteger, at step: CodingStep?) throws -> DocumentValue {
        guard let number = Int64(exactly: value) else {
            throw failure(CodingFailure(reason: "the number is larger than a document can hold"), at: step)
        }
        return .integer(number)
    }
}
