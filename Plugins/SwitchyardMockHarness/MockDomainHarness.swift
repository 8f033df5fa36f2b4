import Switchyard
package import SwitchyardConformance
import SwitchyardMock

package struct MockDomainHarness: DomainHarness {
    package let features = DomainFeatures(.all, files: true)
    private let backend = MockBackend()

    package init() {}

    package func makeDomainDevice() async throws -> DomainDevice {
        DomainDevice(
            CoreClients(
                auth: MockAuthClient(backend), storage: MockStorageClient(backend),
                files: MockFileStorageClient(backend)))
    }
}
