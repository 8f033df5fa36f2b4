import Synchronization

/// The infrastructures behind the clients that a factory makes individually: one for each provider, with only the requested
/// services. Each lives as long as its clients.
final class SharedInfrastructures: Sendable {
    private struct Held: Sendable { weak var assembly: SwitchCoordinator? }
    private let held = Mutex<[InfrastructureProvider: Held]>([:])

    /// - Parameter make: Makes one if none is in use.
    func assembly(of provider: InfrastructureProvider, _ make: () -> SwitchCoordinator) -> SwitchCoordinator {
        held.withLock { held in
            if let assembly = held[provider]?.assembly { return assembly }
            let assembly = make()
            held[provider] = Held(assembly: assembly)
            return assembly
        }
    }
}
