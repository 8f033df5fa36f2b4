/// Leads nowhere: every call and every stream fails with a reason.
package struct RefusingRoute<Client: Sendable>: Route {
    private let code: ErrorCode
    private let message: @Sendable (_ operation: String) -> String
    package var client: Client? { nil }

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

    private func refusal<Failure: ClientError>(_ operation: ClientOperation) -> Failure {
        Failure(code, message(operation.name))
    }

    package func call<Result, Failure: ClientError>(
        _ operation: ClientOperation, _ body: (Client) async throws(Failure) -> Result
    ) async throws(Failure) -> Result { throw refusal(operation) }

    package func states<Element: Sendable>(
        _ operation: ClientOperation, absent: Element,
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Never>
    ) -> SnapshotStream<Element, Never> {
        SnapshotStream { continuation in
            continuation.yield(absent)
            return {}
        }
    }

    package func snapshots<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, rebase: @escaping @Sendable (Element, Element) -> Element,
        _ open: @escaping @Sendable (Client) -> SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> { .failing(refusal(operation)) }

    package func events<Element: Sendable, Failure: ClientError>(
        _ operation: ClientOperation, _ open: @escaping @Sendable (Client) -> EventStream<Element, Failure>
    ) -> EventStream<Element, Failure> { .failing(refusal(operation)) }
}

extension InfrastructureProvider {
    /// The provider of a client that leads nowhere.
    static let nobody: InfrastructureProvider = "none"
}
