import Switchyard
import Synchronization

/// Clients for callers and for the project, during a move. They know the phase from one client of the project's.
struct MovingServerClientFactory: ServerClientFactory {
    private let factories: Sides<any ServerClientFactory>
    private let make: @Sendable (Sides<any StorageClient>) throws(InfrastructureError) -> MovingStorageClient
    private let shared = Shared()

    private final class Shared: Sendable {
        let storage = Mutex<MovingStorageClient?>(nil)
    }

    init(
        _ factories: Sides<any ServerClientFactory>,
        _ make: @escaping @Sendable (Sides<any StorageClient>) throws(InfrastructureError) -> MovingStorageClient
    ) {
        self.factories = factories
        self.make = make
    }

    var verifier: any TokenVerifier { factories.old.verifier }

    func makeStorageClient(
        for caller: VerifiedToken, auth: any AuthClient
    ) throws(InfrastructureError) -> any StorageClient {
        let project = try project()
        let client = try factories[project.serving].makeStorageClient(for: caller, auth: auth)
        return project.logging(client)
    }

    func makeFileStorageClient(
        for caller: VerifiedToken, auth: any AuthClient
    ) throws(InfrastructureError) -> any FileStorageClient {
        MovingFileStorageClient(
            old: try factories.old.makeFileStorageClient(for: caller, auth: auth),
            new: try factories.new.makeFileStorageClient(for: caller, auth: auth), with: try project())
    }

    func makeProjectStorageClient() throws(InfrastructureError) -> any StorageClient { try project() }

    func makeProjectFileStorageClient() throws(InfrastructureError) -> any FileStorageClient {
        MovingFileStorageClient(
            old: try factories.old.makeProjectFileStorageClient(),
            new: try factories.new.makeProjectFileStorageClient(), with: try project())
    }

    func makeAdminClient() throws(InfrastructureError) -> any AdminClient { try factories.old.makeAdminClient() }

    func makeMessageSender() throws(InfrastructureError) -> any MessageSender { try factories.old.makeMessageSender() }

    func shutDown() async {
        await shared.storage.withLock { $0 }?.shutDown()
        await factories.old.shutDown()
        await factories.new.shutDown()
    }

    /// One for all, since it follows the phase.
    private func project() throws(InfrastructureError) -> MovingStorageClient {
        let result = shared.storage.withLock { storage -> Result<MovingStorageClient, InfrastructureError> in
            if let storage { return .success(storage) }
            do throws(InfrastructureError) {
                let made = try make(
                    Sides(
                        old: try factories.old.makeProjectStorageClient(),
                        new: try factories.new.makeProjectStorageClient()))
                storage = made
                return .success(made)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
