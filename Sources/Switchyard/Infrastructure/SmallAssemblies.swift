import Synchronization

/// What stands behind the clients that a factory makes one by one: for each provider one infrastructure with only what was
/// asked for. It lives as long as a client of it.
final class SmallAssemblies: Sendable {
    private struct Held: Sendable { weak var assembly: Assembly? }
    private let held = Mutex<[InfrastructureProvider: Held]>([:])

    /// - Parameter make: Makes one where nobody holds one.
    func assembly(of provider: InfrastructureProvider, _ make: () -> Assembly) -> Assembly {
        held.withLock { held in
            if let assembly = held[provider]?.assembly { return assembly }
            let assembly = make()
            held[provider] = Held(assembly: assembly)
            return assembly
        }
    }
}
