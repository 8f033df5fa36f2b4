struct AcmeServer: Sendable {
    func read(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] { given() }
    func carryOut(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement { given() }
}

struct AcmeStorage: StorageClientWrapper {
    let base: any StorageClient = MockStorageClient()
    let server = AcmeServer()
}
