import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase

/// Tokens from a server on this machine, which believes an assertion for what openssl says of its signature and nothing else.
@Suite(.enabled(if: OutsideTool.openssl.isInstalled, "openssl is not installed")) struct TokenServerTests {
    /// Whoever gives out tokens, the server that gives a machine its account, and a Firestore that takes the newest token.
    private final class Site: Sendable {
        private struct State {
            var url = ""
            var given = 0
            /// What was asked for, and how that went.
            var log: [String] = []
        }

        private let state = Mutex(State())
        private let key: OpenSSLKey

        init(believing key: OpenSSLKey) { self.key = key }

        func serve() throws -> LoopbackServer {
            let server = try LoopbackServer { [self] request in await answer(request) }
            state.withLock { $0.url = server.url }
            return server
        }

        var url: String { state.withLock { $0.url } }
        var log: [String] { state.withLock { $0.log } }
        private func note(_ line: String) { state.withLock { $0.log.append(line) } }
        /// Nothing that is out is taken any more.
        func revoke() { state.withLock { $0.given += 1 } }

        private func give(_ what: String) -> ServerResponse {
            let number = state.withLock { state in
                state.given += 1
                state.log.append(what)
                return state.given
            }
            let token: JSON = [
                "access_token": .string("token-\(number)"), "expires_in": 3599, "token_type": "Bearer",
            ]
            return .json(token.bytes())
        }

        private func answer(_ request: ServerRequest) async -> ServerResponse {
            switch request.path {
            case "/token": return await exchange(request)
            case "/computeMetadata/v1/instance/service-accounts/default/token":
                guard request.method == .get, request.headers["Metadata-Flavor"] == "Google" else {
                    note("metadata: no flavor")
                    return .text("", status: 403)
                }
                return give("metadata")
            default:
                let newest = state.withLock { "Bearer token-\($0.given)" }
                guard request.headers["Authorization"] == newest else {
                    note("firestore: refused")
                    let refusal: JSON = ["error": ["code": 401, "status": "UNAUTHENTICATED", "message": "no"]]
                    return .json(refusal.bytes(), status: 401)
                }
                let missing: JSON = [
                    [
                        "missing": "projects/demo/databases/(default)/documents/a/1",
                        "readTime": "2026-01-01T00:00:00Z",
                    ]
                ]
                return .json(missing.bytes())
            }
        }

        private func exchange(_ request: ServerRequest) async -> ServerResponse {
            func refuse(_ why: String) -> ServerResponse {
                note("token: \(why)")
                let refusal: JSON = ["error": "invalid_grant", "error_description": .string(why)]
                return .json(refusal.bytes(), status: 400)
            }
            guard request.headers["Content-Type"] == "application/x-www-form-urlencoded",
                let body = try? await request.body.collect(upTo: 1 << 16),
                let pairs = FormCoding.decode(String(decoding: body, as: UTF8.self))
            else { return refuse("no form") }
            let form = Dictionary(pairs.map { ($0.name, $0.value) }) { $1 }
            guard form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer",
                let token = try? JSONWebToken(Secret(form["assertion"] ?? "")), token.algorithm == "RS256"
            else { return refuse("no assertion") }
            guard (try? key.verifies(token.signature, of: token.signed)) == true else { return refuse("bad signature") }
            let now = Int64(Date().timeIntervalSince1970)
            guard token.claims["iss"] == "robot@demo.iam.gserviceaccount.com",
                token.claims["aud"]?.string == url + "/token", let end = token.claims["exp"]?.int64,
                let start = token.claims["iat"]?.int64, abs(start - now) < 300, end > now, end - start <= 3600
            else { return refuse("bad claims") }
            return give("token")
        }
    }

    private static func project(
        _ credential: FirebaseCredential, _ site: Site, environment: [String: String] = [:]
    ) async throws -> (client: any StorageClient, factory: any ServerClientFactory) {
        var configuration = FirebaseConfiguration(
            project: "demo", credential: credential, usesEmulatorVariables: false)
        configuration.hosts.firestore = site.url
        let module = FirebaseModule(configuration, environment: environment) { CurlTransport() }
        let factory = try await module.makeServerClientFactory(ModuleContext())
        return (try factory.makeProjectStorageClient(), factory)
    }

    @Test func `An assertion that openssl believes gets one token for all calls, and one more when that is revoked`()
        async throws
    {
        let key = try OpenSSLKey(.rsa)
        let site = Site(believing: key)
        let server = try site.serve()
        let file = CredentialBed.serviceAccount(key.pem, tokenAddress: site.url + "/token")
        let (client, factory) = try await Self.project(.keyFile(text: Secret(file.text())), site)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { _ = try await client.document("a/1") } }
            try await group.waitForAll()
        }
        #expect(site.log == ["token"])
        site.revoke()
        #expect(try await client.document("a/1").exists == false)
        #expect(site.log == ["token", "firestore: refused", "token"])
        await factory.shutDown()
        await server.stop()
    }

    @Test func `An assertion by another key gets none, and the reason is reported`() async throws {
        let site = Site(believing: try OpenSSLKey(.rsa))
        let server = try site.serve()
        let file = CredentialBed.serviceAccount(try OpenSSLKey(.rsa).pem, tokenAddress: site.url + "/token")
        let (client, factory) = try await Self.project(.keyFile(text: Secret(file.text())), site)
        let error = await #expect(throws: StorageError.self) { try await client.document("a/1") }
        #expect(error?.code == .unauthenticated && error?.message.contains("invalid_grant") == true)
        #expect(site.log == ["token: bad signature"])
        await factory.shutDown()
        await server.stop()
    }

    @Test func `A machine gets its token from the metadata server that the environment names`() async throws {
        let site = Site(believing: try OpenSSLKey(.rsa))
        let server = try site.serve()
        let host = String(site.url.dropFirst("http://".count))
        let environment = ["GCE_METADATA_HOST": host, "HOME": "/nowhere"]
        let (client, factory) = try await Self.project(.applicationDefault, site, environment: environment)
        #expect(try await client.document("a/1").exists == false)
        site.revoke()
        #expect(try await client.document("a/1").exists == false)
        #expect(site.log == ["metadata", "firestore: refused", "metadata"])
        await factory.shutDown()
        await server.stop()
    }
}
