extension ContactModel: DocumentConvertible {
    /// - Returns: `nil` for a document that does not exist. Fields of another type than expected count as missing.
    public init?(_ document: DocumentSnapshot) {
        guard let data = document.data else { return nil }
        self.init(
            id: document.id, name: data["name"]?.stringValue ?? "", email: data["email"]?.stringValue,
            phoneNumber: data["phoneNumber"]?.stringValue, note: data["note"]?.stringValue,
            isResponder: data["isResponder"]?.boolValue ?? false, isDependent: data["isDependent"]?.boolValue ?? false,
            addedAt: data["addedAt"]?.timestampValue)
    }

    public init(document: DocumentSnapshot) throws(StorageError) { self = try document.model(ContactModel.init) }

    /// All fields of the document that have a value.
    public var fields: WriteFields {
        var fields = describingFields
        if let addedAt { fields["addedAt"] = .of(addedAt) }
        return fields
    }

    public func documentFields() -> WriteFields { fields }

    /// All known fields except the time of adding.
    var describingFields: WriteFields {
        WriteFields(optionals.compactMap { name, value in value.map { (name, FieldValue.value($0)) } })
    }

    /// All fields except the time of adding; unknown ones are removed.
    var updates: FieldUpdates {
        FieldUpdates(optionals.map { (FieldPath(unchecked: [$0.0]), $0.1.map(FieldValue.value) ?? .delete) })
    }

    private var optionals: [(String, DocumentValue?)] {
        [
            ("name", .string(name)), ("email", email.map(DocumentValue.string)),
            ("phoneNumber", phoneNumber.map(DocumentValue.string)), ("note", note.map(DocumentValue.string)),
            ("isResponder", .bool(isResponder)), ("isDependent", .bool(isDependent)),
        ]
    }

    static func collection(of id: AuthUser.ID) -> CollectionPath {
        UserFields.path(id).collection("contacts")
    }
}

extension ContactModel: FieldNaming {
    public static func field(of property: PartialKeyPath<ContactModel>) -> FieldPath? {
        switch property {
        case \.name: "name"
        case \.email: "email"
        case \.phoneNumber: "phoneNumber"
        case \.note: "note"
        case \.isResponder: "isResponder"
        case \.isDependent: "isDependent"
        case \.addedAt: "addedAt"
        case \.id: .documentID
        default: nil
        }
    }
}

extension ContactModel: Codable {
    private enum CodingKeys: CodingKey {
        case id, name, email, phoneNumber, note, isResponder, isDependent, addedAt
    }

    /// From what ``encode(to:)`` writes, or from the fields of a document, whose name is the ID.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try container.decodeIfPresent(String.self, forKey: key) }
        func flag(_ key: CodingKeys) throws -> Bool { try container.decodeIfPresent(Bool.self, forKey: key) ?? false }
        self.init(
            id: try container.decode(DocumentID<String>.self, forKey: .id).wrappedValue, name: try text(.name) ?? "",
            email: try text(.email), phoneNumber: try text(.phoneNumber), note: try text(.note),
            isResponder: try flag(.isResponder), isDependent: try flag(.isDependent),
            addedAt: try container.decodeIfPresent(Timestamp.self, forKey: .addedAt))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(DocumentID(id), forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encodeIfPresent(email, forKey: .email)
        try container.encodeIfPresent(phoneNumber, forKey: .phoneNumber)
        try container.encodeIfPresent(note, forKey: .note)
        try container.encode(isResponder, forKey: .isResponder)
        try container.encode(isDependent, forKey: .isDependent)
        try container.encodeIfPresent(addedAt, forKey: .addedAt)
    }
}
