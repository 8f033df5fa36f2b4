import Switchyard
import SwitchyardConformance
import SwitchyardMock
import Testing

/// Two projects under two names, new for each factory.
struct MockSwitchingHarness: SwitchingHarness {
    let features = SwitchingFeatures(first: .mock, second: .secondMock, storage: .all, switchesAuth: true)
    let selection = InfrastructureSelection(default: .mock)

    func makeFactory() async throws -> InfrastructureFactory {
        InfrastructureFactory(
            MockModule(backend: MockBackend()), SecondMockModule(inner: MockModule(backend: MockBackend())))
    }
}

extension InfrastructureProvider {
    fileprivate static let secondMock: InfrastructureProvider = "second-mock"
}

/// Another mock, so that there is somebody to go over to.
private struct SecondMockModule: InfrastructureModule {
    static let provider: InfrastructureProvider = .secondMock
    let inner: MockModule
    var configuration: MockConfiguration { inner.configuration }

    init(inner: MockModule) { self.inner = inner }
    init(_ configuration: MockConfiguration) { inner = MockModule(configuration) }

    func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        try await inner.makeAuthClient(context)
    }
    func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        Renamed(base: try await inner.makeStorageClient(context))
    }

    private struct Renamed: StorageLayer {
        let base: any StorageClient
        var provider: InfrastructureProvider { .secondMock }
    }
}

@Suite struct MockSwitchingConformanceTests {
    static let harness = MockSwitchingHarness()
    static let tally = ConformanceTally("mock switching", SwitchingConformance.all, for: harness.features)

    @Test(arguments: SwitchingConformance.checks(for: harness.features))
    func `Going over between mocks`(_ check: SwitchingCheck) async throws {
        try await Self.tally.run(check, on: Self.harness)
    }

    @Test func `Nothing is left out`() {
        #expect(SwitchingConformance.leftOut(for: Self.harness.features) == [])
    }
}
