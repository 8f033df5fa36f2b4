/// A contact of a person: the document `users/{id}/contacts/{contact}`.
public struct ContactModel: Sendable, Hashable, Identifiable {
    /// The ID of the other person's account, or another unique ID if they have none.
    public let id: String
    public var name: String
    public var email: String?
    public var phoneNumber: String?
    public var note: String?
    /// Whether the contact looks after this person: the providers' rules let them read the person's profile and check-ins. To
    /// notify them when a check-in is missed is up to the app.
    public var isResponder: Bool
    /// Whether this person looks after the contact: the same from the other side.
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
    /// The ID only, to keep people's names and addresses out of logs.
    public var description: String { "ContactModel(\(id))" }
}
