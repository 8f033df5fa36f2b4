/// A client for contacts that forwards every call along its route.
public protocol RoutedContactsClient: ContactsClient {
    var route: any Route<any ContactsClient> { get }
}

extension RoutedContactsClient {
    public func contacts() async throws(ContactsError) -> [ContactModel] {
        try await route.call(.repeatable("contacts")) { contacts throws(ContactsError) in
            try await contacts.contacts()
        }
    }
    public func contact(_ id: ContactModel.ID) async throws(ContactsError) -> ContactModel {
        try await route.call(.repeatable("contact")) { contacts throws(ContactsError) in
            try await contacts.contact(id)
        }
    }
    public func contactsStream() -> SnapshotStream<[ContactModel], ContactsError> {
        route.snapshots("contacts stream") { $0.contactsStream() }
    }
    public func add(_ contact: ContactModel) async throws(ContactsError) {
        try await route.call("add") { contacts throws(ContactsError) in try await contacts.add(contact) }
    }
    public func addMutually(_ contact: ContactModel, me: ContactModel) async throws(ContactsError) {
        try await route.call("add mutually") { contacts throws(ContactsError) in
            try await contacts.addMutually(contact, me: me)
        }
    }
    public func update(_ contact: ContactModel) async throws(ContactsError) {
        try await route.call("update") { contacts throws(ContactsError) in try await contacts.update(contact) }
    }
    public func remove(_ id: ContactModel.ID) async throws(ContactsError) {
        try await route.call("remove") { contacts throws(ContactsError) in try await contacts.remove(id) }
    }
    public func removeMutually(_ id: ContactModel.ID) async throws(ContactsError) {
        try await route.call("remove mutually") { contacts throws(ContactsError) in
            try await contacts.removeMutually(id)
        }
    }
}

extension Routed: ContactsClient, RoutedContactsClient where Client == any ContactsClient {}
