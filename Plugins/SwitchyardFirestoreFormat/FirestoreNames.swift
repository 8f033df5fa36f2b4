import Foundation
package import Switchyard
import SwitchyardBytes

/// A database, with the conversion between resource names and paths.
///
/// Coding values requires a database, since references contain full names. References within this database become plain paths;
/// those to another one keep its name as their origin.
package struct FirestoreDatabase: Sendable, Hashable {
    package let project: String
    package let database: String
    /// `projects/P/databases/D`
    package let name: String
    /// `projects/P/databases/D/documents`, the parent of all top-level collections.
    package let root: String

    package init(project: String, database: String = "(default)") {
        self.project = project
        self.database = database
        name = "projects/\(project)/databases/\(database)"
        root = name + "/documents"
    }

    package func resourceName(of path: StoragePath) -> String { "\(root)/\(path.rawValue)" }

    /// The parent of a query: the document that contains its collections, or the root.
    package func resourceName(ofParent path: StoragePath?) -> String { path.map(resourceName) ?? root }

    /// The path for a document's resource name.
    ///
    /// - Throws: Also for a name in another database, since it is never a document here.
    package func path(ofName name: String) throws(FirestoreFormatError) -> StoragePath {
        guard let rest = suffix(of: name) else { throw FirestoreFormatError("a document's name in another database") }
        return try FirestoreDatabase.documentPath(rest)
    }

    /// The parent of a query, `nil` for the root.
    package func parent(ofName name: String) throws(FirestoreFormatError) -> StoragePath? {
        name.utf8Equals(root) ? nil : try path(ofName: name)
    }

    package func resourceName(of reference: DocumentReference) -> String {
        guard let origin = reference.origin else { return resourceName(of: reference.path) }
        return "\(origin)/documents/\(reference.path.rawValue)"
    }

    /// A reference value, either within this database or with another one's name.
    package func reference(ofName name: String) throws(FirestoreFormatError) -> DocumentReference {
        if let rest = suffix(of: name) { return DocumentReference(try FirestoreDatabase.documentPath(rest)) }
        let segments = name.split(separator: "/", maxSplits: 5, omittingEmptySubsequences: false)
        guard segments.count == 6, segments[0] == "projects", segments[2] == "databases", segments[4] == "documents",
            !segments[1].isEmpty, !segments[3].isEmpty
        else { throw FirestoreFormatError("a reference that is not a full document name") }
        return DocumentReference(
            try FirestoreDatabase.documentPath(String(segments[5])),
            origin: "projects/\(segments[1])/databases/\(segments[3])")
    }

    /// The part after the root and a slash; `nil` for other names. Compares bytes, since it runs for every document.
    private func suffix(of name: String) -> String? {
        var name = name
        var root = root
        return name.withUTF8 { name in
            root.withUTF8 { root in
                guard name.count > root.count + 1, memcmp(name.baseAddress!, root.baseAddress!, root.count) == 0,
                    name[root.count] == UInt8(ascii: "/")
                else { return nil }
                return String(decoding: UnsafeBufferPointer(rebasing: name[(root.count + 1)...]), as: UTF8.self)
            }
        }
    }

    /// Servers send valid names, so this checks only what the rest of the program relies on.
    private static func documentPath(_ text: String) throws(FirestoreFormatError) -> StoragePath {
        var slashes = 0
        var previous = UInt8(ascii: "/")
        for byte in text.utf8 {
            if byte == UInt8(ascii: "/") {
                if previous == byte { throw FirestoreFormatError("a document name with an empty segment") }
                slashes += 1
            }
            previous = byte
        }
        guard slashes % 2 == 1, previous != UInt8(ascii: "/") else {
            throw FirestoreFormatError("a document name that leads to a collection")
        }
        return StoragePath(unchecked: text)
    }
}

