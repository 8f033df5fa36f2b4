import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardMock
import SwitchyardSupabase
import Synchronization

/// The servers of a configuration, and devices on them, each with its own clients and session.
struct ConfiguredSite: Sendable {
    let selection: InfrastructureSelection
    /// A factory for one device.
    let makeFactory: @Sendable () -> InfrastructureFactory
    /// Another provider of storage to switch to.
    let alternative: InfrastructureProvider
    /// Where devices keep their state, if the configuration names a folder for it.
    let folder: RunFolder?
    /// The table for the storage checks, if the storage is a Supabase project without a document table.
    let table: ConformanceTable?
    private let configured: [InfrastructureProvider]

    /// - Throws: What is wrong with the configuration.
    init(_ configuration: InfrastructureConfiguration) throws(InfrastructureError) {
        var base = try InfrastructureFactory(configurable: Providers.all).configured(by: configuration)
        let isSupabase = configuration.selection.provider(for: .storage) == .supabase
        let project = try isSupabase ? configuration.settings(of: SupabaseModule.self) : nil
        table = try project.flatMap { (project) throws(InfrastructureError) in try ConformanceTable(project) }
        if let table { base = base.replacing(SupabaseModule(table.settings)) }
        let settings = try configuration.settings(of: MockModule.self) ?? MockConfiguration()
        // The mock is one server for all devices; every other server is one anyway.
        let backend =
            try settings.folder.map { (folder) throws(InfrastructureError) in try MockBackend(folder: folder) }
            ?? (settings.hasSampleData ? .sample() : MockBackend())
        let spare = MockBackend()
        backend.accounts.asksForConfirmation = settings.asksForConfirmation
        folder = configuration.stateFolder.map { RunFolder(in: $0) }
        selection = configuration.selection
        configured = base.providers
        makeFactory = { [base] in
            let network = MockNetwork(latency: .milliseconds(settings.latencyMilliseconds))
            let factory = base.replacing(MockModule(backend: backend, network: network))
            return factory.replacing(SecondMockModule(inner: MockModule(backend: spare)))
        }
        let storage = configuration.selection.provider(for: .storage)
        alternative =
            base.providers.first { $0 != storage && $0 != .mock } ?? (storage == .mock ? .secondMock : .mock)
    }

    /// All clients of another device, with no user signed in.
    func makeDevice(
        at place: InfrastructureOptions = InfrastructureOptions()
    ) async throws(InfrastructureError) -> Infrastructure { try await makeFactory().make(selection, in: place) }

    func provider(of service: InfrastructureService) -> InfrastructureProvider {
        selection.provider(for: service) ?? selection.default
    }

    /// Whether another client on the same device finds the state that `service` has saved.
    func keeps(_ service: InfrastructureService) -> Bool { folder != nil && provider(of: service) != .mock }
}

/// The state folder for the devices of one run: a separate folder below the configured one, removed after the run.
final class RunFolder: Sendable {
    private let url: URL
    private let count = Atomic(0)

    init(in folder: URL) {
        url = folder.appendingPathComponent("conformance-\(UInt64.random(in: 0 ... .max))", isDirectory: true)
    }

    /// The options of a new device.
    func newDevice() -> InfrastructureOptions {
        let number = count.add(1, ordering: .relaxed).newValue
        return InfrastructureOptions(
            stateFolder: url.appendingPathComponent("device-\(number)", isDirectory: true))
    }

    func remove() { try? FileManager.default.removeItem(at: url) }
}
