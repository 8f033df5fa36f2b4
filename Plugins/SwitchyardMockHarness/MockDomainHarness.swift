import Switchyard
package import SwitchyardConformance
import SwitchyardMock

package struct MockDomainHarness: DomainHarness {
    package let features = DomainFeatures(.all, files: true)
    private let backend = MockBackend()

    /// - Parameter asksForConfirmation: Whether new accounts wait for their mail.
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
