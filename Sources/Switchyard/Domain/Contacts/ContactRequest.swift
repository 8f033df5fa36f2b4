/// Another user's request to be on this user's list: the document `users/{id}/contactRequests/{other}`.
public struct ContactRequest: Sendable, Hashable, Codable, Identifiable {
    /// The ID of the other user's account.
    public var id: String { contact.id }
    /// The other user as they describe themselves. Never a responder: only the owner of the list decides that.
    public let contact: ContactModel
    public let sentAt: Timestamp?
}

extension ContactRequest: CustomStringConvertible {
    /// The ID only, to keep names and email addresses out of logs.
    public var description: String { "ContactRequest(\(id))" }
}

extension ContactRequest {
    /// - Returns: `nil` for a document that does not exist.
    public init?(_ document: DocumentSnapshot) {
        guard var contact = ContactModel(document) else { return nil }
        contact.isResponder = false
        contact.addedAt = nil
        self.init(contact: contact, sentAt: document.data?["sentAt"]?.timestampValue)
    }

    /// The fields of a new request, for its sender.
    static func fields(_ me: ContactModel) -> WriteFields {
        var me = me
        me.isResponder = false
        var fields = me.describingFields
        fields["sentAt"] = .serverTime
        return fields
    }

    static func collection(of id: AuthUser.ID) -> CollectionPath {
        UserFields.path(id).collection("contactRequests")
    }

    /// The users whose requests and notifications a user does not want.
    static func blocked(by id: AuthUser.ID) -> CollectionPath {
        UserFields.path(id).collection("blockedContacts")
    }
}
