struct AcmeServer: Sendable {
    struct Answer {
        let documents: [DocumentSnapshot]
        let time: Timestamp
    }
    func read(_ paths: [StoragePath]) async throws(StorageError) -> Answer { given() }
    func readAll(_ source: Query.Source) async throws(StorageError) -> Answer { given() }
    func write(_ writes: [DocumentWrite]) async throws(StorageError) -> Timestamp { given() }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
func AcmeWatch(_ server: AcmeServer) -> any WatchConnection { given() }
