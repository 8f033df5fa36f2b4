extension NotificationModel: DocumentConvertible {
    /// - Returns: `nil` for a document that does not exist, or does not say when it was sent.
    public init?(_ document: DocumentSnapshot) {
        guard let data = document.data, let sentAt = data["sentAt"]?.timestampValue else { return nil }
        self.init(
            id: document.id, title: data["title"]?.stringValue ?? "", body: data["body"]?.stringValue ?? "",
            kind: data["kind"]?.stringValue, sentAt: sentAt, isRead: data["isRead"]?.boolValue ?? false)
    }

    public init(document: DocumentSnapshot) throws(StorageError) { self = try document.model(NotificationModel.init) }

    /// The fields of a new notification, for the sender.
    public var fields: WriteFields {
        [
            "title": .of(title), "body": .of(body), "kind": .of(kind), "sentAt": .of(sentAt), "isRead": .of(isRead),
            "isDeleted": false,
        ]
    }

    public func documentFields() -> WriteFields { fields }
}

extension NotificationModel: FieldNaming {
    public static func field(of property: PartialKeyPath<NotificationModel>) -> FieldPath? {
        switch property {
        case \.title: "title"
        case \.body: "body"
        case \.kind: "kind"
        case \.sentAt: "sentAt"
        case \.isRead: "isRead"
        case \.id: .documentID
        default: nil
        }
    }
}

extension NotificationModel: Codable {
    private enum CodingKeys: CodingKey { case id, title, body, kind, sentAt, isRead }

    /// From what ``encode(to:)`` writes, or from the fields of a document, whose name is the ID.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try container.decode(DocumentID<String>.self, forKey: .id).wrappedValue,
            title: try container.decodeIfPresent(String.self, forKey: .title) ?? "",
            body: try container.decodeIfPresent(String.self, forKey: .body) ?? "",
            kind: try container.decodeIfPresent(String.self, forKey: .kind),
            sentAt: try container.decode(Timestamp.self, forKey: .sentAt),
            isRead: try container.decodeIfPresent(Bool.self, forKey: .isRead) ?? false)
    }

    /// For a document, ``fields`` also says that it is not deleted.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(DocumentID(id), forKey: .id)
        try container.encode(title, forKey: .title)
        try container.encode(body, forKey: .body)
        try container.encodeIfPresent(kind, forKey: .kind)
        try container.encode(sentAt, forKey: .sentAt)
        try container.encode(isRead, forKey: .isRead)
    }
}
