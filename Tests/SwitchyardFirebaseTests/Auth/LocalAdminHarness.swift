import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardConformance
import SwitchyardProviderHTTP
import SwitchyardTestSupport
import SwitchyardWire

@testable import SwitchyardFirebase
@testable import SwitchyardLocalFirebase

/// Servers and devices of one project on a local Firebase of its own.
final class LocalAdminHarness: AdminHarness {
    static let features: AdminFeatures = {
        var capabilities = AdminCapabilities()
        capabilities.endingSessions = true
        capabilities.customTokens = true
        capabilities.links = Set(AccountLink.allCases)
        var features = AdminFeatures(capabilities, auth: LocalAuthHarness.features.capabilities)
        features.readsTokens = true
        return features
    }()

    private let clock = MovedClock()
    private let firebase: LocalFirebase
    let features: AdminFeatures = LocalAdminHarness.features

    init() throws {
        var options = LocalFirebaseOptions()
        options.now = { [clock] in clock.now }
        firebase = try LocalFirebase(options)
    }

    private func module() -> FirebaseModule {
        let configuration = FirebaseConfiguration(
            project: firebase.project, apiKey: "any", emulators: .init(auth: firebase.host),
            usesEmulatorVariables: false)
        return FirebaseModule(configuration, environment: [:]) { CurlTransport() }
    }

    private func context() -> ModuleContext { ModuleContext(now: { [clock] in clock.now }) }

    func makeAdminClient() async throws -> any AdminClient {
        try await module().makeServerClientFactory(context()).makeAdminClient()
    }

    func makeAuthClient() async throws -> any AuthClient { try await module().makeAuthClient(context()) }

    func claims(of token: AccessToken) async throws -> [String: DocumentValue] {
        Dictionary(try JSONWebToken(token.value).claims.map { ($0.key, DocumentValue($0.value)) }) { _, last in last }
    }

    private struct NoCode: Error {}

    private static func code(in link: URL) throws -> String {
        let query = URLComponents(url: link, resolvingAgainstBaseURL: false)?.queryItems ?? []
        guard let code = query.first(where: { $0.name == "oobCode" })?.value else { throw NoCode() }
        return code
    }

    func resetCode(in link: URL) async throws -> Secret { Secret(try Self.code(in: link)) }

    func openConfirmation(_ link: URL, for email: String) async throws {
        let transport = CurlTransport()
        let response = try await transport.send(
            HTTPRequest(
                .post, "http://\(firebase.host)/identitytoolkit.googleapis.com/v1/accounts:update?key=any",
                headers: ["Content-Type": "application/json"],
                body: JSON.object(["oobCode": .string(try Self.code(in: link))]).bytes()))
        await transport.shutDown()
        guard response.isSuccess else { throw NoCode() }
    }

    func letTimePass() async throws { clock.advance(2) }
}
