import Foundation
import SwitchyardBytes
import Synchronization

/// Decodes a provider's settings and records every key that the type asks for, so that an unknown key becomes an error that
/// suggests the nearest known name, instead of being silently ignored.
struct ConfigurationDecoder {
    let json: JSON
    /// The place of `json` in the whole configuration.
    let path: [String]
    /// The values of `${NAME}`.
    let environment: [String: String]

    func decode<Value: Decodable>(_ type: Value.Type) throws(ConfigurationProblem) -> Value {
        let ledger = Ledger()
        do {
            let value = try Value(from: Node(json: json, codingPath: [], root: self, ledger: ledger))
            if let problem = ledger.unknownKeys(in: json, at: []) { throw located(problem) }
            return value
        } catch let problem as ConfigurationProblem {
            throw problem
        } catch let error as DecodingError {
            throw located(problem(for: error, type, ledger))
        } catch {
            throw ConfigurationProblem(path: path, found: "a value its type refuses", expected: "\(error)")
        }
    }

    private func located(_ problem: ConfigurationProblem) -> ConfigurationProblem {
        var problem = problem
        problem.path = path + problem.path
        return problem
    }

    private func problem<Value: Decodable>(
        for error: DecodingError, _ type: Value.Type, _ ledger: Ledger
    ) -> ConfigurationProblem {
        func names(_ path: [any CodingKey]) -> [String] { path.map(\.stringValue) }
        switch error {
        case .keyNotFound(let key, let context):
            // A required setting is missing; perhaps its name is misspelled.
            let container = names(context.codingPath)
            let unknown = ledger.unknownKey(like: key.stringValue, in: json, at: container)
            if unknown == nil, var other = unknownKey(in: type) {
                let missing = (container + [key.stringValue]).joined(separator: ".")
                other.expected += "; the required setting “\(missing)” is missing"
                return other
            }
            return ConfigurationProblem(
                path: container + [unknown ?? key.stringValue],
                found: unknown == nil ? "nothing\(others(at: container))" : "an unknown key",
                expected: "the required setting “\(key.stringValue)”",
                suggestion: unknown == nil ? nil : key.stringValue)
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            return ConfigurationProblem(
                path: names(context.codingPath), found: kind(at: names(context.codingPath)),
                expected: context.debugDescription)
        case .dataCorrupted(let context):
            return ConfigurationProblem(
                path: names(context.codingPath), found: kind(at: names(context.codingPath)),
                expected: context.debugDescription)
        @unknown default:
            return ConfigurationProblem(path: [], found: "something", expected: "something else")
        }
    }

    /// A key that `type` never asks for, found by supplying made-up values for everything that is missing.
    ///
    /// - Returns: `nil` also if the type rejects made-up values: then it is unknown what else it would have asked for.
    private func unknownKey<Value: Decodable>(in type: Value.Type) -> ConfigurationProblem? {
        let ledger = Ledger(makesUpValues: true)
        let node = Node(json: json, codingPath: [], root: self, ledger: ledger)
        guard (try? Value(from: node)) != nil else { return nil }
        return ledger.unknownKeys(in: json, at: [])
    }

    /// The keys that are present instead of the missing one.
    private func others(at path: [String]) -> String {
        var value: JSON? = json
        for name in path { value = value?[name] }
        let keys = (value?.object?.keys ?? []).map { "“\($0)”" }.sorted()
        return keys.isEmpty ? "" : " beside \(keys.joined(separator: ", "))"
    }

    private func kind(at path: [String]) -> String {
        var value: JSON? = json
        for name in path { value = value?[name] ?? Int(name).flatMap { index in value?[index] } }
        return value?.kindForPeople ?? "nothing"
    }

