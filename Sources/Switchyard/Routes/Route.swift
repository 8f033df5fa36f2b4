/// How a client that does nothing itself reaches one that does: straight, with a layer around each call, by way of a place
/// where clients are exchanged, or not at all.
///
/// A routed client, ``RoutedStorageClient`` and its siblings, names each requirement of its protocol once and hands it over as
/// an operation and a closure on a client; what a call, a stream or a transfer means besides is the route's.
public protocol Route<Client>: Sendable {
    /// The protocol of the client: `any StorageClient` and its siblings.
    associatedtype Client: Sendable

    /// The current client, for what it knows without waiting; `nil` if there is none.
    var client: Client? { get }

    /// Runs `body` on a client.
    func call<Result, Failure: ClientError>(
        _ operation: ClientOperation, _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result

    /// As ``call(_:_:)``, where the result goes on using the client: `keeping` gives it what to call, once or more often, when
    /// it no longer does.
    func call<Result, Failure: ClientError>(
        _ operation: ClientOperation, keeping: (Result, _ done: @escaping @Sendable () -> Void) -> Result,
        _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result

    /// Begins a transfer.
    func begin<Output: Sendable>(
        _ operation: ClientOperation,
        _ body: (Client) async throws(FileStorageError) -> FileTransfer<Output>
    ) async throws(FileStorageError) -> FileTransfer<Output>

    /// A stream of states that cannot fail; `absent` forever if there is no client.
    func states<Element: Sendable>(
        _ operation: ClientOperation, absent: Element,
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Never>
    ) -> SnapshotStream<Element, Never>

    /// A stream of states; `rebase` fits the first one of another client to the last one of the client before.
    func snapshots<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, rebase: @escaping @Sendable (_ last: Element, _ new: Element) -> Element,
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure>

    /// A stream of events.
    func events<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, _ open: @escaping @Sendable (Client) -> EventStream<Element, Failure>
    ) -> EventStream<Element, Failure>
}

extension Route {
    public func call<Result, Failure: ClientError>(
        _ operation: ClientOperation, keeping: (Result, _ done: @escaping @Sendable () -> Void) -> Result,
        _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result { try await call(operation, body) }

    public func begin<Output: Sendable>(
        _ operation: ClientOperation,
        _ body: (Client) async throws(FileStorageError) -> FileTransfer<Output>
    ) async throws(FileStorageError) -> FileTransfer<Output> { try await call(operation, body) }

    public func snapshots<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> { snapshots(operation, rebase: { $1 }, open) }
}

/// A client that goes the way of its route and changes nothing: one for every protocol that has a routed client.
public struct Routed<Client: Sendable>: Sendable {
    public let route: any Route<Client>
    /// What lives as long as this client.
    private let owner: (any AnyObject & Sendable)?

    public init(_ route: any Route<Client>) { self.init(route, keeping: nil) }

    init(_ route: any Route<Client>, keeping owner: (any AnyObject & Sendable)?) {
        self.route = route
        self.owner = owner
    }
}
