extension StorageClient {
    /// Whether a write will find a document at `path`, as far as this device can tell.
    ///
    /// A client with a queue tells of a refusal only on the receipt, which may come much later; this tells beforehand.
    /// - Returns: `nil` where the write itself will say so, and where nothing is known without a connection.
    func foresees(_ path: StoragePath) async throws(StorageError) -> Bool? {
        guard capabilities.offline else { return nil }
        do {
            return try await document(path).exists
        } catch {
            guard error.code == .unavailable else { throw error }
            return nil
        }
    }
}
