/// How a forwarding client reaches the actual one: directly, with a layer around each call, through a switchboard, or not at
/// all.
///
/// A routed client, ``RoutedStorageClient`` and its siblings, passes each requirement of its protocol to the route as an
/// operation and a closure on a client. The route decides the rest for calls, streams and transfers.
public protocol Route<Client>: Sendable {
    /// The protocol of the client: `any StorageClient` and its siblings.
    associatedtype Client: Sendable

    /// The current client, for synchronous properties; `nil` if there is none.
    var client: Client? { get }

    /// Runs `body` on a client.
    func call<Result, Failure: ClientError>(
        _ operation: ClientOperation, _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result

    /// Like ``call(_:_:)``, for a result that keeps using the client: the result gets a closure from `keeping`, which it
    /// calls, once or more often, when it no longer does.
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

    /// A stream of states; `rebase` adapts the first state of a new client to the last one of the previous client.
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

/// A client that only forwards along its route, for every protocol with a routed client.
public struct Routed<Client: Sendable>: Sendable {
    public let route: any Route<Client>
    /// An object that lives as long as this client.
    private let owner: (any AnyObject & Sendable)?

    public init(_ route: any Route<Client>) { self.init(route, keeping: nil) }

    init(_ route: any Route<Client>, keeping owner: (any AnyObject & Sendable)?) {
        self.route = route
        self.owner = owner
    }
}
