/// A contact of a user: the document `users/{id}/contacts/{contact}`.
public struct ContactModel: Sendable, Hashable, Identifiable {
    /// The ID of the contact's account, or another unique ID if the contact has none.
    public let id: String
    public var name: String
    public var email: String?
    public var phoneNumber: String?
    public var note: String?
    /// Whether the contact looks after the user: rules and policies let the contact read the user's profile and check-ins. The
    /// app itself has to notify the contact when a check-in is missed.
    public var isResponder: Bool
    /// Whether the user looks after the contact: the same from the other side.
    public var isDependent: Bool
    public var addedAt: Timestamp?

    public init(
        id: String, name: String, email: String? = nil, phoneNumber: String? = nil, note: String? = nil,
        isResponder: Bool = false, isDependent: Bool = false, addedAt: Timestamp? = nil
    ) {
        self.id = id
        self.name = name
        self.email = email
        self.phoneNumber = phoneNumber
        self.note = note
        self.isResponder = isResponder
        self.isDependent = isDependent
        self.addedAt = addedAt
    }
}

extension ContactModel: CustomStringConvertible {
    /// The ID only, to keep names and email addresses out of logs.
    public var description: String { "ContactModel(\(id))" }
}
