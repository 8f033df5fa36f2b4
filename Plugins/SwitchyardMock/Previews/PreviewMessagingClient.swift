public import Switchyard

/// A messaging client for previews; messages are sent by the backend's ``MockMessages``.
public struct PreviewMessagingClient: RoutedMessagingClient {
    public let route: Route<any MessagingClient>

    /// - Parameter backend: Shared with the other preview clients of a screen.
    public init(_ backend: MockBackend = .sample()) {
        route = Route<any MessagingClient>(to: MockMessagingClient(backend))
    }
}
