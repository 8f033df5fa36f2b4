/// The layers that stand around every client of an infrastructure, from the inside out.
struct Layers: Sendable {
    private var all: [any ClientLayer] = []

    /// Retries innermost, so that whoever watches from outside sees one call with its pauses.
    init(retry: RetryPolicy?, _ surroundings: InfrastructureSurroundings) {
        if let retry { all.append(RetryLayer(retry, clock: surroundings.clock, observer: surroundings.observer)) }
        all += surroundings.layers
        if !(surroundings.observer is SilentObserver) {
            all.append(ObserveLayer(surroundings.observer, clock: surroundings.clock))
        }
    }

    func around(_ client: any AuthClient) -> any AuthClient { all.reduce(client) { LayeredAuthClient($0, $1) } }
    func around(_ client: any StorageClient) -> any StorageClient {
        all.reduce(client) { LayeredStorageClient($0, $1) }
    }
    func around(_ client: any FileStorageClient) -> any FileStorageClient {
        all.reduce(client) { LayeredFileStorageClient($0, $1) }
    }
    func around(_ client: any MessagingClient) -> any MessagingClient {
        all.reduce(client) { LayeredMessagingClient($0, $1) }
    }
}
