struct AcmeHarness: StorageHarness {
    let features = StorageFeatures(.all)
    func makeStorageClient() async throws -> any StorageClient { MockStorageClient() }
}

public struct AcmeConfiguration: Codable, Sendable {}

// swift-format-ignore: AlwaysUseLowerCamelCase
func AcmeStorageAdapter(_ configuration: AcmeConfiguration, auth: (any AuthClient)?) -> any StorageClient {
    MockStorageClient()
}

struct AcmeServer: Sendable {
    func read(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] { given() }
    func carryOut(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement { given() }
}

struct AcmeStorage: StorageClientWrapper {
    let base: any StorageClient = MockStorageClient()
    let server = AcmeServer()
}
