/// How a client that only forwards reaches the one that does the work: directly, through a switchboard, or not at all.
///
/// A routed client, ``RoutedStorageClient`` and its siblings, passes each requirement of its protocol to the route, as an
/// operation and a closure on a client.
public struct Route<Client: Sendable>: Sendable {
    // Not private: in a debug build of Swift 6.3.1, other files would destroy a route as something else, and crash.
    enum Kind: Sendable {
        case direct(Connection<Client>)
        case switched(Switchboard<Client>)
        case refusing(Refusal)
    }

    let kind: Kind
    /// What every call and stream waits for first; `nil` if the clients are there from the beginning.
    private let start: DeferredStart?

    /// Leads to `client`, with nothing in between.
    public init(to client: Client) { self.init(.direct(Connection(client: client, policy: nil))) }

    /// Leads to `client`, with `policy` around each call.
    package init(to client: Client, _ policy: CallPolicy) {
        self.init(.direct(Connection(client: client, policy: policy)))
    }

    /// Leads to the current client of `board`.
    ///
    /// - Parameter start: What puts the first client there, when it is needed.
    init(_ board: Switchboard<Client>, after start: DeferredStart? = nil) { self.init(.switched(board), start) }

    /// Leads to the current client of `board`.
    package init(through board: Switchboard<Client>) { self.init(.switched(board)) }

    /// Leads nowhere: every call and every stream fails for the same reason.
    package init(refusing refusal: Refusal) { self.init(.refusing(refusal)) }

    private init(_ kind: Kind, _ start: DeferredStart? = nil) {
        self.kind = kind
        self.start = start
    }

    /// The current client, for synchronous properties; `nil` if there is none.
    package var client: Client? {
        switch kind {
        case .direct(let connection): connection.client
        case .switched(let board): board.connection?.client
        case .refusing: nil
        }
    }

    /// The current client, once there can be one.
    package var readyClient: Client? {
        get async {
            if let start { try? await start.wait() }
            return client
        }
    }

    /// The switchboard that it leads through.
    var board: Switchboard<Client>? { if case .switched(let board) = kind { board } else { nil } }

    /// Whether errors begin with the operation, those in results included.
    private var namesErrors: Bool {
        switch kind {
        case .direct(let connection): connection.namesErrors
        case .switched: true
        case .refusing: false
        }
    }

    // MARK: Calls

    /// Compiled once, like what recovers from failures: few calls come here, and there are a hundred kinds of them.
    @inline(never) @_semantics("optimize.sil.specialize.generic.never")
    private func wait<Failure: ClientError>(_: Failure.Type) async throws(Failure) {
        guard let start, !start.isOver else { return }
        do throws(InfrastructureError) { try await start.wait() } catch { throw Failure(notStarted: error) }
    }

