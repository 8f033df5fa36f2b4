/// Forwards to another route, and begins each error message with the operation and its target, as a ``Switchboard`` does. For
/// clients that are never switched.
struct NamingRoute<Client: Sendable>: Route {
    let base: any Route<Client>
    var client: Client? { base.client }

    init(_ base: any Route<Client>) { self.base = base }

    func call<Result, Failure: ClientError>(
        _ operation: ClientOperation, _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        do throws(Failure) {
            return try await base.call(operation, body)
        } catch {
            throw error.naming(operation)
        }
    }

    func call<Result, Failure: ClientError>(
        _ operation: ClientOperation, keeping: (Result, _ done: @escaping @Sendable () -> Void) -> Result,
        _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        do throws(Failure) {
            return try await base.call(operation, keeping: keeping, body)
        } catch {
            throw error.naming(operation)
        }
    }

    func begin<Output: Sendable>(
        _ operation: ClientOperation,
        _ body: (Client) async throws(FileStorageError) -> FileTransfer<Output>
    ) async throws(FileStorageError) -> FileTransfer<Output> {
        do throws(FileStorageError) {
            let transfer = try await base.begin(operation, body)
            return FileTransfer(NamedTransfer(base: transfer, operation: operation))
        } catch {
            throw error.naming(operation)
        }
    }

    func states<Element: Sendable>(
        _ operation: ClientOperation, absent: Element,
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Never>
    ) -> SnapshotStream<Element, Never> { base.states(operation, absent: absent, open) }

    func snapshots<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, rebase: @escaping @Sendable (Element, Element) -> Element,
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> {
        base.snapshots(operation, rebase: rebase, open).naming(operation)
    }

    func events<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, _ open: @escaping @Sendable (Client) -> EventStream<Element, Failure>
    ) -> EventStream<Element, Failure> {
        base.events(operation, open).naming(operation)
    }
}

extension SnapshotStream where Failure: ClientError {
    func naming(_ operation: ClientOperation) -> Self {
        SnapshotStream(from: { [makeSource] in
            ErrorMappingSource<Element, Failure, Failure>(makeSource()) { $0.naming(operation) }
        })
    }
}

extension EventStream where Failure: ClientError {
    func naming(_ operation: ClientOperation) -> Self {
        EventStream(from: { [makeSource] in
            ErrorMappingSource<Element, Failure, Failure>(makeSource()) { $0.naming(operation) }
        })
    }
}

/// A transfer whose error names the operation and its target.
struct NamedTransfer<Output: Sendable>: FileTransferControls {
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
