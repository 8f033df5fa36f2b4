import Synchronization

/// The storage of an ``Infrastructure``. Keeps whether the network is on, so that this survives a switch.
struct InfrastructureStorageClient: RoutedStorageClient {
    let route: Route<any StorageClient>
    let network: StorageNetworkState
    /// Lives as long as its storage is in use.
    let coordinator: SwitchCoordinator

    func enableNetwork() async throws(StorageError) {
        network.isOn = true
        try await Routed(route).enableNetwork()
        // Replaced storages that are offline can send their queues, too.
        for storage in network.left() { try? await storage.enableNetwork() }
    }
    func disableNetwork() async throws(StorageError) {
        let wasOn = network.isOn
        // First, so that a storage that takes over during the call begins offline, too.
        network.isOn = false
        do throws(StorageError) {
            try await Routed(route).disableNetwork()
        } catch {
            network.isOn = wasOn
            throw error
        }
    }
}

/// Whether the storage of an ``Infrastructure`` may use the network.
final class StorageNetworkState: Sendable {
    private let state = Mutex(true)
    /// The replaced storages that are still sending.
    let left: @Sendable () -> [any StorageClient]

    init(left: @escaping @Sendable () -> [any StorageClient]) { self.left = left }

    var isOn: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// Prepares a storage for use.
    ///
    /// - Throws: `.unsupported` if the network is switched off and the storage cannot work without it.
    func prepare(_ storage: any StorageClient) async throws(InfrastructureError) {
        guard !isOn else { return }
        do throws(StorageError) {
            try await storage.disableNetwork()
        } catch {
            throw InfrastructureError(
                .unsupported,
                "“\(storage.provider)” cannot take over the storage while its network is switched off: "
                    + "\(error.message) Call enableNetwork() first.", underlying: error)
        }
    }

    /// Applies the current state, including calls made during the switch.
    func apply(to storage: any StorageClient) async {
        guard storage.capabilities.offline else { return }
        var applied: Bool
        repeat {
            applied = isOn
            if applied { try? await storage.enableNetwork() } else { try? await storage.disableNetwork() }
            // A call during this one may have reached the storage first.
        } while applied != isOn
    }
}
