import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization

@testable import SwitchyardFirebase

/// Google's side of a credential: whoever gives out tokens, and a Firestore that takes the newest only.
final class CredentialBed: Sendable {
    struct Server {
        var given = 0
        /// Those that Firestore no longer takes.
        var isLastRefused = false
        var refusal: HTTPResponse?
    }

    let clock = MovedClock()
    let folder = ScratchSpace.url.appendingPathComponent("credential-\(UUID().uuidString)")
    let server = Mutex(Server())
    /// What was asked of whoever gives out tokens.
    let asked = Mutex<[HTTPRequest]>([])
    /// What Firestore was asked with.
    let bearers = Mutex<[String]>([])
    let projects = Mutex<[String?]>([])

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func file(_ name: String, _ json: JSON) throws -> String {
        let path = folder.appendingPathComponent(name).path
        try Data(json.bytes()).write(to: URL(fileURLWithPath: path))
        return path
    }

    static func serviceAccount(_ pem: String, tokenAddress: String = "https://oauth2.example.com/token") -> JSON {
        [
            "type": "service_account", "project_id": "demo", "private_key_id": "key 1", "private_key": .string(pem),
            "client_email": "robot@demo.iam.gserviceaccount.com", "token_uri": .string(tokenAddress),
        ]
    }

    var transport: AnsweringTransport {
        AnsweringTransport { [self] request throws(TransportError) in
            guard request.url.hasPrefix("https://firestore.googleapis.com/") else { return give(request) }
            bearers.withLock { $0.append(request.headers["Authorization"] ?? "none") }
            projects.withLock { $0.append(request.headers["x-goog-user-project"]) }
            let isGood = server.withLock { server in
                !server.isLastRefused && request.headers["Authorization"] == "Bearer token-\(server.given)"
            }
            guard isGood else {
                return .text(#"{"error":{"code":401,"status":"UNAUTHENTICATED","message":"no"}}"#, status: 401)
            }
            return .text(
                #"[{"missing":"projects/demo/databases/(default)/documents/a/1","readTime":"2026-01-01T00:00:00Z"}]"#)
        }
    }

    private func give(_ request: HTTPRequest) -> HTTPResponse {
        asked.withLock { $0.append(request) }
        if request.url.contains("/subject") { return .text(#"{"value":"who I am"}"#) }
        let (number, refusal) = server.withLock { server in
            server.given += 1
            server.isLastRefused = false
            return (server.given, server.refusal)
        }
        if let refusal { return refusal }
        if request.url.contains(":generateAccessToken") {
            let end = RFC3339.format(RFC3339.Moment(seconds: clock.now.seconds + 3600, nanoseconds: 0))
            return .text(#"{"accessToken":"token-\#(number)","expireTime":"\#(end)"}"#)
        }
        return .text(#"{"access_token":"token-\#(number)","expires_in":3599,"token_type":"Bearer"}"#)
    }

    func module(
        _ credential: FirebaseCredential?, environment: [String: String] = [:],
        _ change: (inout FirebaseConfiguration) -> Void = { _ in }
    ) -> FirebaseModule {
        var configuration = FirebaseConfiguration(project: "demo", apiKey: "key", credential: credential)
        change(&configuration)
        return FirebaseModule(configuration, environment: environment) { [transport] in transport }
    }

    /// The project's own client.
    func client(
        _ credential: FirebaseCredential?, environment: [String: String] = [:]
    ) async throws -> any StorageClient {
        let clock = clock
        let factory = try await module(credential, environment: environment).makeServerClientFactory(
            ModuleContext(clock: ImpatientClock(), now: { clock.now }))
        return try factory.makeProjectStorageClient()
    }
}
