import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardMock

/// The clients of a configuration, checked as far as that goes without a hand on their server: documents and files.
/// Accounts, messages and what stands on them need somebody who reads mail, sends messages and is several people.
struct ConfiguredHarness {
    private let devices: Devices
    private let storage: StorageCapabilities
    /// `nil` when the configuration has no client for files.
    private let files: FileStorageCapabilities?

    /// - Throws: What is wrong with the configuration, before any check runs.
    init(file: String) async throws(InfrastructureError) {
        let configuration = try InfrastructureConfiguration(contentsOf: URL(fileURLWithPath: file))
        let factory = try InfrastructureFactory(configurable: [MockModule.self]).configured(by: configuration)
        devices = Devices(factory: factory, selection: configuration.selection)
        let backend = try await factory.make(configuration.selection)
        storage = backend.storage.capabilities
        files = configuration.selection.provider(for: .files) == nil ? nil : backend.files.capabilities
        await backend.shutDown()
    }

    var suites: [ConformanceSuite] {
        let documents = ConformanceSuite.storage(
            ConfiguredStorage(features: StorageFeatures(storage), devices: devices))
        guard let files else { return [documents] }
        return [documents, .files(ConfiguredFiles(features: FileFeatures(files), devices: devices))]
    }
}

/// Makes clients for one person, who is new for each run.
private struct Devices: Sendable {
    let factory: InfrastructureFactory
    let selection: InfrastructureSelection
    private let email = "conformance-\(UInt64.random(in: 0..<UInt64.max))@example.com"

    init(factory: InfrastructureFactory, selection: InfrastructureSelection) {
        self.factory = factory
        self.selection = selection
    }

    func makeAuth() async throws -> any AuthClient {
        let auth = try await factory.createAuthClient(provider: provider(of: .auth))
        let password: Secret = "correct horse 7 battery"
        do throws(AuthError) {
            try await auth.signUp(email: email, password: password)
        } catch {
            guard error.code == .emailInUse else { throw error }
            try await auth.signIn(email: email, password: password)
        }
        return auth
    }

    func provider(of service: InfrastructureService) -> InfrastructureProvider {
        selection.provider(for: service) ?? selection.default
    }
}

private struct ConfiguredStorage: StorageHarness {
    let features: StorageFeatures
    let devices: Devices

    func makeStorageClient() async throws -> any StorageClient {
        try await devices.factory.createStorageClient(
            provider: devices.provider(of: .storage), auth: devices.makeAuth())
    }
}

private struct ConfiguredFiles: FileHarness {
    let features: FileFeatures
    let devices: Devices

    func makeFileClient() async throws -> any FileStorageClient {
        try await devices.factory.createFileStorageClient(
            provider: devices.provider(of: .files), auth: devices.makeAuth())
    }
}
