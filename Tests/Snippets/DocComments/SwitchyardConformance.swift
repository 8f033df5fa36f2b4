struct AcmeStorageAdapter: StorageClientWrapper {
    var base: any StorageClient { given() }; static let capabilities = StorageCapabilities(); init(server: String) {}
}
struct AcmeHarness: StorageHarness {
    let features = StorageFeatures(StorageCapabilities());
    func makeStorageClient() async throws -> any StorageClient { given() }
}
