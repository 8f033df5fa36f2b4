import Synchronization

/// The infrastructures behind the clients that a factory makes individually: one for each provider, with only the requested
/// services. Each lives as long as its clients.
final class SharedInfrastructures: Sendable {
    private struct Held: Sendable { weak var coordinator: SwitchCoordinator? }
    private let held = Mutex<[InfrastructureProvider: Held]>([:])

    /// - Parameter make: Makes one if none is in use.
    func coordinator(of provider: InfrastructureProvider, _ make: () -> SwitchCoordinator) -> SwitchCoordinator {
        held.withLock { held in
            if let coordinator = held[provider]?.coordinator { return coordinator }
            let coordinator = make()
            held[provider] = Held(coordinator: coordinator)
            return coordinator
        }
    }
}
