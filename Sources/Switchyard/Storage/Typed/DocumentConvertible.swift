/// A type that converts itself to and from document fields, without `Codable`.
///
/// ```swift
/// struct Temperature: DocumentConvertible {
///     var degrees: Double
///
///     init(document: DocumentSnapshot) throws(StorageError) {
///         degrees = try document.required("degrees", \.doubleValue)
///     }
///     func documentFields() -> WriteFields { ["degrees": .of(degrees), "at": .serverTime] }
/// }
/// ```
public protocol DocumentConvertible: Sendable {
    /// Called only with a document that exists.
    init(document: DocumentSnapshot) throws(StorageError)
    /// What is written; may hold transforms.
    func documentFields() throws(StorageError) -> WriteFields
}

extension DocumentSnapshot {
    /// The value at `field` as `kind` takes it, for a ``DocumentConvertible``.
    ///
    /// - Throws: `.codingFailed` naming the field, if it is missing or of another kind.
    public func required<Value>(
        _ field: FieldPath, _ kind: (DocumentValue) -> Value?
    ) throws(StorageError) -> Value {
        guard let value = self[field] else {
            throw StorageError(.codingFailed, "The field “\(field)” of “\(path)” is missing.")
        }
        guard let result = kind(value) else {
            throw StorageError(
                .codingFailed, "The field “\(field)” of “\(path)” has an unexpected type: \(value.kind).")
        }
        return result
    }
}
