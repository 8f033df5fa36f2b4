/// Clients that have not been set: every call and every stream fails, with a message that names the client and the operation.
///
/// For the default values of a dependency container, so that a program or a test says which client it forgot:
///
/// ```swift
/// let unset = UnsetClients { service, operation in
///     "“\(operation)” was called on the client for \(service), which this test has not set."
/// }
/// let storage = unset.storage
/// ```
/// What cannot fail is unknown: the session's state is `.unknown`, permission to send messages undetermined, and nothing is
/// supported.
public struct UnsetClients: Sendable {
    private let code: ErrorCode
    private let message: @Sendable (_ service: InfrastructureService, _ operation: String) -> String

    /// - Parameters:
    ///   - code: The code of every error.
    ///   - message: The message of the error for one operation. It is called once for each call, and for each stream when it is
    ///     made, so that it may also record a failure of the test.
    public init(
        code: ErrorCode = .clientNotSet,
        message: @escaping @Sendable (_ service: InfrastructureService, _ operation: String) -> String
    ) {
        self.code = code
        self.message = message
    }

    public var auth: any AuthClient { Routed(route(.auth)) }
    public var storage: any StorageClient { Routed(route(.storage)) }
    public var files: any FileStorageClient { Routed(route(.files)) }
    public var messaging: any MessagingClient { Routed(route(.messaging)) }
    public var users: any UserClient { Routed(route(.users)) }
    public var contacts: any ContactsClient { Routed(route(.contacts)) }
    public var checkIns: any CheckInClient { Routed(route(.checkIns)) }
    public var notifications: any NotificationClient { Routed(route(.notifications)) }

    private func route<Client: Sendable>(_ service: InfrastructureService) -> Route<Client> {
        Route(refusing: Refusal(code) { [message] operation in message(service, operation) })
    }
}

extension ErrorCode {
    /// The client was never set; see ``UnsetClients``.
    public static let clientNotSet = ErrorCode(rawValue: "clientNotSet")
}
