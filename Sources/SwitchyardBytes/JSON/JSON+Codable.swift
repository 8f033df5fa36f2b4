/// Allows a type to have a member of any kind. `JSONBytesDecoder` and `JSONBytesEncoder` handle this type specially; other
/// coders are asked for each kind in turn, which is slow, and order the members of objects as they like.
extension JSON: Codable {
    package init(from decoder: any Decoder) throws {
        // A wrong guess makes other decoders create an error, so the most likely kinds come first.
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let members = try? value.decode([String: JSON].self) {
            self = .object(JSONObject(members.lazy.map { (key: $0.key, value: $0.value) }))
        } else if let elements = try? value.decode([JSON].self) {
            self = .array(elements)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else {
            self = .bool(try value.decode(Bool.self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let object):
            var members = encoder.container(keyedBy: JSONKey.self)
            for member in object { try members.encode(member.value, forKey: JSONKey(member.key)) }
        case .array(let array):
            var elements = encoder.unkeyedContainer()
            for element in array { try elements.encode(element) }
        case .string(let text): try encodeOne(text, to: encoder)
        case .integer(let integer): try encodeOne(integer, to: encoder)
        case .number(let number): try encodeOne(number, to: encoder)
        case .bool(let bool): try encodeOne(bool, to: encoder)
        case .null:
            var value = encoder.singleValueContainer()
            try value.encodeNil()
        }
    }

    private func encodeOne(_ value: some Encodable, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// A key with any text, or an index in an array.
package struct JSONKey: CodingKey {
    package let stringValue: String
    package let intValue: Int?

    package init(_ text: String) {
        stringValue = text
        intValue = nil
    }

    package init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    package init?(stringValue: String) { self.init(stringValue) }
    package init?(intValue: Int) { self.init(index: intValue) }
}
