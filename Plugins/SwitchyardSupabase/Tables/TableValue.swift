import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

/// Values in the text form of filters.
enum TableValue {
    /// A single value: text, number, boolean, time, UUID.
    static func text(_ value: some Encodable, for column: String) throws(StorageError) -> String {
        // Text columns may hold UUIDs, too: so the database's spelling is used.
        if let uuid = value as? UUID { return uuid.uuidString.lowercased() }
        switch try parsed(value, for: column) {
        case .string(let text): return text
        case .null:
            throw StorageError(
                .invalidArgument,
                "“\(column)” is compared with null, which matches no row. Use isNull(\"\(column)\").")
        case .array, .object:
            throw StorageError(
                .invalidArgument,
                "“\(column)” is compared with a structured value. Use contains, or a field of it such as "
                    + "\"\(column)->>name\".")
        case let other: return other.text()
        }
    }

    /// An array literal of PostgreSQL: `{"a","b c"}`.
    static func array(_ values: [some Encodable], for column: String) throws(StorageError) -> String {
        var items: [String] = []
        for value in values { items.append(quoted(try text(value, for: column))) }
        return "{\(items.joined(separator: ","))}"
    }

    static func json(_ value: some Encodable, for column: String) throws(StorageError) -> String {
        try parsed(value, for: column).text()
    }

    /// In double quotes, so that commas, dots, colons and parentheses are only text.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for character in text.unicodeScalars {
            if character == "\"" || character == "\\" { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(character)
        }
        return result + "\""
    }

    /// As an element of a list: in double quotes, unless it is plainly a number, a UUID or a word.
    static func listed(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy {
            (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: "_")
        }
        return isPlain && !text.isEmpty ? text : quoted(text)
    }

    private static func parsed(_ value: some Encodable, for column: String) throws(StorageError) -> JSON {
        do {
            return try JSON(parsing: JSONBytesEncoder().encode(value))
        } catch {
            throw StorageError(
                .codingFailed, "The value for “\(column)” cannot be encoded.", isRetryable: false, underlying: error)
        }
    }
}
