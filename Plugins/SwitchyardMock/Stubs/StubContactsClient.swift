public import Switchyard

/// A contacts client for the tests of one feature: you set the calls that the feature makes, and every other one refuses by name.
///
/// ```swift
/// let contacts = StubContactsClient(contacts: { [ContactModel(id: "bob", name: "Bob")] }, remove: { _ in })
/// ```
///
/// Where only the plain stream of two is set, the one that tells more is derived from it.
public struct StubContactsClient: ContactsClient {
    /// What the stub answers by itself; `nil` for what it leaves to the client that it was made over.
    public struct Calls: Sendable {
        public var contacts: (@Sendable () async throws -> [ContactModel])?
        public var contact: (@Sendable (ContactModel.ID) async throws -> ContactModel)?
        public var contactsStream: (@Sendable () -> SnapshotStream<[ContactModel], ContactsError>)?
        public var contactsSnapshots: (@Sendable () -> SnapshotStream<DomainSnapshot<[ContactModel]>, ContactsError>)?
        public var add: (@Sendable (ContactModel) async throws -> Void)?
        public var addMutually: (@Sendable (ContactModel, ContactModel) async throws -> Void)?
        public var update: (@Sendable (ContactModel) async throws -> Void)?
        public var remove: (@Sendable (ContactModel.ID) async throws -> Void)?
        public var removeMutually: (@Sendable (ContactModel.ID) async throws -> Void)?
        public var requests: (@Sendable () async throws -> [ContactRequest])?
        public var requestsStream: (@Sendable () -> SnapshotStream<[ContactRequest], ContactsError>)?
        public var requestsSnapshots: (@Sendable () -> SnapshotStream<DomainSnapshot<[ContactRequest]>, ContactsError>)?
        public var accept: (@Sendable (ContactModel) async throws -> Void)?
        public var decline: (@Sendable (ContactModel.ID) async throws -> Void)?
        public var block: (@Sendable (ContactModel.ID) async throws -> Void)?
        public var unblock: (@Sendable (ContactModel.ID) async throws -> Void)?
        public var blocked: (@Sendable () async throws -> Set<ContactModel.ID>)?
    }

    public var calls = Calls()
    private let base: any ContactsClient

    /// - Parameters:
    ///   - base: Answers what is not set: a mock, or by default a client that refuses everything by name. `UnsetClients` has one
    ///     that also records a failure of the test.
    ///   - set: Sets the calls.
    public init(over base: any ContactsClient = UnsetClients.stubs.contacts, _ set: (inout Calls) -> Void = { _ in }) {
        self.base = base
        set(&calls)
    }

    /// A stub that answers these calls and refuses every other one by name.
    public init(
        contacts: (@Sendable () async throws -> [ContactModel])? = nil,
        contact: (@Sendable (ContactModel.ID) async throws -> ContactModel)? = nil,
        contactsStream: (@Sendable () -> SnapshotStream<[ContactModel], ContactsError>)? = nil,
        contactsSnapshots: (@Sendable () -> SnapshotStream<DomainSnapshot<[ContactModel]>, ContactsError>)? = nil,
        add: (@Sendable (ContactModel) async throws -> Void)? = nil,
        addMutually: (@Sendable (ContactModel, ContactModel) async throws -> Void)? = nil,
        update: (@Sendable (ContactModel) async throws -> Void)? = nil,
        remove: (@Sendable (ContactModel.ID) async throws -> Void)? = nil,
        removeMutually: (@Sendable (ContactModel.ID) async throws -> Void)? = nil,
        requests: (@Sendable () async throws -> [ContactRequest])? = nil,
        requestsStream: (@Sendable () -> SnapshotStream<[ContactRequest], ContactsError>)? = nil,
        requestsSnapshots: (@Sendable () -> SnapshotStream<DomainSnapshot<[ContactRequest]>, ContactsError>)? = nil,
        accept: (@Sendable (ContactModel) async throws -> Void)? = nil,
        decline: (@Sendable (ContactModel.ID) async throws -> Void)? = nil,
        block: (@Sendable (ContactModel.ID) async throws -> Void)? = nil,
        unblock: (@Sendable (ContactModel.ID) async throws -> Void)? = nil,
        blocked: (@Sendable () async throws -> Set<ContactModel.ID>)? = nil
    ) {
        self.init {
            $0.contacts = contacts
            $0.contact = contact
            $0.contactsStream = contactsStream
            $0.contactsSnapshots = contactsSnapshots
            $0.add = add
            $0.addMutually = addMutually
            $0.update = update
            $0.remove = remove
            $0.removeMutually = removeMutually
            $0.requests = requests
            $0.requestsStream = requestsStream
            $0.requestsSnapshots = requestsSnapshots
            $0.accept = accept
            $0.decline = decline
            $0.block = block
            $0.unblock = unblock
            $0.blocked = blocked
        }
    }

