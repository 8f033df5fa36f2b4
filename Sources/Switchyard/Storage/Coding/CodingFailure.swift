/// Why a value and a document do not fit each other, without revealing their contents.
struct CodingFailure: Error {
    let reason: String

    static func found(_ value: DocumentValue, expected: String) -> CodingFailure {
        CodingFailure(reason: "expected \(expected), found \(value.kindName)")
    }

    static func storageError(
        _ error: any Error, decoding type: Any.Type, at path: StoragePath?
    ) -> StorageError {
        if let error = error as? StorageError { return error }
        let (fields, reason, cause) = describe(error)
        let place = path.map { " of “\($0)”" } ?? ""
        return StorageError(
            .codingFailed,
            fields.isEmpty
                ? "The document\(path.map { " “\($0)”" } ?? "") cannot be decoded as \(type): \(reason)."
                : "The field “\(fields)”\(place) does not fit \(type): \(reason).",
            underlying: cause)
    }

    static func storageError(_ error: any Error, encoding type: Any.Type) -> StorageError {
        if let error = error as? StorageError { return error }
        let (fields, reason, cause) = describe(error)
        return StorageError(
            .codingFailed,
            fields.isEmpty
                ? "\(type) cannot be written as a document: \(reason)."
                : "The field “\(fields)” of \(type) cannot be written: \(reason).",
            underlying: cause)
    }

    /// Messages of foreign errors are never used, because they quote the data.
    private static func describe(_ error: any Error) -> (fields: String, reason: String, cause: (any Error)?) {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            return (text(context.codingPath + [key]), "it is missing", nil)
        case DecodingError.valueNotFound(_, let context):
            return describe(context, "it is null", nil)
        case DecodingError.typeMismatch(let type, let context):
            return describe(context, "it is not of the type \(type)", nil)
        case DecodingError.dataCorrupted(let context):
            return describe(context, "its value is not accepted", context.underlyingError)
        case EncodingError.invalidValue(_, let context):
            let failure = context.underlyingError as? CodingFailure
            return (
                text(context.codingPath), failure?.reason ?? "its value is not accepted",
                failure == nil ? context.underlyingError : nil
            )
        default: return ("", "its own code failed", error)
        }
    }

    private static func describe(
        _ context: DecodingError.Context, _ reason: String, _ cause: (any Error)?
    ) -> (String, String, (any Error)?) {
        let failure = context.underlyingError as? CodingFailure
        return (text(context.codingPath), failure?.reason ?? reason, failure == nil ? cause : nil)
    }

    /// `address.lines[2]`
    private static func text(_ path: [any CodingKey]) -> String {
        path.reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + FieldPath(unchecked: [key.stringValue]).description
            }
        }
    }
}

/// A step of a coding path: a field as it is called in the document, or a place in an array.
enum CodingStep: CodingKey {
    case name(String)
    case index(Int)

    init(stringValue: String) { self = .name(stringValue) }
    init(intValue: Int) { self = .index(intValue) }

    var stringValue: String {
        switch self {
        case .name(let name): name
        case .index(let index): "\(index)"
        }
    }

    var intValue: Int? { if case .index(let index) = self { index } else { nil } }
}
