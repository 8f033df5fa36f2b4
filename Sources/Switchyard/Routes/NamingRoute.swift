/// Leads where another route leads, and has each error say first what was tried, and on what.
///
/// It stands outermost, where an ``Infrastructure`` hands a client out: what layers and observers see below it names itself.
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
        let stream = base.snapshots(operation, rebase: rebase, open)
        return SnapshotStream<Element, Failure>(from: { [makeSource = stream.makeSource] in
            RefailingSource<Element, Failure, Failure>(makeSource()) { $0.naming(operation) }
        })
    }

    func events<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, _ open: @escaping @Sendable (Client) -> EventStream<Element, Failure>
    ) -> EventStream<Element, Failure> {
        let stream = base.events(operation, open)
        return EventStream<Element, Failure>(from: { [makeSource = stream.makeSource] in
            RefailingSource<Element, Failure, Failure>(makeSource()) { $0.naming(operation) }
        })
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
