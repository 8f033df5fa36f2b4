/// Forwards every message along the route. A message is not repeated: the first attempt may have arrived.
extension Routed: MessageSender where Client == any MessageSender {
    package var provider: InfrastructureProvider { route.client?.provider ?? .unavailable }

    @discardableResult
    package func send(_ message: OutgoingMessage) async throws(MessagingError) -> String {
        try await route.call("send message") { sender throws(MessagingError) in try await sender.send(message) }
    }
}
