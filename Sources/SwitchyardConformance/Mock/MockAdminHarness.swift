package import Foundation
package import Switchyard
import SwitchyardMock

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
