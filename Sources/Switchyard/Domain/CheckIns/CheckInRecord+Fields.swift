extension CheckInRecord: DocumentConvertible {
    /// - Returns: `nil` for a document that does not exist, or does not say who checked in and when.
    public init?(_ document: DocumentSnapshot) {
        guard let data = document.data, let user = data["userID"]?.stringValue,
            let time = data["checkedInAt"]?.timestampValue
        else { return nil }
        self.init(
            id: document.id, userID: user, checkedInAt: time, recordedAt: data["recordedAt"]?.timestampValue)
    }

    public init(document: DocumentSnapshot) throws(StorageError) { self = try document.model(CheckInRecord.init) }

    /// The fields of the document. The server sets the time of recording if there is none.
    public var fields: WriteFields {
        [
            "userID": .of(userID), "checkedInAt": .of(checkedInAt),
            "recordedAt": recordedAt.map { .of($0) } ?? .serverTime,
        ]
    }

    public func documentFields() -> WriteFields { fields }
}

extension CheckInRecord: FieldNaming {
    public static func field(of property: PartialKeyPath<CheckInRecord>) -> FieldPath? {
        switch property {
        case \.userID: "userID"
        case \.checkedInAt: "checkedInAt"
        case \.recordedAt: "recordedAt"
        case \.id: .documentID
        default: nil
        }
    }
}

extension CheckInRecord: Codable {
    private enum CodingKeys: CodingKey { case id, userID, checkedInAt, recordedAt }

    /// From what ``encode(to:)`` writes, or from the fields of a document, whose name is the ID.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try container.decode(DocumentID<String>.self, forKey: .id).wrappedValue,
            userID: try container.decode(String.self, forKey: .userID),
            checkedInAt: try container.decode(Timestamp.self, forKey: .checkedInAt),
            recordedAt: try container.decodeIfPresent(Timestamp.self, forKey: .recordedAt))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(DocumentID(id), forKey: .id)
        try container.encode(userID, forKey: .userID)
        try container.encode(checkedInAt, forKey: .checkedInAt)
        try container.encodeIfPresent(recordedAt, forKey: .recordedAt)
    }
}
