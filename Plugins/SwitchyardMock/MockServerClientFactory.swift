import Switchyard

/// The mock for servers that act for their users.
struct MockServerClientFactory: ServerClientFactory {
    let verifier: any TokenVerifier
    private let backend: MockBackend
    private let network: MockNetwork
    /// Keeps the project open.
    private let tenant: MockBackendLease?

    init(_ backend: MockBackend, network: MockNetwork, tenant: MockBackendLease?) {
        self.backend = backend
        self.network = network
        self.tenant = tenant
        verifier = Verifier(accounts: backend.accounts)
    }

    private struct Verifier: TokenVerifier {
        let provider: InfrastructureProvider = .mock
        let accounts: MockAccounts

        func verify(_ token: Secret, checksRevocation: Bool) async throws(TokenError) -> VerifiedToken {
            try accounts.verify(token, checksRevocation: checksRevocation)
        }
    }

    func makeStorageClient(
        for caller: VerifiedToken, auth: any AuthClient
    ) throws(InfrastructureError) -> any StorageClient {
        MockStorageClient(backend, network: network, actingFor: caller.userID)
    }

    func makeProjectStorageClient() throws(InfrastructureError) -> any StorageClient {
        MockStorageClient(backend, network: network, actingFor: nil)
    }

    func makeFileStorageClient(
        for caller: VerifiedToken, auth: any AuthClient
    ) throws(InfrastructureError) -> any FileStorageClient { makeFileStorageClient(auth) }

    func makeProjectFileStorageClient() throws(InfrastructureError) -> any FileStorageClient {
        makeFileStorageClient(nil)
    }

    private func makeFileStorageClient(_ auth: (any AuthClient)?) -> any FileStorageClient {
        var capabilities = FileStorageCapabilities.all
        // Uploads are not recorded.
        capabilities.resumableUploads = false
        return MockFileStorageClient(
            backend, network: network, store: MockUploadStore(), capabilities: capabilities, tenant: nil,
            session: auth.map(SessionFeed.init))
    }

    func makeAdminClient() throws(InfrastructureError) -> any AdminClient { MockAdminClient(backend, network: network) }

    func makeMessageSender() throws(InfrastructureError) -> any MessageSender {
        MockMessageSender(backend, network: network)
    }

    func shutDown() async { tenant?.leave() }
}
