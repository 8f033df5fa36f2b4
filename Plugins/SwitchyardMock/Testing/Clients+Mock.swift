public import Switchyard

extension StorageClient {
    /// The mock behind this client, through all layers; `nil` if another provider is selected.
    ///
    /// ```swift
    /// phone.storage.mock?.controls.fail(.commit, with: .unavailable)
    /// ```
    public var mock: MockStorageClient? { unwrapped(as: MockStorageClient.self) }
}

extension AuthClient {
    /// The mock behind this client, through all layers; `nil` if another provider is selected.
    public var mock: MockAuthClient? { unwrapped(as: MockAuthClient.self) }
}

extension FileStorageClient {
    /// The mock behind this client, through all layers; `nil` if another provider is selected.
    public var mock: MockFileStorageClient? { unwrapped(as: MockFileStorageClient.self) }
}

extension MessagingClient {
    /// The mock behind this client, through all layers; `nil` if another provider is selected.
    public var mock: MockMessagingClient? { unwrapped(as: MockMessagingClient.self) }
}
