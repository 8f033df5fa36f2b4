import Synchronization

/// The storage of an ``Infrastructure``. Whether its network is on is kept here, so that it survives a switch.
struct PlacedStorageClient: NamingStorageClient {
    let route: any Route<any StorageClient>
    let network: PlaceNetwork
    /// Lives as long as its storage is in use.
    let assembly: Assembly

    func enableNetwork() async throws(StorageError) {
        network.isOn = true
        try await Routed(route).enableNetwork()
        // Queues that were left offline can be sent as well.
        for storage in network.left() { try? await storage.enableNetwork() }
    }
    func disableNetwork() async throws(StorageError) {
        try await Routed(route).disableNetwork()
        network.isOn = false
    }
}

/// Whether the storage of an ``Infrastructure`` may use the network.
final class PlaceNetwork: Sendable {
    private let state = Mutex(true)
    /// The storages that were left and are still sending.
    let left: @Sendable () -> [any StorageClient]

    init(left: @escaping @Sendable () -> [any StorageClient]) { self.left = left }

    var isOn: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// Gets a storage ready that is to stand in the place.
    ///
    /// - Throws: `.unsupported` when it cannot do without the network that is switched off.
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

    /// Catches up with calls during the switch, and with what was there before.
    func apply(to storage: any StorageClient) async {
        guard storage.capabilities.offline else { return }
        if isOn { try? await storage.enableNetwork() } else { try? await storage.disableNetwork() }
    }
}
