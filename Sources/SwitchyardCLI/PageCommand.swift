import Switchyard
import SwitchyardBytes
import SwitchyardFirebase
import SwitchyardPage
import SwitchyardSupabase

/// `switchyard page`
struct PageCommand: BackendCommand {
    let name = "page"
    let backend: BackendOptions
    let services: Set<InfrastructureService> = [.files]
    var endsByInterrupt: Bool { true }
    private let port: UInt16

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("page"))
        backend = BackendOptions(given)
        if let extra = given.arguments.first { throw UsageError("“\(extra)” was not expected here") }
        port = try EmulatorCommand.port(given, "--port") ?? 0
    }

    func run() async -> ExitStatus {
        await configured { configuration in
            await BackendRun(command: self) { open in
                try await serve(open, configuration)
            }.run(with: configuration)
        }
    }

    func run(on backend: OpenBackend) async throws -> ExitStatus {
        try await serve(backend, try self.backend.configuration())
    }

    private func serve(
        _ open: OpenBackend, _ configuration: InfrastructureConfiguration
    ) async throws -> ExitStatus {
        var options = Page.Options()
        options.port = port
        options.key = RandomID.make(length: 32)
        let shown = try await PageBackend.configured(
            open.infrastructure, name: "\(configuration.selection.default)",
            address: Self.address(of: configuration), tables: Self.tables(of: configuration),
            device: { () async throws(InfrastructureError) in try await Self.device(configuration) })
        let page: Page
        do throws(Page.StartFailure) { page = try await Page.started([shown], options) } catch {
            throw CommandFailure(error.message)
        }
        Terminal.print("The page: \(page.url)")
        await untilCancelled()
        await page.stop()
        return .success
    }

    /// Clients that no one is signed in with, without the rights of the project.
    private static func device(
        _ configuration: InfrastructureConfiguration
    ) async throws(InfrastructureError) -> Infrastructure {
        var configuration = configuration
        configuration.stateFolder = nil
        configuration.selection.omit(.messaging)
        if var project = try configuration.settings(of: SupabaseModule.self) {
            project.serviceKey = nil
            try configuration.setUp(SupabaseModule.self, with: project)
        }
        return try await InfrastructureFactory(configurable: Providers.all).make(configuration)
    }

    private static func address(of configuration: InfrastructureConfiguration) -> String {
        switch configuration.selection.provider(for: .storage) {
        case .supabase?: (try? configuration.settings(of: SupabaseModule.self))?.url ?? ""
        case .firebase?:
            (try? configuration.settings(of: FirebaseModule.self)).map { $0.emulators.firestore ?? $0.project } ?? ""
        default: ""
        }
    }

    /// The collections that the configuration maps to tables, as far as their paths are known.
    private static func tables(of configuration: InfrastructureConfiguration) -> [CollectionPath] {
        guard configuration.selection.provider(for: .storage) == .supabase,
            let project = try? configuration.settings(of: SupabaseModule.self)
        else { return [] }
        return project.tables.compactMap { table in
            table.collection.includes("{") ? nil : try? CollectionPath(validating: table.collection)
        }
    }
}
