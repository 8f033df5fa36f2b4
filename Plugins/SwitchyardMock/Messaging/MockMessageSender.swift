public import Switchyard

/// Sends messages like a project's server, immediately and without a network. See ``MockMessages/sent`` for the messages sent.
///
/// ```swift
/// let sender = MockMessageSender(backend)
/// sender.controls.fail(.sendMessage, onCall: 2, with: .rateLimited)
/// ```
public final class MockMessageSender: MessageSender {
    public let provider: InfrastructureProvider = .mock
    /// Scripts and records the calls of this sender.
    public let controls: MockControls<MessagingError>
    private let server: MockMessages

    public init(_ backend: MockBackend, network: MockNetwork = MockNetwork()) {
        server = backend.messages
        controls = MockControls(
            network: network, unavailable: MessagingError(.unavailable, "The mock's network is off."),
            cancelled: MessagingError(.cancelled, "The call was cancelled."))
    }

    /// - Returns: The ID of the received message.
    @discardableResult
    public func send(_ message: OutgoingMessage) async throws(MessagingError) -> String {
        guard !Task.isCancelled else { throw MessagingError(.cancelled, "The call was cancelled.") }
        if let scripted = try await controls.enter(.sendMessage, "", needsNetwork: true) { return scripted }
        guard !Task.isCancelled else { throw MessagingError(.cancelled, "The call was cancelled.") }
        let (title, body, data) = (message.title, message.body, message.data)
        let sent =
            switch message.target {
            case .device(let token): try server.send(title: title, body: body, data: data, to: token)
            case .topic(let topic): server.send(title: title, body: body, data: data, to: topic)
            case .condition(let condition): server.send(title: title, body: body, data: data, to: condition)
            }
        try controls.leave()
        return sent.id
    }
}
