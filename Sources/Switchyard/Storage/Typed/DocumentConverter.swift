/// Both ways between documents and values of one type.
struct DocumentConverter<Value: Sendable>: Sendable {
    /// Called only with documents that exist.
    let decode: @Sendable (DocumentSnapshot) throws(StorageError) -> Value
    let encode: @Sendable (Value) throws(StorageError) -> WriteFields
}

extension DocumentConverter where Value: Codable {
    init(_ coder: DocumentCoder) {
        self.init(
            decode: { document throws(StorageError) in
                try coder.decode(Value.self, from: document.data ?? DocumentData(), at: document.path)
            },
            encode: { value throws(StorageError) in try coder.encode(value) })
    }
}

extension DocumentConverter where Value: DocumentConvertible {
    static var own: DocumentConverter {
        DocumentConverter(
            decode: { document throws(StorageError) in try Value(document: document) },
            encode: { value throws(StorageError) in try value.documentFields() })
    }
}