/// Field paths use the format of ``FieldPath/description``: dotted, with backticks where needed.
extension FieldPath {
    package init(firestore text: String) throws(FirestoreFormatError) {
        guard FieldPath.quotesAllButIdentifiers(text) else {
            throw FirestoreFormatError("a field path with a name that has to be in backticks")
        }
        do throws(StorageError) {
            try self.init(validating: text)
        } catch {
            throw FirestoreFormatError("a field path that is malformed")
        }
    }

    /// The portable API takes more names without quotes than the service does.
    private static func quotesAllButIdentifiers(_ text: String) -> Bool {
        var isQuoted = false
        var isEscaped = false
        var isFirst = true
        for byte in text.utf8 {
            if isQuoted {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "`") {
                    isQuoted = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "."):
                isFirst = true
                continue
            case UInt8(ascii: "`"): isQuoted = true
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): break
            case UInt8(ascii: "0")...UInt8(ascii: "9"): if isFirst { return false }
            default: return false
            }
            isFirst = false
        }
        return true
    }
}

/// Why a text is not valid in Firestore's JSON. Names the part, but never its contents, which may be from a user's document.
package struct FirestoreFormatError: Error, Hashable, CustomStringConvertible {
    /// The problem, as the end of a sentence: "expected a string in “name”", "a write without an operation".
    package let message: String

    package init(_ message: String) { self.message = message }

    package var description: String { "Unreadable Firestore data: \(message)" + (message.hasSuffix(".") ? "" : ".") }
}

extension FirestoreFormatError {
    /// Converts an error of the portable API's validation, since what it refuses cannot be read.
    static func checking<T>(_ body: () throws(StorageError) -> T) throws(FirestoreFormatError) -> T {
        do throws(StorageError) {
            return try body()
        } catch {
            throw FirestoreFormatError(error.message)
        }
    }
}

/// Typed access to members for the decoders. An absent member is `nil`; a wrong type is an error.
extension JSON {
    func members(of what: StaticString) throws(FirestoreFormatError) -> JSONObject {
        guard case .object(let object) = self else { throw FirestoreFormatError("expected an object for \(what)") }
        return object
    }
}

extension JSONObject {
    /// Treats `null` as absent, since some encoders write it for a missing message.
    func nonNull(_ key: String) -> JSON? {
        guard let value = self[key], !value.isNull else { return nil }
        return value
    }

    func string(_ key: String) throws(FirestoreFormatError) -> String? {
        guard let value = nonNull(key) else { return nil }
        guard case .string(let text) = value else { throw FirestoreFormatError("expected a string in “\(key)”") }
        return text
    }

    func requiredString(_ key: String) throws(FirestoreFormatError) -> String {
        guard let text = try string(key) else { throw FirestoreFormatError("a message without “\(key)”") }
        return text
    }

    /// The name in an enumeration, which some clients write as its number.
    func name(_ key: String, among names: [String]) throws(FirestoreFormatError) -> String? {
        guard let number = nonNull(key)?.int else { return try string(key) }
        guard names.indices.contains(number) else { throw FirestoreFormatError("“\(key)” with an unknown number") }
        return names[number]
    }

    /// An integer as a number, or as text, the form for 64-bit integers.
    func integer(_ key: String) throws(FirestoreFormatError) -> Int? {
        guard let value = nonNull(key) else { return nil }
        guard let number = value.int ?? value.string.flatMap({ Int($0) }) else {
            throw FirestoreFormatError("expected a whole number in “\(key)”")
        }
        return number
    }

    func bool(_ key: String) throws(FirestoreFormatError) -> Bool? {
        guard let value = nonNull(key) else { return nil }
        guard case .bool(let flag) = value else { throw FirestoreFormatError("expected a boolean in “\(key)”") }
        return flag
    }

    func array(_ key: String) throws(FirestoreFormatError) -> [JSON] {
        guard let value = nonNull(key) else { return [] }
        guard case .array(let elements) = value else { throw FirestoreFormatError("expected a list in “\(key)”") }
        return elements
    }

    func object(_ key: String) throws(FirestoreFormatError) -> JSONObject? {
        guard let value = nonNull(key) else { return nil }
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
