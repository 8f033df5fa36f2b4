package import Switchyard
package import SwitchyardMock

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
