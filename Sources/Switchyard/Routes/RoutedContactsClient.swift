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
    public func requests() async throws(ContactsError) -> [ContactRequest] {
        try await route.call(.repeatable("requests")) { contacts throws(ContactsError) in
            try await contacts.requests()
        }
    }
    public func requestsStream() -> SnapshotStream<[ContactRequest], ContactsError> {
        route.snapshots("requests stream") { $0.requestsStream() }
    }
    public func accept(_ contact: ContactModel) async throws(ContactsError) {
        try await route.call("accept") { contacts throws(ContactsError) in try await contacts.accept(contact) }
    }
    public func decline(_ id: ContactModel.ID) async throws(ContactsError) {
        try await route.call("decline") { contacts throws(ContactsError) in try await contacts.decline(id) }
    }
    public func block(_ id: ContactModel.ID) async throws(ContactsError) {
        try await route.call("block") { contacts throws(ContactsError) in try await contacts.block(id) }
    }
    public func unblock(_ id: ContactModel.ID) async throws(ContactsError) {
        try await route.call("unblock") { contacts throws(ContactsError) in try await contacts.unblock(id) }
    }
    public func blocked() async throws(ContactsError) -> Set<ContactModel.ID> {
        try await route.call(.repeatable("blocked")) { contacts throws(ContactsError) in try await contacts.blocked() }
    }
}

extension Routed: ContactsClient, RoutedContactsClient where Client == any ContactsClient {}
