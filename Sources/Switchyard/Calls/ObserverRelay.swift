import Synchronization

/// What a stream or a transfer of a client is doing. Observed by what reports of a running app, not by its logs.
package struct ClientActivity: Sendable {
    package enum Kind: Sendable {
        case streamOpened
        /// - Parameter documents: How many a stream of documents has now; `nil` for other streams.
        case streamDelivered(documents: Int?, isFromCache: Bool)
        case streamEnded(InfrastructureEvent.Failure?)
        case transferMoved(TransferProgress)
        case transferEnded(InfrastructureEvent.Failure?)
        /// A move between backends is in another phase.
        case moveChanged(name: String, phase: String)
    }

    /// Of the stream or transfer, within one infrastructure.
    package let number: Int
    package let service: InfrastructureService
    package let provider: InfrastructureProvider
    package let operation: String
    package let target: String?
    package let kind: Kind
}

/// Observes more closely than others: it is told of each element that streams deliver.
package protocol ActivityObserver: InfrastructureObserver {
    func observe(_ activity: ClientActivity)
}

/// Passes events on to the observer of the options, and to those that are added while the clients are in use.
final class ObserverRelay: InfrastructureObserver {
    /// `nil` for a silent one.
    private let first: (any InfrastructureObserver)?
    private let added = Mutex<[Int: any ActivityObserver]>([:])
    private let addedCount = Atomic(0)
    private let numbers = Atomic(0)

    init(_ first: any InfrastructureObserver) { self.first = first is SilentObserver ? nil : first }

    /// An observer as a relay; `nil` for one that will always be silent.
    static func of(_ observer: any InfrastructureObserver) -> ObserverRelay? {
        observer as? ObserverRelay ?? (observer is SilentObserver ? nil : ObserverRelay(observer))
    }

    /// Whether anyone observes at the moment.
    var isObserved: Bool { first != nil || isWatched }
    /// Whether anyone observes streams and transfers closely.
    var isWatched: Bool { addedCount.load(ordering: .relaxed) > 0 }

    func observe(_ event: InfrastructureEvent) {
        first?.observe(event)
        for observer in watching { observer.observe(event) }
    }

    func observe(_ activity: ClientActivity) {
        for observer in watching { observer.observe(activity) }
    }

    /// A number for a stream or a transfer.
    func next() -> Int { numbers.wrappingAdd(1, ordering: .relaxed).newValue }

    private var watching: [any ActivityObserver] {
        isWatched ? added.withLock { Array($0.values) } : []
    }

    /// - Returns: What ends it.
    func add(_ observer: any ActivityObserver) -> @Sendable () -> Void {
        let key = next()
        added.withLock { $0[key] = observer }
        addedCount.wrappingAdd(1, ordering: .relaxed)
        return { [weak self] in
            guard let self, added.withLock({ $0.removeValue(forKey: key) }) != nil else { return }
            addedCount.wrappingSubtract(1, ordering: .relaxed)
        }
    }
}

/// A snapshot of documents, as far as their number and origin go.
protocol CountedSnapshot {
    var documentCount: Int { get }
    var metadata: SnapshotMetadata { get }
}

extension QuerySnapshot: CountedSnapshot {
    var documentCount: Int { documents.count }
}

extension DocumentSnapshot: CountedSnapshot {
    var documentCount: Int { data == nil ? 0 : 1 }
}

extension InfrastructureObserver {
    /// Tells those who observe closely that a move between backends is in another phase.
    package func observe(move name: String, phase: String, _ provider: InfrastructureProvider) {
        guard let relay = self as? ObserverRelay, relay.isWatched else { return }
        relay.observe(
            ClientActivity(
                number: relay.next(), service: .storage, provider: provider, operation: "move", target: name,
                kind: .moveChanged(name: name, phase: phase)))
    }
}