    /// The keys that each object was asked for.
    fileprivate final class Ledger: Sendable {
        private let asked = Mutex<[[String]: Set<String>]>([:])
        /// Objects that were read as a dictionary: there every key is known.
        private let open = Mutex<Set<[String]>>([])
        /// Whether missing values are made up, so that the type asks for every key.
        let makesUpValues: Bool

        init(makesUpValues: Bool = false) { self.makesUpValues = makesUpValues }

        func note(_ key: String, at path: [String]) { asked.withLock { _ = $0[path, default: []].insert(key) } }
        func noteAll(at path: [String]) { open.withLock { _ = $0.insert(path) } }

        func unknownKeys(in json: JSON, at path: [String]) -> ConfigurationProblem? {
            guard let object = json.object else { return nil }
            let known = asked.withLock { $0[path] }
            guard let known, !open.withLock({ $0.contains(path) }) else { return nil }
            for member in object {
                if !known.contains(member.key) {
                    return ConfigurationProblem(
                        path: path + [member.key], found: "an unknown key",
                        expected: "one of \(known.sorted().joined(separator: ", "))",
                        suggestion: ConfigurationProblem.nearest(to: member.key, in: known))
                }
                if let problem = unknownKeys(in: member.value, at: path + [member.key]) { return problem }
            }
            return nil
        }

        func unknownKey(like name: String, in json: JSON, at path: [String]) -> String? {
            var value: JSON? = json
            for name in path { value = value?[name] }
            let known = asked.withLock { $0[path] } ?? []
            let unknown = (value?.object?.keys ?? []).filter { !known.contains($0) }
            return ConfigurationProblem.nearest(to: name, in: unknown)
        }
    }

    fileprivate struct Node: Decoder, SingleValueDecodingContainer {
        let json: JSON
        let codingPath: [any CodingKey]
        let root: ConfigurationDecoder
        let ledger: Ledger
        /// Whether it stands for something that is missing.
        var isMadeUp = false

        var userInfo: [CodingUserInfoKey: Any] { [Secret.environmentKey: root.environment] }
        var names: [String] { codingPath.map(\.stringValue) }

        /// `value` in place of what is missing.
        func madeUp<Value>(_ value: Value) -> Value? { isMadeUp ? value : nil }

        func mismatch(_ expected: String) -> DecodingError {
            .typeMismatch(JSON.self, .init(codingPath: codingPath, debugDescription: expected))
        }

        func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
            guard let object = json.object ?? madeUp(JSONObject()) else { throw mismatch("an object") }
            return KeyedDecodingContainer(Keyed<Key>(object: object, node: self))
        }

