struct AcmeHarness: StorageHarness {
    let features = StorageFeatures(.all)
    func makeStorageClient() async throws -> any StorageClient { MockStorageClient() }
}

public struct AcmeConfiguration: Codable, Sendable {}

// swift-format-ignore: AlwaysUseLowerCamelCase
func AcmeStorageAdapter(_ configuration: AcmeConfiguration, auth: (any AuthClient)?) -> any StorageClient {
    MockStorageClient()
}
