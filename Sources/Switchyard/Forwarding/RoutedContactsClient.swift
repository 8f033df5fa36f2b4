/// Forwards every call along the route.
extension Routed: ContactsClient where Client == any ContactsClient {
    package func contacts() async throws(ContactsError) -> [ContactModel] {
        try await route.call(.repeatable("contacts")) { contacts throws(ContactsError) in
            try await contacts.contacts()
        }
    }
    package func contact(_ id: ContactModel.ID) async throws(ContactsError) -> ContactModel {
        try await route.call(.repeatable("contact")) { contacts throws(ContactsError) in
            try await contacts.contact(id)
        }
    }
    package func contactsStream() -> SnapshotStream<[ContactModel], ContactsError> {
        route.snapshots("contacts stream") { $0.contactsStream() }
    }
    package func contactsSnapshots() -> SnapshotStream<DomainSnapshot<[ContactModel]>, ContactsError> {
        route.snapshots("contacts snapshots") { $0.contactsSnapshots() }
    }
    package func add(_ contact: ContactModel) async throws(ContactsError) {
        try await route.call("add") { contacts throws(ContactsError) in try await contacts.add(contact) }
    }
    package func addMutually(_ contact: ContactModel, me: ContactModel) async throws(ContactsError) {
        try await route.call("add mutually") { contacts throws(ContactsError) in
            try await contacts.addMutually(contact, me: me)
        }
    }
    package func update(_ contact: ContactModel) async throws(ContactsError) {
        try await route.call("update") { contacts throws(ContactsError) in try await contacts.update(contact) }
    }
    package func remove(_ id: ContactModel.ID) async throws(ContactsError) {
        try await route.call("remove") { contacts throws(ContactsError) in try await contacts.remove(id) }
    }
    package func removeMutually(_ id: ContactModel.ID) async throws(ContactsError) {
        try await route.call("remove mutually") { contacts throws(ContactsError) in
            try await contacts.removeMutually(id)
        }
    }
    package func requests() async throws(ContactsError) -> [ContactRequest] {
        try await route.call(.repeatable("requests")) { contacts throws(ContactsError) in
            try await contacts.requests()
        }
    }
    package func requestsStream() -> SnapshotStream<[ContactRequest], ContactsError> {
        route.snapshots("requests stream") { $0.requestsStream() }
    }
    package func requestsSnapshots() -> SnapshotStream<DomainSnapshot<[ContactRequest]>, ContactsError> {
        route.snapshots("requests snapshots") { $0.requestsSnapshots() }
    }
    package func accept(_ contact: ContactModel) async throws(ContactsError) {
        try await route.call("accept") { contacts throws(ContactsError) in try await contacts.accept(contact) }
    }
    package func decline(_ id: ContactModel.ID) async throws(ContactsError) {
        try await route.call("decline") { contacts throws(ContactsError) in try await contacts.decline(id) }
    }
    package func block(_ id: ContactModel.ID) async throws(ContactsError) {
        try await route.call("block") { contacts throws(ContactsError) in try await contacts.block(id) }
    }
    package func unblock(_ id: ContactModel.ID) async throws(ContactsError) {
        try await route.call("unblock") { contacts throws(ContactsError) in try await contacts.unblock(id) }
    }
    package func blocked() async throws(ContactsError) -> Set<ContactModel.ID> {
        try await route.call(.repeatable("blocked")) { contacts throws(ContactsError) in try await contacts.blocked() }
    }
}