        func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
            guard let elements = json.array ?? madeUp([]) else { throw mismatch("an array") }
            return Unkeyed(elements: elements, node: self)
        }

        func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

        func decodeNil() -> Bool { json.isNull }
        func decode(_ type: Bool.Type) throws -> Bool {
            guard let truth = json.bool ?? madeUp(false) else { throw mismatch("true or false") }
            return truth
        }
        func decode(_ type: String.Type) throws -> String {
            guard let text = json.string ?? madeUp("") else { throw mismatch("a string") }
            return try variable(text) ?? text
        }
        func decode(_ type: Double.Type) throws -> Double {
            guard let number = json.double ?? madeUp(0) else { throw mismatch("a number") }
            return number
        }
        func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
        func decode(_ type: Int.Type) throws -> Int { try integer() }
        func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
        func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
        func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
        func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
        func decode(_ type: UInt.Type) throws -> UInt { try integer() }
        func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
        func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
        func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
        func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            switch type {
            case is Secret.Type:
                // Its own decoding resolves `${NAME}`, so that it can be written back.
                guard let text = json.string ?? madeUp("") else { throw mismatch("a string, best “${NAME}”") }
                _ = try variable(text)
                return try Value(from: SecretNode(node: self))
            case is URL.Type: return try address() as! Value  // the case says that Value is URL
            default: return try Value(from: self)
            }
        }

        private func address() throws -> URL {
            if isMadeUp { return URL(fileURLWithPath: "/") }
            guard json.string != nil else { throw mismatch("an address") }
            let text = try decode(String.self)
            guard let url = URL(string: text), url.scheme != nil || text.hasPrefix("/") else {
                throw mismatch("an address, such as “https://example.com”")
            }
            return url
        }

        /// The value of the variable that the text names, if any.
        private func variable(_ text: String) throws -> String? {
            guard let name = Secret.variable(in: text) else { return nil }
            guard let value = root.environment[name], !value.isEmpty else {
                if ledger.makesUpValues { return "" }
                throw ConfigurationProblem.unset(name, at: root.path + names)
            }
            return value
        }

        private func integer<Value: FixedWidthInteger>() throws -> Value {
            guard let number = json.int64 ?? madeUp(0), let value = Value(exactly: number) else {
                let range = Value.bitWidth < 64 ? " from \(Value.min) to \(Value.max)" : ""
                throw mismatch("a whole number\(range)")
            }
            return value
        }
    }

    /// A node whose text is passed on unchanged, including `${NAME}`.
    private struct SecretNode: Decoder, SingleValueDecodingContainer {
        let node: Node
        var codingPath: [any CodingKey] { node.codingPath }
        var userInfo: [CodingUserInfoKey: Any] { node.userInfo }
        func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
            try node.container(keyedBy: type)
        }
        func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try node.unkeyedContainer() }
        func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
        func decodeNil() -> Bool { false }
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            guard let text = node.json.string ?? node.madeUp(""), let value = text as? Value else {
                throw node.mismatch("a string")
            }
            return value
        }
    }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let object: JSONObject
        let node: Node

        var codingPath: [any CodingKey] { node.codingPath }
        var allKeys: [Key] {
            node.ledger.noteAll(at: node.names)
            return object.keys.compactMap { Key(stringValue: $0) }
        }

        private func child(_ key: any CodingKey) throws -> Node {
            guard let json = object[note(key)] else {
                if node.ledger.makesUpValues {
                    return Node(
                        json: .null, codingPath: codingPath + [key], root: node.root, ledger: node.ledger,
                        isMadeUp: true)
                }
                throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "missing"))
            }
            return Node(json: json, codingPath: codingPath + [key], root: node.root, ledger: node.ledger)
        }

        private func note(_ key: any CodingKey) -> String {
            node.ledger.note(key.stringValue, at: node.names)
            return key.stringValue
        }

        func contains(_ key: Key) -> Bool { object[note(key)] != nil }
        func decodeNil(forKey key: Key) throws -> Bool { try child(key).json.isNull }
        func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try child(key).decode(type) }
        func decode(_ type: String.Type, forKey key: Key) throws -> String { try child(key).decode(type) }
        func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try child(key).decode(type) }
        func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try child(key).decode(type) }
        func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try child(key).decode(type) }
        func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try child(key).decode(type) }
        func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try child(key).decode(type) }
        func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try child(key).decode(type) }
        func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try child(key).decode(type) }
        func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try child(key).decode(type) }
        func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try child(key).decode(type) }
        func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try child(key).decode(type) }
        func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try child(key).decode(type) }
        func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try child(key).decode(type) }
        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            try child(key).decode(type)
        }
        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> { try child(key).container(keyedBy: type) }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try child(key).unkeyedContainer()
        }
        func superDecoder() throws -> any Decoder { node }
        func superDecoder(forKey key: Key) throws -> any Decoder { try child(key) }
    }

    private struct Unkeyed: UnkeyedDecodingContainer {
        let elements: [JSON]
        let node: Node
        var currentIndex = 0

        var codingPath: [any CodingKey] { node.codingPath }
        var count: Int? { elements.count }
        var isAtEnd: Bool { currentIndex == elements.count }

        private struct Index: CodingKey {
            let intValue: Int?
            init(_ index: Int) { intValue = index }
            init?(intValue: Int) { self.init(intValue) }
            init?(stringValue: String) { nil }
            var stringValue: String { "\(intValue ?? 0)" }
        }

        private mutating func next() throws -> Node {
            guard !isAtEnd else {
                throw DecodingError.valueNotFound(
                    JSON.self, .init(codingPath: codingPath, debugDescription: "more elements"))
            }
            defer { currentIndex += 1 }
            return Node(
                json: elements[currentIndex], codingPath: codingPath + [Index(currentIndex)], root: node.root,
                ledger: node.ledger)
        }

        mutating func decodeNil() throws -> Bool {
            guard !isAtEnd, elements[currentIndex].isNull else { return false }
            currentIndex += 1
            return true
        }
        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().decode(type) }
        mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
            try next().container(keyedBy: type)
        }
        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
        mutating func superDecoder() throws -> any Decoder { try next() }
    }
}

extension JSON {
    /// The kind of value, with an article; never the value, which may be a misplaced secret.
    var kindForPeople: String {
        switch self {
        case .null: "null"
        case .bool: "a truth value"
        case .integer: "a whole number"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
