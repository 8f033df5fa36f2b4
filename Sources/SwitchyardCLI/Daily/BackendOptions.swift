import Foundation
import Switchyard

/// The backend of a command, as its options name it.
struct BackendOptions: Sendable {
    let file: String?
    let state: String?
    let actsAsProject: Bool

    init(_ given: Options) {
        file = given["--config"]
        state = given["--state"]
        actsAsProject = given.has("--as-project")
    }

    /// Variables that are this program's own, and no setting of a backend.
    private static let own = ["SWITCHYARD_CONFIG", "SWITCHYARD_PASSWORD"]

    func configuration(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(InfrastructureError) -> InfrastructureConfiguration {
        let rest = environment.filter { !Self.own.contains($0.key) }
        var configuration: InfrastructureConfiguration
        if let path = file ?? environment["SWITCHYARD_CONFIG"], !path.isEmpty {
            configuration = try InfrastructureConfiguration(
                contentsOf: URL(fileURLWithPath: path), environment: rest)
        } else if rest["SWITCHYARD_DEFAULT"] == nil {
            throw InfrastructureError(
                .invalidConfiguration,
                "No backend is named. Pass “--config FILE”, or set SWITCHYARD_CONFIG to the file, or SWITCHYARD_DEFAULT and "
                    + "the other variables. A file for a try: {\"default\":\"mock\",\"providers\":{\"mock\":{\"folder\":\"data\"}}}"
            )
        } else {
            configuration = try InfrastructureConfiguration(environment: rest)
        }
        if let state { configuration.stateFolder = URL(fileURLWithPath: state, isDirectory: true) }
        return configuration
    }
}

/// The clients of one command.
struct OpenBackend: Sendable {
    let infrastructure: Infrastructure
    let storage: any StorageClient
    let files: any FileStorageClient
    var auth: any AuthClient { infrastructure.auth }
    /// Whether the session, the cache and the queue outlast the command.
    let stateFolder: URL?
    /// Without a state folder, there is no cache worth reading.
    let source: ReadSource

    /// - Parameters:
    ///   - services: Those that the command uses besides accounts and documents. What else the configuration asks for may be
    ///     impossible here, such as push messages.
    ///   - isOffline: Whether nothing is sent, not even the writes that wait.
    init(
        _ configuration: InfrastructureConfiguration, _ options: BackendOptions,
        services: Set<InfrastructureService> = [], isOffline: Bool = false
    ) async throws(InfrastructureError) {
        var configuration = configuration
        for service in [InfrastructureService.files, .messaging] where !services.contains(service) {
            configuration.selection.omit(service)
        }
        stateFolder = configuration.stateFolder
        let factory = InfrastructureFactory(configurable: Providers.all)
        if isOffline {
            var place = InfrastructureOptions(stateFolder: configuration.stateFolder)
            place.localFiles = configuration.localFiles ?? place.localFiles
            infrastructure = .deferred(
                configuration.selection, by: try factory.configured(by: configuration), in: place)
            do throws(StorageError) {
                try await infrastructure.storage.disableNetwork()
            } catch {
                await infrastructure.shutDown()
                throw InfrastructureError(error.code, error.message, underlying: error)
            }
        } else {
            infrastructure = try await factory.make(configuration)
        }
        guard options.actsAsProject else {
            storage = infrastructure.storage
            files = infrastructure.files
            source = stateFolder == nil ? .server : .standard
            return
        }
        do throws(InfrastructureError) {
            let project = try await infrastructure.actingAsProject()
            storage = project.storage
            files = project.files
            source = .server
        } catch {
            await infrastructure.shutDown()
            throw error
        }
    }

    func close() async { await infrastructure.shutDown() }
}
