/// A sender that forwards every message along its route. A message is not repeated: the first attempt may have arrived.
public protocol RoutedMessageSender: MessageSender {
    var route: any Route<any MessageSender> { get }
}

extension RoutedMessageSender {
    public var provider: InfrastructureProvider { route.client?.provider ?? .nobody }

    @discardableResult
    public func send(_ message: OutgoingMessage) async throws(MessagingError) -> String {
        try await route.call("send message") { sender throws(MessagingError) in try await sender.send(message) }
    }
}

extension Routed: MessageSender, RoutedMessageSender where Client == any MessageSender {}
