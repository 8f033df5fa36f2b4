import Switchyard
import SwitchyardConformance
import SwitchyardMock
import Testing

struct MockDomainHarness: DomainHarness {
    let features = DomainFeatures(.all, files: true)
    private let backend = MockBackend()

    func makeDomainDevice() async throws -> DomainDevice {
        DomainDevice(
            CoreClients(
                auth: MockAuthClient(backend), storage: MockStorageClient(backend),
                files: MockFileStorageClient(backend)))
    }
}

@Suite struct MockDomainConformanceTests {
    static let harness = MockDomainHarness()
    static let tally = ConformanceTally("mock domain", DomainConformance.all, for: harness.features)

    @Test(arguments: DomainConformance.checks(for: harness.features))
    func `The domain clients on the mock`(_ check: DomainCheck) async throws {
        try await Self.tally.run(check, on: Self.harness)
    }

    @Test func `Nothing is left out but the refusal of what is there`() {
        #expect(DomainConformance.leftOut(for: Self.harness.features) == [])
    }
}
