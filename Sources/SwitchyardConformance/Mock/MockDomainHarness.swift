import Switchyard
import SwitchyardMock

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
