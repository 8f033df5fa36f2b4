/// Codes arrays, and dictionaries with string keys, element by element. Their own `Codable` code uses a boxed container,
/// whose generic parts cost more than the elements. Dictionary keys are data, which no strategy changes.
enum Elementwise {
    /// `nil` for all other types.
    @inline(__always)
    static func decodable<Value>(_ type: Value.Type) -> (any ElementwiseDecodable.Type)? {
        // Both are one word, and a cast is expensive.
        guard MemoryLayout<Value>.size == MemoryLayout<Int>.size else { return nil }
        return type as? any ElementwiseDecodable.Type
    }

    /// `nil` for all other types.
    @inline(__always)
    static func encodable<Value>(_ type: Value.Type) -> (any ElementwiseEncodable.Type)? {
        guard MemoryLayout<Value>.size == MemoryLayout<Int>.size else { return nil }
        return type as? any ElementwiseEncodable.Type
    }
}

protocol ElementwiseDecodable {
    /// - Parameter decoder: That of the whole array or dictionary.
    static func decoded(by decoder: ValueDecoder) throws -> Self
}

protocol ElementwiseEncodable {
    /// - Parameter encoder: That of the whole array or dictionary.
    func encoded(by encoder: ValueEncoder) throws -> DocumentValue
}

extension Array: ElementwiseDecodable where Element: Decodable {
    static func decoded(by decoder: ValueDecoder) throws -> [Element] {
        let values = try decoder.elements()
        return try Array(unsafeUninitializedCapacity: values.count) { elements, count in
            for value in values {
                let element = try decoder.decode(Element.self, from: value, at: .index(count))
                elements.initializeElement(at: count, to: element)
                count += 1
            }
        }
    }
}

extension Array: ElementwiseEncodable where Element: Encodable {
    func encoded(by encoder: ValueEncoder) throws -> DocumentValue {
        var values: [DocumentValue] = []
        values.reserveCapacity(count)
        for element in self {
            // Leaving out an element would shift those after it.
            values.append(try encoder.encoded(element, at: .index(values.count)) ?? .null)
        }
        return .array(values)
    }
}

extension Dictionary: ElementwiseDecodable where Key == String, Value: Decodable {
    static func decoded(by decoder: ValueDecoder) throws -> [String: Value] {
        let fields = try decoder.fields()
        var result = Dictionary(minimumCapacity: fields.count)
        for entry in fields.entries {
            result[entry.name] = try decoder.decode(Value.self, from: entry.value, at: .name(entry.name))
        }
        return result
    }
}

extension Dictionary: ElementwiseEncodable where Key == String, Value: Encodable {
    func encoded(by encoder: ValueEncoder) throws -> DocumentValue {
        var entries: [DocumentData.Entry] = []
        entries.reserveCapacity(count)
        for (name, value) in self {
            guard let value = try encoder.encoded(value, at: .name(name)) else { continue }
            entries.append(DocumentData.Entry(name: name, value: value))
        }
        return .map(DocumentData(unsorted: entries))
    }
}
