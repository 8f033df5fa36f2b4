package import Foundation
package import Switchyard
package import SwitchyardMock
import Synchronization

/// All suites for the mock.
package enum MockHarness {
    /// The suites, each with a separate project.
    package static var suites: [ConformanceSuite] {
        [
            .storage(MockStorageHarness()), .auth(MockAuthHarness()), .files(MockFileHarness()),
            .messaging(MockMessagingHarness()), .domain(MockDomainHarness()), .admin(MockAdminHarness()),
            .switching(MockSwitchingHarness()),
        ]
    }
}

/// One project for all checks, each of which uses a separate namespace.
package struct MockStorageHarness: StorageHarness {
    package let features: StorageFeatures
    private let backend = MockBackend()

    package init(_ capabilities: StorageCapabilities = .all) { features = StorageFeatures(capabilities) }

    package func makeStorageClient() async throws -> any StorageClient {
        MockStorageClient(backend, capabilities: features.capabilities)
    }
}

/// One project with many devices. A connection is cut by failing all parts of an upload after a number of bytes.
package final class MockFileHarness: FileHarness {
    package let features: FileFeatures
    private let backend = MockBackend()
    private let stores = Mutex<[ObjectIdentifier: MockUploadStore]>([:])
    private let around: @Sendable (any FileStorageClient) -> any FileStorageClient
    private static let partSize = 256 << 10

    /// - Parameter around: Adds layers to each client.
    package init(around: @escaping @Sendable (any FileStorageClient) -> any FileStorageClient = { $0 }) {
        self.around = around
        var features = FileFeatures(.all)
        features.fetchesURLs = true
        features.keepsUploads = true
        self.features = features
    }

    package func makeFileClient() async throws -> any FileStorageClient { make(MockUploadStore()) }

    package func reopen(_ client: any FileStorageClient) async throws -> any FileStorageClient {
        let store = client.unwrapped(as: MockFileStorageClient.self).flatMap { one in
            stores.withLock { $0[ObjectIdentifier(one)] }
        }
        return make(store ?? MockUploadStore())
    }

    private func make(_ store: MockUploadStore) -> any FileStorageClient {
        let client = MockFileStorageClient(backend, store: store, partSize: Self.partSize)
        stores.withLock { $0[ObjectIdentifier(client)] = store }
        return around(client)
    }

    package func fetch(_ url: URL) async throws -> Data? { backend.files.contents(of: url) }

    package func cutOff(_ client: any FileStorageClient, afterBytes count: Int64) async throws {
        client.unwrapped(as: MockFileStorageClient.self)?.controls.fail(
            .uploadPart, onCall: Int(count) / Self.partSize, times: 1_000_000,
            with: FileStorageError(.unavailable, "The connection is cut."))
    }
}

package struct MockMessagingHarness: MessagingHarness {
    package let features = MessagingFeatures(.all)
    private let backend = MockBackend()

    private let around: @Sendable (any MessagingClient) -> any MessagingClient

    /// - Parameter around: Adds layers to each client.
    package init(around: @escaping @Sendable (any MessagingClient) -> any MessagingClient = { $0 }) {
        self.around = around
    }

    package func makeMessagingClient() async throws -> any MessagingClient { around(MockMessagingClient(backend)) }
    package func platformToken() -> PlatformPushToken? {
        PlatformPushToken(.apns, token: Secret("\(UInt64.random(in: 0..<UInt64.max))"))
    }
    package func payload(_ message: RemoteMessage) throws -> RemotePayload { backend.messages.payload(of: message) }
    package func send(_ message: RemoteMessage, to token: MessagingToken) async throws {
        try backend.messages.send(title: message.title, body: message.body, data: message.data, to: token)
    }
    package func send(_ message: RemoteMessage, to topic: MessagingTopic) async throws {
        backend.messages.send(title: message.title, body: message.body, data: message.data, to: topic)
    }
}

/// A mock project with the rules for the domain clients.
package struct MockDomainHarness: DomainHarness {
    package let features = DomainFeatures(.all, files: true, enforcesRules: true)
    private let backend = MockBackend(rules: .domain)

    /// - Parameter asksForConfirmation: Whether new accounts must confirm their address.
    package init(asksForConfirmation: Bool = false) { backend.accounts.asksForConfirmation = asksForConfirmation }

    package func confirmEmail(_ email: String) async throws { backend.accounts.confirmEmail(email) }

    package func makeDomainDevice() async throws -> DomainDevice {
        let module = MockModule(backend: backend)
        let auth = try await module.makeAuthClient(ModuleContext())
        let context = ModuleContext(auth: auth)
        return DomainDevice(
            CoreClients(
                auth: auth, storage: try await module.makeStorageClient(context),
                files: try await module.makeFileStorageClient(context)))
    }
}

/// One project with its servers and devices.
package struct MockAdminHarness: AdminHarness {
    package let features: AdminFeatures
    private let backend = MockBackend()

    /// - Parameters:
    ///   - capabilities: The clients' capabilities.
    ///   - asksForConfirmation: Whether signing in requires a confirmed address.
    package init(
        _ capabilities: AdminCapabilities = MockAdminClient.everything, asksForConfirmation: Bool = false
    ) {
        var features = AdminFeatures(capabilities, auth: .all)
        features.asksForConfirmation = asksForConfirmation
        features.readsTokens = true
        self.features = features
        backend.accounts.asksForConfirmation = asksForConfirmation
    }

    package func makeAdminClient() async throws -> any AdminClient {
        MockAdminClient(backend, capabilities: features.capabilities)
    }

    package func makeAuthClient() async throws -> any AuthClient { MockAuthClient(backend) }

    package func claims(of token: AccessToken) async throws -> [String: DocumentValue] {
        let server = try await Infrastructure(.mock(backend))
        do {
            let claims = try await server.tokenVerifier().verify(token.value).claims
            await server.shutDown()
            return claims
        } catch {
            await server.shutDown()
            throw error
        }
    }

    package func resetCode(in link: URL) async throws -> Secret {
        let query = URLComponents(url: link, resolvingAgainstBaseURL: false)?.queryItems ?? []
        guard let code = query.first(where: { $0.name == "code" })?.value else { throw NoCode() }
        return Secret(code)
    }

    package func openConfirmation(_ link: URL, for email: String) async throws {
        try await MockAuthClient(backend).signIn(with: .emailLink(email: email, link))
    }

    private struct NoCode: Error {}
}

/// Two projects with different provider names, new for each factory.
package struct MockSwitchingHarness: SwitchingHarness {
    package let features = SwitchingFeatures(first: .mock, second: .secondMock, storage: .all, switchesAuth: true)
    package let selection = InfrastructureSelection(default: .mock)

    package init() {}

    package func makeFactory() async throws -> InfrastructureFactory {
        InfrastructureFactory(
            MockModule(backend: MockBackend()), SecondMockModule(inner: MockModule(backend: MockBackend())))
    }
}

extension InfrastructureProvider {
    package static let secondMock: InfrastructureProvider = "second-mock"
}

/// Another mock to switch to.
package struct SecondMockModule: InfrastructureModule {
    package static let provider: InfrastructureProvider = .secondMock
    private let inner: MockModule
    package var configuration: MockConfiguration { inner.configuration }

    package init(inner: MockModule) { self.inner = inner }
    package init(_ configuration: MockConfiguration) { inner = MockModule(configuration) }

    package func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        try await inner.makeAuthClient(context)
    }
    package func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        Renamed(base: try await inner.makeStorageClient(context))
    }

    private struct Renamed: StorageClientWrapper {
        let base: any StorageClient
        var provider: InfrastructureProvider { .secondMock }
    }
}
