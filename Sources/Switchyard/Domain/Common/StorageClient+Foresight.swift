extension StorageClient {
    /// Whether a write will find a document at `path`, as far as this device can tell.
    ///
    /// A client with a queue reports a rejection only on the receipt, perhaps much later; this checks beforehand.
    /// - Returns: `nil` if the write itself will report it, or if nothing is known without a connection.
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
