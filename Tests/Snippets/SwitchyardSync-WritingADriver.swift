struct AcmeServer: Sendable {
    struct Answer {
        let documents: [DocumentSnapshot]
        let time: Timestamp
    }
    func read(_ paths: [StoragePath]) async throws(StorageError) -> Answer { fatalError() }
    func readAll(_ source: Query.Source) async throws(StorageError) -> Answer { fatalError() }
    func write(_ writes: [DocumentWrite]) async throws(StorageError) -> Timestamp { fatalError() }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
func AcmeWatch(_ server: AcmeServer) -> any WatchConnection { fatalError() }
