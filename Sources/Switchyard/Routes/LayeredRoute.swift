/// Leads to one client, with a layer around each call.
struct LayeredRoute<Client: Sendable>: Route {
    private let base: Client
    private let layer: any ClientLayer
    private let service: InfrastructureService
    /// The provider of a client, which may change.
    private let provider: @Sendable (Client) -> InfrastructureProvider
    var client: Client? { base }

    init(
        _ client: Client, _ layer: any ClientLayer, _ service: InfrastructureService,
        _ provider: @escaping @Sendable (Client) -> InfrastructureProvider
    ) {
        base = client
        self.layer = layer
        self.service = service
        self.provider = provider
    }

    private func about(_ operation: ClientOperation) -> ClientCall {
        ClientCall(service: service, provider: provider(base), operation)
    }

    func call<Result, Failure: ClientError>(
        _ operation: ClientOperation, _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await layer.call(about(operation)) { () throws(Failure) in try await body(base) }
    }

    func begin<Output: Sendable>(
        _ operation: ClientOperation,
        _ body: (Client) async throws(FileStorageError) -> FileTransfer<Output>
    ) async throws(FileStorageError) -> FileTransfer<Output> {
        let transfer = try await call(operation, body)
        layer.began(about(operation), transfer)
        return transfer
    }

    func states<Element: Sendable>(
        _ operation: ClientOperation, absent: Element,
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Never>
    ) -> SnapshotStream<Element, Never> { layer.stream(about(operation), open(base)) }

    func snapshots<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, rebase: @escaping @Sendable (Element, Element) -> Element,
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> { layer.stream(about(operation), open(base)) }

    func events<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, _ open: @escaping @Sendable (Client) -> EventStream<Element, Failure>
    ) -> EventStream<Element, Failure> { layer.stream(about(operation), open(base)) }
}