    /// Runs `body` on a client.
    func call<Result, Failure: ClientError>(
        _ operation: ClientOperation, _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result { try await run(operation, body) }

    /// Like ``call(_:_:)``, for a result that may carry the server's error.
    func call<Result: ErrorCarrying, Failure: ClientError>(
        _ operation: ClientOperation, _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let result = try await run(operation, body)
        return namesErrors ? result.named(operation) : result
    }

    private func run<Result, Failure: ClientError>(
        _ operation: ClientOperation, _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        if start != nil { try await wait(Failure.self) }
        let (connection, lease) = try lease(operation, Failure.self)
        defer { if let lease { board?.release(lease) } }
        return try await connection.run(operation, body)
    }

    /// The client for a call; with a lease, if the board has to learn of its end.
    @inline(never) private func lease<Failure: ClientError>(
        _ operation: ClientOperation, _: Failure.Type
    ) throws(Failure) -> (connection: Connection<Client>, lease: Int?) {
        switch kind {
        case .direct(let connection): return (connection, nil)
        case .switched(let board): return try board.lease(operation, Failure.self)
        case .refusing(let refusal): throw refusal.error(operation)
        }
    }

    /// Like ``call(_:_:)``, for a result that keeps using the client: the result gets a closure from `keeping`, which it calls,
    /// once or more often, when it no longer does.
    func call<Result, Failure: ClientError>(
        _ operation: ClientOperation, keeping: (Result, _ done: @escaping @Sendable () -> Void) -> Result,
        _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        guard let board else { return try await run(operation, body) }
        if start != nil { try await wait(Failure.self) }
        return try await board.call(operation, keeping: { result, _, done in keeping(result, done) }, body)
    }

    /// Begins a transfer, which stays with its client and counts as a call until its end.
    func begin<Output: Sendable>(
        _ operation: ClientOperation,
        _ body: (Client) async throws(FileStorageError) -> FileTransfer<Output>
    ) async throws(FileStorageError) -> FileTransfer<Output> {
        if start != nil { try await wait(FileStorageError.self) }
        let transfer: FileTransfer<Output>
        switch kind {
        case .direct(let connection):
            transfer = try await connection.run(operation, body)
            connection.policy?.began(operation, transfer)
        case .switched(let board):
            transfer = try await board.call(
                operation,
                keeping: { transfer, policy, done in
                    policy?.began(operation, transfer)
                    Task {
                        for await _ in transfer.progress {}
                        done()
                    }
                    return transfer
                }, body)
        case .refusing(let refusal): throw refusal.error(operation)
        }
        return namesErrors ? transfer.named(operation) : transfer
    }

    /// Runs `body` on a client and its policy, which `body` applies itself.
    func leased<Result, Failure: ClientError>(
        _ operation: ClientOperation, _ body: (Connection<Client>) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        if start != nil { try await wait(Failure.self) }
        let (connection, lease) = try lease(operation, Failure.self)
        defer { if let lease { board?.release(lease) } }
        return try await body(connection)
    }

    // MARK: Streams

    /// A stream of states that cannot fail; `absent` forever if there is no client.
    func states<Element: Sendable>(
        _ operation: ClientOperation, absent: Element,
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Never>
    ) -> SnapshotStream<Element, Never> {
        switch kind {
        case .direct(let connection): connection.observed(operation, open(connection.client))
        case .switched(let board):
            started(failure: { _ in nil }) { board.states(operation, absent: absent, open) }
        case .refusing: .only(absent)
        }
    }

    /// A stream of states; `rebase` adapts the first state of a new client to the last one of the previous client.
    func snapshots<Element: Sendable, Failure: ClientError>(
        _ operation: @autoclosure () throws(Failure) -> ClientOperation,
        rebase: @escaping @Sendable (_ last: Element, _ new: Element) -> Element = { $1 },
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> {
        let made: ClientOperation
        do throws(Failure) { made = try operation() } catch { return .failing(error) }
        return stream(made, rebase, open)
    }

    /// The same for states that may carry the server's error.
    func snapshots<Element: ErrorCarrying, Failure: ClientError>(
        _ operation: @autoclosure () throws(Failure) -> ClientOperation,
        rebase: @escaping @Sendable (_ last: Element, _ new: Element) -> Element = { $1 },
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> {
        let made: ClientOperation
        do throws(Failure) { made = try operation() } catch { return .failing(error) }
        let stream = stream(made, rebase, open)
        return namesErrors ? stream.mapElements { $0.named(made) } : stream
    }

    private func stream<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, _ rebase: @escaping @Sendable (_ last: Element, _ new: Element) -> Element,
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> {
        switch kind {
        case .direct(let connection):
            connection.observed(operation, open(connection.client)).guarded(operation, like: connection.policy)
        case .switched(let board):
            started(failure: { Failure(notStarted: $0) }) {
                board.snapshots(operation, rebase: rebase, open).guarded(operation)
            }
        case .refusing(let refusal): .failing(refusal.error(operation))
        }
    }

    @inline(never) @_semantics("optimize.sil.specialize.generic.never")
    private func started<Element: Sendable, Failure: Error>(
        failure: @escaping @Sendable (InfrastructureError) -> Failure?,
        _ open: @escaping @Sendable () -> SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> {
        guard let start, !start.isOver else { return open() }
        return start.snapshots(failure: failure, open)
    }

    /// A stream of events, which moves over to the next client after a switch.
    ///
    /// - Parameter isPinned: Whether it ends with the client that it began on instead.
    func events<Element: Sendable, Failure: ClientError>(
        _ operation: @autoclosure () throws(Failure) -> ClientOperation, isPinned: Bool = false,
        _ open: @escaping @Sendable (Client) -> EventStream<Element, Failure>
    ) -> EventStream<Element, Failure> {
        let made: ClientOperation
        do throws(Failure) { made = try operation() } catch { return .failing(error) }
        switch kind {
        case .direct(let connection):
            return connection.observed(made, open(connection.client)).guarded(made, like: connection.policy)
        case .switched(let board):
            let opened: @Sendable () -> EventStream<Element, Failure> = {
                let stream =
                    isPinned ? EventStream(from: { LeasedEventSource(board, made, open) }) : board.events(made, open)
                return stream.guarded(made)
            }
            guard let start, !start.isOver else { return opened() }
            return start.events(opened)
        case .refusing(let refusal): return .failing(refusal.error(made))
        }
    }
}

/// Why a client is missing.
package struct Refusal: Sendable {
    let code: ErrorCode
    private let message: @Sendable (_ operation: String) -> String

    /// - Parameters:
    ///   - code: The code of every error.
    ///   - message: The error message for an operation.
    package init(_ code: ErrorCode, _ message: @escaping @Sendable (_ operation: String) -> String) {
        self.code = code
        self.message = message
    }

    /// For a service without a provider, and before the first client exists.
    init(absent service: InfrastructureService) {
        self.init(.unsupported) { _ in "No provider was chosen for \(service.rawValue). Choose one in the selection." }
    }

    func error<Failure: ClientError>(_ operation: ClientOperation) -> Failure { Failure(code, message(operation.name)) }
}

/// A client that only forwards along its route, for every protocol that has one.
package struct Routed<Client: Sendable>: Sendable {
    package let route: Route<Client>
    /// An object that lives as long as this client.
    private let owner: (any AnyObject & Sendable)?

    package init(_ route: Route<Client>) { self.init(route, keeping: nil) }

    init(_ route: Route<Client>, keeping owner: (any AnyObject & Sendable)?) {
        self.route = route
        self.owner = owner
    }
}

extension InfrastructureProvider {
    /// The provider of a client that leads nowhere.
    static let unavailable: InfrastructureProvider = "none"
}
