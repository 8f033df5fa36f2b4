/// What the domain clients that a factory makes one by one stand on: for each provider one auth client, one storage and one
/// file storage, whoever asks.
actor LoneClients {
    private var auths: [InfrastructureProvider: Switchboard<any AuthClient>] = [:]
    /// Made here, since nobody had asked the factory for one; over as soon as somebody does.
    private var ownAuths: [InfrastructureProvider: any AuthClient] = [:]
    private let storages = MadeOnce<any StorageClient>()
    private let files = MadeOnce<(any FileStorageClient)?>()

    /// From now on `client` says who is signed in, also to the domain clients that are there already.
    func adopt(_ client: any AuthClient, of provider: InfrastructureProvider) async {
        guard let board = auths[provider] else {
            auths[provider] = Switchboard(client)
            return
        }
        board.replace(with: client)
        await ownAuths.removeValue(forKey: provider)?.shutDown()
    }

    func auth(
        of provider: InfrastructureProvider, _ make: () async throws(InfrastructureError) -> any AuthClient
    ) async throws(InfrastructureError) -> any AuthClient {
        if let board = auths[provider] { return Routed<any AuthClient>(LeasedRoute(board)) }
        let client = try await make()
        if let board = auths[provider] {
            // Somebody was quicker.
            await client.shutDown()
            return Routed<any AuthClient>(LeasedRoute(board))
        }
        let board = Switchboard(client)
        auths[provider] = board
        ownAuths[provider] = client
        return Routed<any AuthClient>(LeasedRoute(board))
    }

    nonisolated func storage(
        of provider: InfrastructureProvider,
        _ make: @escaping @Sendable () async throws(InfrastructureError) -> any StorageClient
    ) async throws(InfrastructureError) -> any StorageClient { try await storages.client(of: provider, make) }

    /// - Returns: `nil` if the provider has none.
    nonisolated func files(
        of provider: InfrastructureProvider,
        _ make: @escaping @Sendable () async throws(InfrastructureError) -> any FileStorageClient
    ) async throws(InfrastructureError) -> (any FileStorageClient)? {
        try await files.client(of: provider) { () async throws(InfrastructureError) -> (any FileStorageClient)? in
            do throws(InfrastructureError) {
                return try await make()
            } catch {
                guard error.code == .unsupported else { throw error }
                return nil
            }
        }
    }
}

/// One making for each provider, for all who ask while it goes on and after it; a failure is forgotten before the next try.
private actor MadeOnce<Client: Sendable> {
    private var makings: [InfrastructureProvider: Task<Result<Client, InfrastructureError>, Never>] = [:]

    func client(
        of provider: InfrastructureProvider, _ make: @escaping @Sendable () async throws(InfrastructureError) -> Client
    ) async throws(InfrastructureError) -> Client {
        if let making = makings[provider] { return try await making.value.get() }
        let making = Task { () -> Result<Client, InfrastructureError> in
            do throws(InfrastructureError) {
                return .success(try await make())
            } catch {
                return .failure(error)
            }
        }
        makings[provider] = making
        let result = await making.value
        if case .failure = result { makings[provider] = nil }
        return try result.get()
    }
}
