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

    func around<Client>(_ client: Client, _ layered: (Client, any ClientLayer) -> Client) -> Client {
        all.reduce(client, layered)
    }
}
