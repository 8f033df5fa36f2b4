struct FileCabinetConfiguration: Codable, Sendable {}
struct FileCabinet { init(now: @escaping @Sendable () -> Timestamp) {} }

struct FileCabinetClient: StorageClientWrapper {
    static let capabilities = StorageCapabilities.all
    let base: any StorageClient = MockStorageClient()
    init(cabinet: FileCabinet) {}
}
