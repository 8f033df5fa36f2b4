import SwitchyardBytes

/// Leads to the current client of a switchboard: a call keeps the client it began with, a stream moves to the next one.
struct LeasedRoute<Client: Sendable>: Route {
    let board: Switchboard<Client>
    /// What lives as long as the client of this route.
    private let owner: (any AnyObject & Sendable)?
    var client: Client? { board.client }

    init(_ board: Switchboard<Client>, keeping owner: (any AnyObject & Sendable)? = nil) {
        self.board = board
        self.owner = owner
    }

    func call<Result, Failure: ClientError>(
        _ operation: ClientOperation, _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        do throws(Failure) {
            return try await board.run(body)
        } catch {
            throw error.naming(operation)
        }
    }

    func call<Result, Failure: ClientError>(
        _ operation: ClientOperation, keeping: (Result, _ done: @escaping @Sendable () -> Void) -> Result,
        _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let (client, lease) = board.lease()
        let release = Once { [board] in board.release(lease) }
        do throws(Failure) {
            return keeping(try await body(client)) { release.run() }
        } catch {
            release.run()
            throw error.naming(operation)
        }
    }

    /// A transfer ends where it began, and counts as a call until then.
    func begin<Output: Sendable>(
        _ operation: ClientOperation,
        _ body: (Client) async throws(FileStorageError) -> FileTransfer<Output>
    ) async throws(FileStorageError) -> FileTransfer<Output> {
        try await call(
            operation,
            keeping: { transfer, done in
                Task {
                    for await _ in transfer.progress {}
                    done()
                }
                return FileTransfer(NamedTransfer(base: transfer, operation: operation))
            }, body)
    }

    func states<Element: Sendable>(
        _ operation: ClientOperation, absent: Element,
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Never>
    ) -> SnapshotStream<Element, Never> { board.snapshots(open) }

    func snapshots<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, rebase: @escaping @Sendable (Element, Element) -> Element,
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> {
        board.snapshots(open, rebase: rebase) { $0.naming(operation) }
    }

    func events<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, _ open: @escaping @Sendable (Client) -> EventStream<Element, Failure>
    ) -> EventStream<Element, Failure> {
        operation.isPinned
            ? EventStream(from: { [board] in PinnedSource(board, open) }) : board.events(open) { $0.naming(operation) }
    }
}

/// A transfer whose error names the operation and its target.
private struct NamedTransfer<Output: Sendable>: FileTransferControls {
    let base: FileTransfer<Output>
    let operation: ClientOperation

    func progress() -> SnapshotStream<TransferProgress, Never> { base.progress }

    func result() async throws(FileStorageError) -> Output {
        do throws(FileStorageError) {
            return try await base.result()
        } catch {
            throw error.naming(operation)
        }
    }

    func pause() async { await base.pause() }
    func resume() async { await base.resume() }
    func cancel() async { await base.cancel() }
}
