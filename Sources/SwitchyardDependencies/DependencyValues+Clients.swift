public import Switchyard
import SwitchyardMock

/// The clients. A live or test client that was not set throws an error that names the operation; previews have sample data.
extension DependencyValues {
    public var authClient: any AuthClient {
        get { client("authClient", \.auth) { PreviewAuthClient() } }
        set { self[of: (any AuthClient).self] = newValue }
    }
    public var storageClient: any StorageClient {
        get { client("storageClient", \.storage) { PreviewStorageClient() } }
        set { self[of: (any StorageClient).self] = newValue }
    }
    public var fileStorageClient: any FileStorageClient {
        get { client("fileStorageClient", \.files) { PreviewFileStorageClient() } }
        set { self[of: (any FileStorageClient).self] = newValue }
    }
    public var messagingClient: any MessagingClient {
        get { client("messagingClient", \.messaging) { PreviewMessagingClient() } }
        set { self[of: (any MessagingClient).self] = newValue }
    }
    public var userClient: any UserClient {
        get { client("userClient", \.users) { DocumentUserClient(on: .preview) } }
        set { self[of: (any UserClient).self] = newValue }
    }
    public var contactsClient: any ContactsClient {
        get { client("contactsClient", \.contacts) { DocumentContactsClient(on: .preview) } }
        set { self[of: (any ContactsClient).self] = newValue }
    }
    public var checkInClient: any CheckInClient {
        get { client("checkInClient", \.checkIns) { DocumentCheckInClient(on: .preview) } }
        set { self[of: (any CheckInClient).self] = newValue }
    }
    public var notificationClient: any NotificationClient {
        get { client("notificationClient", \.notifications) { DocumentNotificationClient(on: .preview) } }
        set { self[of: (any NotificationClient).self] = newValue }
    }

    /// Uses all clients of `infrastructure`. An app does this once, around its whole run.
    public mutating func use(_ infrastructure: Infrastructure) {
        authClient = infrastructure.auth
        storageClient = infrastructure.storage
        fileStorageClient = infrastructure.files
        messagingClient = infrastructure.messaging
        userClient = infrastructure.users
        contactsClient = infrastructure.contacts
        checkInClient = infrastructure.checkIns
        notificationClient = infrastructure.notifications
    }

    /// Uses the four core clients, and the domain clients built on them.
    public mutating func use(_ core: CoreClients) {
        authClient = core.auth
        storageClient = core.storage
        if let files = core.files { fileStorageClient = files }
        if let messaging = core.messaging { messagingClient = messaging }
        userClient = DocumentUserClient(on: core)
        contactsClient = DocumentContactsClient(on: core)
        checkInClient = DocumentCheckInClient(on: core)
        notificationClient = DocumentNotificationClient(on: core)
    }

    /// The client that was set; else, in a preview, one with sample data; else one whose calls all throw because it was not
    /// set.
    private func client<Client: Sendable>(
        _ name: String, _ unset: (UnsetClients) -> Client, preview: () -> Client
    ) -> Client {
        if let client = self[of: Client.self] { return client }
        if context == .preview { return preview() }
        return unset(
            UnsetClients { _, operation in
                "“\(operation)” was called on the dependency “\(name)”, which has not been set. "
                    + "Set it around the call: withDependencies { $0.\(name) = … } operation: { … }."
            })
    }
}

extension CoreClients {
    fileprivate static var preview: CoreClients {
        CoreClients(
            auth: PreviewAuthClient(), storage: PreviewStorageClient(), files: PreviewFileStorageClient(),
            messaging: PreviewMessagingClient())
    }
}
