import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardMock
import SwitchyardProviderHTTP
import SwitchyardSupabase
import SwitchyardWire
import Synchronization

/// Checks a backend from the outside in: what it is set up with, whether it answers, who may do what, and whether all of it works.
struct Doctor: Sendable {
    let configuration: InfrastructureConfiguration
    let options: DoctorOptions
    let findings: Findings

    init(_ configuration: InfrastructureConfiguration, _ options: DoctorOptions, _ findings: Findings) {
        var configuration = configuration
        // Nothing of this is kept, and no session of this machine is used.
        configuration.stateFolder = nil
        self.configuration = configuration
        self.options = options
        self.findings = findings
    }

    private var providers: Set<InfrastructureProvider> {
        Set(InfrastructureService.allCases.compactMap { configuration.selection.provider(for: $0) })
    }

    func run() async {
        let site: DoctorSite
        do throws(InfrastructureError) {
            site = try DoctorSite(configuration, options)
            let device = try await site.device()
            await device.infrastructure.shutDown()
        } catch {
            findings.add(.wrong("configuration", error.message, cure: Cure.configuration(error)))
            return
        }
        let names = providers.map(\.rawValue).sorted().joined(separator: ", ")
        findings.add(.fine("configuration", names))
        guard await outside() else { return }
        guard !Task.isCancelled else { return }
        if options.isReadOnly {
            findings.add(.remark("accounts", "left out, and rules, files and streams with them (--read-only)"))
            return
        }
        await Trial(site, findings, options, configuration).run()
    }

    /// What can be seen without an account.
    ///
    /// - Returns: Whether the backend can be reached at all.
    private func outside() async -> Bool {
        let transport = PlatformTransport.make()
        var isReachable = true
        do throws(InfrastructureError) {
            if providers.contains(.supabase), let settings = try configuration.settings(of: SupabaseModule.self) {
                let probe = SupabaseProbe(settings, WebProbe(transport, options), options, findings)
                isReachable = await probe.run()
            }
            if providers.contains(.firebase), let settings = try configuration.settings(of: FirebaseModule.self) {
                let probe = FirebaseProbe(
                    settings, configuration.environment, WebProbe(transport, options), findings)
                isReachable = await probe.run() && isReachable
            }
        } catch {
            findings.add(.wrong("configuration", error.message, cure: Cure.configuration(error)))
            isReachable = false
        }
        await transport.shutDown()
        return isReachable
    }
}

/// Devices on the backend, each with its own clients and session.
struct DoctorSite: Sendable {
    private let factory: @Sendable () -> InfrastructureFactory
    let selection: InfrastructureSelection
    private let now: @Sendable () -> Timestamp

    init(_ configuration: InfrastructureConfiguration, _ options: DoctorOptions) throws(InfrastructureError) {
        var selection = configuration.selection
        selection.omit(.messaging)
        self.selection = selection
        now = options.now
        let base = try InfrastructureFactory(configurable: Providers.all).configured(by: configuration)
        let settings = try configuration.settings(of: MockModule.self)
        // The mock is one server for all devices.
        let backend =
            try settings?.folder.map { (folder) throws(InfrastructureError) in try MockBackend(folder: folder) }
            ?? MockBackend()
        factory = { base.replacing(MockModule(backend: backend)) }
    }

    struct Device: Sendable {
        let infrastructure: Infrastructure
        let notices: Notices
    }

    /// A new device, with no one signed in.
    func device() async throws(InfrastructureError) -> Device {
        let notices = Notices()
        let place = InfrastructureOptions(now: now, observer: notices)
        return Device(infrastructure: try await factory().make(selection, in: place), notices: notices)
    }
}

/// What clients report besides their errors.
final class Notices: InfrastructureObserver {
    private let texts = Mutex<[String]>([])

    func observe(_ event: InfrastructureEvent) {
        if case .notice(let text) = event.kind { texts.withLock { $0.append(text) } }
    }

    var all: [String] { texts.withLock { $0 } }
}

/// Waits for something, but not for ever.
///
/// - Returns: `nil` at the deadline.
func within<Value: Sendable>(
    _ deadline: Duration, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try await Task.sleep(for: deadline)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}
