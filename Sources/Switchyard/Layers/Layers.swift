/// The layers around every client of an infrastructure, innermost first.
struct Layers: Sendable {
    private var all: [any ClientLayer] = []

    /// Retries are innermost, so that an observer outside sees one call with its pauses, and a deadline applies to all
    /// attempts together.
    init(retry: RetryPolicy?, _ surroundings: InfrastructureOptions) {
        if let retry { all.append(RetryLayer(retry, clock: surroundings.clock, observer: surroundings.observer)) }
        all.append(DeadlineLayer())
        all += surroundings.layers
        if !(surroundings.observer is SilentObserver) {
            all.append(ObserveLayer(surroundings.observer, clock: surroundings.clock))
        }
    }

    func around<Client>(_ client: Client, _ layered: (Client, any ClientLayer) -> Client) -> Client {
        all.reduce(client, layered)
    }
}
