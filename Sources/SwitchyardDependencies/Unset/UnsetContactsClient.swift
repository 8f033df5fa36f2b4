import Switchyard

/// Stands for a dependency that nobody set: every operation fails and says which one it was.
struct UnsetContactsClient: ContactsClient {
    func contacts() async throws(ContactsError) -> [ContactModel] { throw .unset("contactsClient", "contacts") }
    func contact(_ id: ContactModel.ID) async throws(ContactsError) -> ContactModel {
        throw .unset("contactsClient", "contact")
    }
    func contactsStream() -> SnapshotStream<[ContactModel], ContactsError> {
        .failing(.unset("contactsClient", "contactsStream"))
    }
    func add(_ contact: ContactModel) async throws(ContactsError) { throw .unset("contactsClient", "add") }
    func addMutually(_ contact: ContactModel, me: ContactModel) async throws(ContactsError) {
        throw .unset("contactsClient", "addMutually")
    }
    func update(_ contact: ContactModel) async throws(ContactsError) { throw .unset("contactsClient", "update") }
    func remove(_ id: ContactModel.ID) async throws(ContactsError) { throw .unset("contactsClient", "remove") }
    func removeMutually(_ id: ContactModel.ID) async throws(ContactsError) {
        throw .unset("contactsClient", "removeMutually")
    }
}
