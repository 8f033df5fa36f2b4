extension UserModel: DocumentConvertible {
    /// - Returns: `nil` for a document that does not exist. Fields of another type than expected count as missing, and so do
    ///   intervals that no ``CheckInSchedule`` can have.
    public init?(_ document: DocumentSnapshot) {
        guard let data = document.data else { return nil }
        let schedule = CheckInSchedule(
            storedInterval: Self.interval(data[UserFields.checkInInterval]?.doubleValue),
            storedReminder: Self.interval(data[UserFields.reminderInterval]?.doubleValue))
        self.init(
            id: document.id, email: data[UserFields.email]?.stringValue,
            displayName: data[UserFields.displayName]?.stringValue,
            phoneNumber: data[UserFields.phoneNumber]?.stringValue,
            imagePath: data[UserFields.imagePath]?.stringValue.flatMap { try? FilePath(validating: $0) },
            createdAt: data[UserFields.createdAt]?.timestampValue,
            lastCheckInAt: data[UserFields.lastCheckInAt]?.timestampValue,
            checkInInterval: schedule.interval, reminderInterval: schedule.reminder)
    }

    public init(document: DocumentSnapshot) throws(StorageError) { self = try document.model(UserModel.init) }

    /// All fields of the profile that have a value. Merge them: a set would remove the app's own fields.
    public var fields: WriteFields {
        let texts = [
            (UserFields.email, email), (UserFields.displayName, displayName), (UserFields.phoneNumber, phoneNumber),
            (UserFields.imagePath, imagePath?.rawValue),
        ]
        let times = [(UserFields.createdAt, createdAt), (UserFields.lastCheckInAt, lastCheckInAt)]
        var fields: WriteFields = [
            UserFields.checkInInterval: .of(checkInInterval.inSeconds),
            UserFields.reminderInterval: .of(reminderInterval.inSeconds),
        ]
        for case (let name, let text?) in texts { fields[name] = .of(text) }
        for case (let name, let time?) in times { fields[name] = .of(time) }
        return fields
    }

    public func documentFields() -> WriteFields { fields }

    /// Any writer of the document chooses this number, and not every double is a duration.
    private static func interval(_ seconds: Double?) -> Duration? {
        seconds.flatMap { (0...1e9).contains($0) ? .seconds($0) : nil }
    }
}

/// Intervals have no place in queries: a document has them as numbers of seconds.
extension UserModel: FieldNaming {
    public static func field(of property: PartialKeyPath<UserModel>) -> FieldPath? {
        switch property {
        case \.email: "email"
        case \.displayName: "displayName"
        case \.phoneNumber: "phoneNumber"
        case \.imagePath: "imagePath"
        case \.createdAt: "createdAt"
        case \.lastCheckInAt: "lastCheckInAt"
        case \.id: .documentID
        default: nil
        }
    }
}

extension UserModel: Codable {
    private enum CodingKeys: CodingKey {
        case id, email, displayName, phoneNumber, imagePath, createdAt, lastCheckInAt, checkInInterval, reminderInterval
    }

    /// From what ``encode(to:)`` writes, or from the fields of a document, whose name is the ID. Without intervals, the usual
    /// ones apply.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try container.decodeIfPresent(String.self, forKey: key) }
        func time(_ key: CodingKeys) throws -> Timestamp? { try container.decodeIfPresent(Timestamp.self, forKey: key) }
        func interval(_ key: CodingKeys) throws -> Duration? {
            Self.interval(try container.decodeIfPresent(Double.self, forKey: key))
        }
        self.init(
            id: try container.decode(DocumentID<String>.self, forKey: .id).wrappedValue, email: try text(.email),
            displayName: try text(.displayName), phoneNumber: try text(.phoneNumber),
            imagePath: try text(.imagePath).map { try FilePath(validating: $0) }, createdAt: try time(.createdAt),
            lastCheckInAt: try time(.lastCheckInAt),
            checkInInterval: try interval(.checkInInterval) ?? Self.defaultCheckInInterval,
            reminderInterval: try interval(.reminderInterval) ?? Self.defaultReminderInterval)
    }

    /// Intervals are numbers of seconds, as in the document.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(DocumentID(id), forKey: .id)
        try container.encodeIfPresent(email, forKey: .email)
        try container.encodeIfPresent(displayName, forKey: .displayName)
        try container.encodeIfPresent(phoneNumber, forKey: .phoneNumber)
        try container.encodeIfPresent(imagePath?.rawValue, forKey: .imagePath)
        try container.encodeIfPresent(createdAt, forKey: .createdAt)
        try container.encodeIfPresent(lastCheckInAt, forKey: .lastCheckInAt)
        try container.encode(checkInInterval.inSeconds, forKey: .checkInInterval)
        try container.encode(reminderInterval.inSeconds, forKey: .reminderInterval)
    }
}
