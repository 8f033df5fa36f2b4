/// A client in use, and what stands around its calls.
struct Connection<Client: Sendable>: Sendable {
    let client: Client
    /// `nil` for a client that is called as it is: a wrapper's base, and domain clients, which are built on clients with
    /// policies.
    let policy: CallPolicy?

    /// Whether errors begin with the operation.
    var namesErrors: Bool { policy?.namesErrors ?? false }

    /// A call, with what stands around it. The way that nearly all calls take is here, where it is compiled for their types.
    func run<Result, Failure: ClientError>(
        _ operation: ClientOperation, _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        if let policy, !policy.isPlain { return try await policy.run(operation, on: client, body) }
        let watch = policy?.started(operation)
        do throws(Failure) {
            let result = try await body(client)
            policy?.ended(operation, watch)
            return result
        } catch {
            guard let policy else { throw error }
            return try await policy.recover(operation, watch, from: error, on: client, body)
        }
    }

    func observed<Element: Sendable, Failure: Error>(
        _ operation: ClientOperation, _ stream: SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> { policy?.stream(operation, stream) ?? stream }

    func observed<Element: Sendable, Failure: Error>(
        _ operation: ClientOperation, _ stream: EventStream<Element, Failure>
    ) -> EventStream<Element, Failure> { policy?.stream(operation, stream) ?? stream }
}
