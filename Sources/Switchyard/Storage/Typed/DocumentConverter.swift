/// Both ways between documents and values of one type, and the fields of its properties.
struct DocumentConverter<Value: Sendable>: Sendable {
    /// Called only with documents that exist.
    let decode: @Sendable (DocumentSnapshot) throws(StorageError) -> Value
    /// Makes a function that decodes many documents, one after the other, at less cost than ``decode``.
    let decoder: @Sendable () -> (DocumentSnapshot) throws(StorageError) -> Value
    let encode: @Sendable (Value) throws(StorageError) -> WriteFields
    /// The field that a property stands for.
    let field: @Sendable (PartialKeyPath<Value>) throws(StorageError) -> FieldPath
    /// How a property's value stands in a field.
    var coder = DocumentCoder.standard

    /// A property's value, to compare with or to write.
    func operand(_ value: some Encodable) throws(StorageError) -> DocumentValue { try coder.value(of: value) }
}

extension DocumentConverter where Value: Decodable {
    /// For what is only read: a value that cannot be encoded is refused when it is to be written.
    init(reading type: Value.Type, by coder: DocumentCoder) {
        self.init(
            decode: { document throws(StorageError) in
                try coder.decode(type, from: document.data ?? DocumentData(), at: document.path)
            },
            decoder: { Self.decoder(by: coder) },
            encode: { value throws(StorageError) in
                guard let value = value as? any Encodable else {
                    throw .invalid("\(type) is not Encodable, so a value of it cannot be written.")
                }
                return try coder.encode(value)
            },
            field: { property throws(StorageError) in try FieldLookup.field(of: property, by: coder) }, coder: coder)
    }

    fileprivate static func decoder(by coder: DocumentCoder) -> (DocumentSnapshot) throws(StorageError) -> Value {
        let decoder = DocumentDecoder(Value.self, by: coder)
        return { document throws(StorageError) in
            try decoder.decode(document.data ?? DocumentData(), at: document.path)
        }
    }
}

extension DocumentConverter where Value: Codable {
    init(_ coder: DocumentCoder) {
        self.init(
            decode: { document throws(StorageError) in
                try coder.decode(Value.self, from: document.data ?? DocumentData(), at: document.path)
            },
            decoder: { Self.decoder(by: coder) },
            encode: { value throws(StorageError) in try coder.encode(value) },
            field: { property throws(StorageError) in try FieldLookup.field(of: property, by: coder) }, coder: coder)
    }
}

extension DocumentConverter where Value: DocumentConvertible {
    static var own: DocumentConverter {
        DocumentConverter(
            decode: { document throws(StorageError) in try Value(document: document) },
            decoder: { { document throws(StorageError) in try Value(document: document) } },
            encode: { value throws(StorageError) in try value.documentFields() },
            field: { property throws(StorageError) in try FieldLookup.field(namedFor: property) })
    }
}
