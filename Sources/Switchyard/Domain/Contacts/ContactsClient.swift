/// Why a call to a ``ContactsClient`` failed.
public typealias ContactsError = DomainError

/// The contacts of the signed-in user, in the documents `users/{id}/contacts/{contact}`.
public protocol ContactsClient: Sendable {
    /// All of them, by name.
    func contacts() async throws(ContactsError) -> [ContactModel]
    /// - Throws: `.notFound`.
    func contact(_ id: ContactModel.ID) async throws(ContactsError) -> ContactModel
    /// All of them, by name, now and after every change.
    func contactsStream() -> SnapshotStream<[ContactModel], ContactsError>
    /// As ``contactsStream()``, with where the contacts come from.
    func contactsSnapshots() -> SnapshotStream<DomainSnapshot<[ContactModel]>, ContactsError>

    /// Adds a contact to the user's own list.
    ///
    /// - Throws: `.alreadyExists`.
    func add(_ contact: ContactModel) async throws(ContactsError)

    /// Adds a contact to the user's list, and asks the contact to add the user, as described by `me`: both or neither.
    ///
    /// The user is on the other list once the contact has accepted the request. If the contact has asked first, this
    /// accepts that request, and both lists are complete.
    ///
    /// - Parameters:
    ///   - contact: The new entry in the user's list.
    ///   - me: The user's entry in the other list, as they propose it. Its `id` is replaced by the user's own, and it is
    ///     never a responder: only the owner of a list makes someone one.
    /// - Throws: `.alreadyExists`; `.notAllowed` if the contact has blocked the user.
    func addMutually(_ contact: ContactModel, me: ContactModel) async throws(ContactsError)

    /// - Throws: `.notFound`.
    func update(_ contact: ContactModel) async throws(ContactsError)
    /// Removes a contact from the user's own list; no error if it is missing.
    func remove(_ id: ContactModel.ID) async throws(ContactsError)
    /// Removes each from the other's list, and a request that has not been answered: all or nothing.
    func removeMutually(_ id: ContactModel.ID) async throws(ContactsError)

    /// The requests to be on the user's list, oldest first.
    func requests() async throws(ContactsError) -> [ContactRequest]
    /// The requests to be on the user's list, oldest first, now and after every change.
    func requestsStream() -> SnapshotStream<[ContactRequest], ContactsError>
    /// As ``requestsStream()``, with where the requests come from.
    func requestsSnapshots() -> SnapshotStream<DomainSnapshot<[ContactRequest]>, ContactsError>
    /// Adds the sender of a request to the user's list, and removes the request.
    ///
    /// - Parameter contact: The new entry, such as the request's ``ContactRequest/contact``, with changes. An entry that exists
    ///   already stays as it is.
    /// - Throws: `.notFound` if there is no request of this contact.
    func accept(_ contact: ContactModel) async throws(ContactsError)
    /// Removes a request without an answer; no error if it is missing. The sender can ask again: see ``block(_:)``.
    func decline(_ id: ContactModel.ID) async throws(ContactsError)

    /// Denies another user's requests and notifications from now on. Removes them from the list, and their request.
    func block(_ id: ContactModel.ID) async throws(ContactsError)
    func unblock(_ id: ContactModel.ID) async throws(ContactsError)
    /// The IDs of the users whom this user has blocked.
    func blocked() async throws(ContactsError) -> Set<ContactModel.ID>
}

/// For clients that do not tell where contacts come from.
extension ContactsClient {
    public func contactsSnapshots() -> SnapshotStream<DomainSnapshot<[ContactModel]>, ContactsError> {
        contactsStream().asDomainSnapshots()
    }
    public func requestsSnapshots() -> SnapshotStream<DomainSnapshot<[ContactRequest]>, ContactsError> {
        requestsStream().asDomainSnapshots()
    }
}
