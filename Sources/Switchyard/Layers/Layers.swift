/// The layers around every client of an infrastructure, innermost first.
struct Layers: Sendable {
    private var all: [any ClientLayer] = []

    /// Retries are innermost, so that an observer outside sees one call with its pauses, and a deadline applies to all
    /// attempts together.
    init(retry: RetryPolicy?, _ options: InfrastructureOptions) {
        if let retry { all.append(RetryLayer(retry, clock: options.clock, observer: options.observer)) }
        all.append(DeadlineLayer())
        all += options.layers
        if !(options.observer is SilentObserver) {
            all.append(ObserveLayer(options.observer, clock: options.clock))
        }
    }

    func around<Client>(_ client: Client, _ layered: (Client, any ClientLayer) -> Client) -> Client {
        all.reduce(client, layered)
    }
}
