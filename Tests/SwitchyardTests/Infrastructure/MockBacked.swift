import Switchyard
import SwitchyardMock

/// A provider of a test's own whose accounts and documents are a mock's.
protocol MockBacked: InfrastructureModule {
    var mock: MockModule { get }
}

extension MockBacked {
    func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        try await mock.makeAuthClient(context)
    }
    func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        try await mock.makeStorageClient(context)
    }
}
