/// Why a call to a ``ContactsClient`` failed.
public typealias ContactsError = DomainError

/// The people whom the signed-in person knows, in the documents `users/{id}/contacts/{contact}`.
public protocol ContactsClient: Sendable {
    /// All of them, by name.
    func contacts() async throws(ContactsError) -> [ContactModel]
    /// - Throws: `.notFound`.
    func contact(_ id: ContactModel.ID) async throws(ContactsError) -> ContactModel
    /// All of them, by name, now and after every change.
    func contactsStream() -> SnapshotStream<[ContactModel], ContactsError>

    /// Adds a contact to the person's own list.
    ///
    /// - Throws: `.alreadyExists`.
    func add(_ contact: ContactModel) async throws(ContactsError)

    /// Adds a contact to the person's list, and the person, as described by `me`, to the contact's list: both or neither.
    ///
    /// `me` is the person's entry in the other list; its `id` is replaced by the person's own.
    func addMutually(_ contact: ContactModel, me: ContactModel) async throws(ContactsError)

    /// - Throws: `.notFound`.
    func update(_ contact: ContactModel) async throws(ContactsError)
    /// Removes a contact from the person's own list; no error if it is missing.
    func remove(_ id: ContactModel.ID) async throws(ContactsError)
    /// Removes each from the other's list: both or neither.
    func removeMutually(_ id: ContactModel.ID) async throws(ContactsError)
}
