import SwitchyardBytes

/// Leads to the current client: a call keeps the client it began with, a stream moves to the next one.
extension Switchboard: Route {
    var client: Client? { present }

    func call<Result, Failure: ClientError>(
        _ operation: ClientOperation, _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let (client, lease) = lease()
        defer { release(lease) }
        do throws(Failure) {
            return try await body(client)
        } catch {
            throw error.naming(operation)
        }
    }

    func call<Result, Failure: ClientError>(
        _ operation: ClientOperation, keeping: (Result, _ done: @escaping @Sendable () -> Void) -> Result,
        _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let (client, lease) = lease()
        let release = Once { self.release(lease) }
        do throws(Failure) {
            return keeping(try await body(client)) { release.run() }
        } catch {
            release.run()
            throw error.naming(operation)
        }
    }

    /// A transfer stays with its client, and counts as a call until its end.
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
    ) -> SnapshotStream<Element, Never> { snapshots(open) }

    func snapshots<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, rebase: @escaping @Sendable (Element, Element) -> Element,
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> {
        snapshots(open, rebase: rebase) { $0.naming(operation) }
    }

    func events<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, _ open: @escaping @Sendable (Client) -> EventStream<Element, Failure>
    ) -> EventStream<Element, Failure> {
        operation.isPinned
            ? EventStream(from: { LeasedEventSource(self, open) }).naming(operation)
            : events(open) { $0.naming(operation) }
    }
}
