import SwitchyardBytes

/// Typed access to members for the decoders. An absent member is `nil`; a wrong type is an error.
extension JSON {
    func members(of what: StaticString) throws(FirestoreFormatError) -> JSONObject {
        guard case .object(let object) = self else { throw FirestoreFormatError("expected an object for \(what)") }
        return object
    }
}

extension JSONObject {
    /// Treats `null` as absent, since some encoders write it for a missing message.
    func present(_ key: String) -> JSON? {
        guard let value = self[key], !value.isNull else { return nil }
        return value
    }

    func string(_ key: String) throws(FirestoreFormatError) -> String? {
        guard let value = present(key) else { return nil }
        guard case .string(let text) = value else { throw FirestoreFormatError("expected a string in “\(key)”") }
        return text
    }

    func requiredString(_ key: String) throws(FirestoreFormatError) -> String {
        guard let text = try string(key) else { throw FirestoreFormatError("a message without “\(key)”") }
        return text
    }

    /// The name in an enumeration, which some clients write as its number.
    func name(_ key: String, among names: [String]) throws(FirestoreFormatError) -> String? {
        guard let number = present(key)?.int else { return try string(key) }
        guard names.indices.contains(number) else { throw FirestoreFormatError("“\(key)” with an unknown number") }
        return names[number]
    }

    /// An integer as a number, or as text, the form for 64-bit integers.
    func integer(_ key: String) throws(FirestoreFormatError) -> Int? {
        guard let value = present(key) else { return nil }
        guard let number = value.int ?? value.string.flatMap({ Int($0) }) else {
            throw FirestoreFormatError("expected a whole number in “\(key)”")
        }
        return number
    }

    func bool(_ key: String) throws(FirestoreFormatError) -> Bool? {
        guard let value = present(key) else { return nil }
        guard case .bool(let flag) = value else { throw FirestoreFormatError("expected a boolean in “\(key)”") }
        return flag
    }

    func array(_ key: String) throws(FirestoreFormatError) -> [JSON] {
        guard let value = present(key) else { return [] }
        guard case .array(let elements) = value else { throw FirestoreFormatError("expected a list in “\(key)”") }
        return elements
    }

    func object(_ key: String) throws(FirestoreFormatError) -> JSONObject? {
        guard let value = present(key) else { return nil }
        guard case .object(let object) = value else { throw FirestoreFormatError("expected an object in “\(key)”") }
        return object
    }

    func targetIDs(_ key: String) throws(FirestoreFormatError) -> [Int] {
        try array(key).map { element throws(FirestoreFormatError) in
            guard let id = element.int else { throw FirestoreFormatError("expected a number for each target") }
            return id
        }
    }

    /// Bytes in base64 with either alphabet, padded or not.
    func bytes(_ key: String) throws(FirestoreFormatError) -> [UInt8]? {
        guard let text = try string(key) else { return nil }
        guard let bytes = JSON.base64(text) else { throw FirestoreFormatError("expected base64 in “\(key)”") }
        return bytes
    }
}

extension JSON {
    static func base64(_ text: String) -> [UInt8]? {
        Base64.decode(text, padding: .optional) ?? Base64.decode(text, alphabet: .url, padding: .optional)
    }

    /// An object whose keys are known to differ.
    static func object(_ key: String, _ value: JSON) -> JSON {
        .object(JSONObject(distinct: [JSONObject.Member(key: key, value: value)]))
    }
}
