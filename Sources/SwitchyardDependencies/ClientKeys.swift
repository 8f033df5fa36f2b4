import Switchyard
import SwitchyardMock

// One key a client. Live values cannot come from nowhere: an app sets them once, around its whole run.

enum AuthClientKey: DependencyKey {
    static var liveValue: any AuthClient { UnsetAuthClient() }
    static var previewValue: any AuthClient { PreviewAuthClient() }
}

enum StorageClientKey: DependencyKey {
    static var liveValue: any StorageClient { UnsetStorageClient() }
    static var previewValue: any StorageClient { PreviewStorageClient() }
}

enum FileStorageClientKey: DependencyKey {
    static var liveValue: any FileStorageClient { UnsetFileStorageClient() }
    static var previewValue: any FileStorageClient { PreviewFileStorageClient() }
}

enum MessagingClientKey: DependencyKey {
    static var liveValue: any MessagingClient { UnsetMessagingClient() }
    static var previewValue: any MessagingClient { PreviewMessagingClient() }
}

enum UserClientKey: DependencyKey {
    static var liveValue: any UserClient { UnsetUserClient() }
    static var previewValue: any UserClient { DocumentUserClient(on: .preview) }
}

enum ContactsClientKey: DependencyKey {
    static var liveValue: any ContactsClient { UnsetContactsClient() }
    static var previewValue: any ContactsClient { DocumentContactsClient(on: .preview) }
}

enum CheckInClientKey: DependencyKey {
    static var liveValue: any CheckInClient { UnsetCheckInClient() }
    static var previewValue: any CheckInClient { DocumentCheckInClient(on: .preview) }
}

enum NotificationClientKey: DependencyKey {
    static var liveValue: any NotificationClient { UnsetNotificationClient() }
    static var previewValue: any NotificationClient { DocumentNotificationClient(on: .preview) }
}

extension CoreClients {
    fileprivate static var preview: CoreClients {
        CoreClients(
            auth: PreviewAuthClient(), storage: PreviewStorageClient(), files: PreviewFileStorageClient(),
            messaging: PreviewMessagingClient())
    }
}