    // MARK: Requirements

    public func contacts() async throws(ContactsError) -> [ContactModel] {
        try await stubbed(ContactsError.self) { try await (calls.contacts ?? base.contacts)() }
    }
    public func contact(_ id: ContactModel.ID) async throws(ContactsError) -> ContactModel {
        try await stubbed(ContactsError.self) { try await (calls.contact ?? base.contact)(id) }
    }
    public func contactsStream() -> SnapshotStream<[ContactModel], ContactsError> {
        (calls.contactsStream ?? base.contactsStream)()
    }
    public func contactsSnapshots() -> SnapshotStream<DomainSnapshot<[ContactModel]>, ContactsError> {
        if calls.contactsSnapshots == nil, let contactsStream = calls.contactsStream {
            return contactsStream().asDomainSnapshots()
        }
        return (calls.contactsSnapshots ?? base.contactsSnapshots)()
    }
    public func add(_ contact: ContactModel) async throws(ContactsError) {
        try await stubbed(ContactsError.self) { try await (calls.add ?? base.add)(contact) }
    }
    public func addMutually(_ contact: ContactModel, me: ContactModel) async throws(ContactsError) {
        try await stubbed(ContactsError.self) { try await (calls.addMutually ?? base.addMutually)(contact, me) }
    }
    public func update(_ contact: ContactModel) async throws(ContactsError) {
        try await stubbed(ContactsError.self) { try await (calls.update ?? base.update)(contact) }
    }
    public func remove(_ id: ContactModel.ID) async throws(ContactsError) {
        try await stubbed(ContactsError.self) { try await (calls.remove ?? base.remove)(id) }
    }
    public func removeMutually(_ id: ContactModel.ID) async throws(ContactsError) {
        try await stubbed(ContactsError.self) { try await (calls.removeMutually ?? base.removeMutually)(id) }
    }
    public func requests() async throws(ContactsError) -> [ContactRequest] {
        try await stubbed(ContactsError.self) { try await (calls.requests ?? base.requests)() }
    }
    public func requestsStream() -> SnapshotStream<[ContactRequest], ContactsError> {
        (calls.requestsStream ?? base.requestsStream)()
    }
    public func requestsSnapshots() -> SnapshotStream<DomainSnapshot<[ContactRequest]>, ContactsError> {
        if calls.requestsSnapshots == nil, let requestsStream = calls.requestsStream {
            return requestsStream().asDomainSnapshots()
        }
        return (calls.requestsSnapshots ?? base.requestsSnapshots)()
    }
    public func accept(_ contact: ContactModel) async throws(ContactsError) {
        try await stubbed(ContactsError.self) { try await (calls.accept ?? base.accept)(contact) }
    }
    public func decline(_ id: ContactModel.ID) async throws(ContactsError) {
        try await stubbed(ContactsError.self) { try await (calls.decline ?? base.decline)(id) }
    }
    public func block(_ id: ContactModel.ID) async throws(ContactsError) {
        try await stubbed(ContactsError.self) { try await (calls.block ?? base.block)(id) }
    }
    public func unblock(_ id: ContactModel.ID) async throws(ContactsError) {
        try await stubbed(ContactsError.self) { try await (calls.unblock ?? base.unblock)(id) }
    }
    public func blocked() async throws(ContactsError) -> Set<ContactModel.ID> {
        try await stubbed(ContactsError.self) { try await (calls.blocked ?? base.blocked)() }
    }
}
