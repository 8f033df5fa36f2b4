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

/// Custom tokens of servers that hold no key: Google signs.
@Suite struct CustomTokenTests {
    private static let account = "robot@demo.iam.gserviceaccount.com"
    private static let signing =
        "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/\(account):signBlob"
    private static let machine = "http://127.0.0.1:1/computeMetadata/v1/instance/service-accounts/default"

    /// A machine at Google, and the service that signs.
    private static func transport(
        email: HTTPResponse = .text(CustomTokenTests.account + "\n"),
        _ signBlob: @escaping AnsweringTransport.Answer = CustomTokenTests.signed
    ) -> AnsweringTransport {
        AnsweringTransport { request throws(TransportError) in
            if request.url.hasPrefix(machine + "/token") {
                return .text(#"{"access_token":"machine","expires_in":3599,"token_type":"Bearer"}"#)
            }
            if request.url == machine + "/email" { return email }
            return try signBlob(request)
        }
    }

    /// With the right signature of whatever is sent.
    private static func signed(_ request: HTTPRequest) -> HTTPResponse {
        let payload = (try? JSON(parsing: request.body))?["payload"]?.string.flatMap { Base64.decode($0) } ?? []
        let signature = TestKeys.one.signature(of: String(decoding: payload, as: UTF8.self))
        return .text(#"{"keyId":"k","signedBlob":"\#(Base64.encode(signature))"}"#)
    }

    private static func client(
        _ transport: AnsweringTransport, _ credential: FirebaseCredential = .applicationDefault,
        as account: String? = nil
    ) async throws -> any AdminClient {
        let configuration = FirebaseConfiguration(
            project: "demo", credential: credential, serviceAccount: account, usesEmulatorVariables: false)
        let module = FirebaseModule(
            configuration, environment: ["GCE_METADATA_HOST": "127.0.0.1:1", "HOME": "/nowhere"]
        ) { transport }
        let context = ModuleContext(clock: ImpatientClock(), now: { Timestamp(microseconds: 1_700_000_000_000_000) })
        return try await module.makeServerClientFactory(context).makeAdminClient()
    }

    private static func calls(_ transport: AnsweringTransport, to address: String) -> [HTTPRequest] {
        transport.requests.filter { $0.url.hasPrefix(address) }
    }

    // MARK: Signed

    @Test func `On a machine at Google its own account signs, and is asked for once`() async throws {
        let transport = Self.transport()
        let client = try await Self.client(transport)
        #expect(client.capabilities.customTokens)
        for person in ["alice", "bob"] {
            let token = try JSONWebToken(try await client.customToken(for: person, claims: ["premium": true]))
            #expect(token.algorithm == "RS256")
            #expect(token.signature == TestKeys.one.signature(of: String(decoding: token.signed, as: UTF8.self)))
            #expect(token.claims["uid"]?.string == person && token.claims["claims"]?["premium"] == true)
            #expect(token.claims["iss"]?.string == Self.account && token.claims["sub"]?.string == Self.account)
            #expect(token.claims["iat"] == 1_700_000_000 && token.claims["exp"] == 1_700_003_600)
        }
        let questions = Self.calls(transport, to: Self.machine + "/email")
        #expect(questions.count == 1 && questions.first?.headers["Metadata-Flavor"] == "Google")
        let signings = Self.calls(transport, to: Self.signing)
        #expect(signings.count == 2)
        #expect(signings.allSatisfy { $0.method == .post && $0.headers["Authorization"] == "Bearer machine" })
    }

    @Test func `The account that the configuration names signs, and a token that is refused is renewed once`()
        async throws
    {
        let transport = Self.transport { request throws(TransportError) in
            guard request.headers["Authorization"] == "Bearer second" else { return .text("{}", status: 401) }
            return Self.signed(request)
        }
        let credential = FirebaseCredential.tokens { isRefused in
            .init(isRefused ? "second" : "first", expiresAt: .distantFuture)
        }
        let client = try await Self.client(transport, credential, as: Self.account)
        #expect(client.capabilities.customTokens)
        let token = try JSONWebToken(try await client.customToken(for: "alice"))
        #expect(token.claims["iss"]?.string == Self.account)
        let asked = transport.requests.map { $0.headers["Authorization"] }
        #expect(asked == ["Bearer first", "Bearer second"])
    }

    @Test func `Workload identity signs as the account that it acts for`() throws {
        func account(_ impersonation: String) throws -> String? {
            let file = """
                {"type":"external_account","audience":"a","subject_token_type":"t","token_url":"https://sts.example.com",
                 "service_account_impersonation_url":"\(impersonation)","credential_source":{"file":"f"}}
                """
            guard case .workload(let workload) = try GoogleKeyFile(Secret(file), from: "a text") else { return nil }
            return workload.account
        }
        let place = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/"
        #expect(try account(place + "\(Self.account):generateAccessToken") == Self.account)
        #expect(try account("https://example.com/elsewhere") == nil)
    }

    // MARK: Not signed

    private static func refusal(_ status: Int, _ code: String, _ reason: String) -> HTTPResponse {
        .text(
            #"{"error":{"code":\#(status),"message":"secret words","status":"\#(code)","#
                + #""details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"\#(reason)"}]}}"#,
            status: status)
    }

    private static let refusals: [(answer: HTTPResponse, code: ErrorCode, words: String)] = [
        (refusal(403, "PERMISSION_DENIED", "IAM_PERMISSION_DENIED"), .unauthorized, "Service Account Token Creator"),
        (
            refusal(403, "PERMISSION_DENIED", "SERVICE_DISABLED"), .failedPrecondition,
            "IAM Service Account Credentials API"
        ),
        (refusal(404, "NOT_FOUND", "x"), .failedPrecondition, "Check serviceAccount"),
        (refusal(401, "UNAUTHENTICATED", "x"), .unauthenticated, "does not accept the credential's token"),
        (refusal(429, "RESOURCE_EXHAUSTED", "x"), .rateLimited, "too many requests"),
        (.text("", status: 503), .unavailable, "does not sign at the moment"),
        (.text("{}"), .unavailable, "has no signature in it"),
        (.text(#"{"signedBlob":"not base64"}"#), .unavailable, "has no signature in it"),
    ]

    @Test(arguments: refusals.indices) func `Why Google does not sign is reported with the next step`(index: Int)
        async throws
    {
        let expected = Self.refusals[index]
        let client = try await Self.client(Self.transport { _ throws(TransportError) in expected.answer })
        let error = await #expect(throws: AuthError.self) { try await client.customToken(for: "alice") }
        #expect(error?.code == expected.code, "\(error as Any)")
        #expect(error?.message.contains(expected.words) == true, "\(error as Any)")
        #expect(error?.message.contains("Signing a custom token as “\(Self.account)” failed") == true)
        #expect(error?.message.contains("secret words") == false)
    }

    @Test(arguments: [HTTPResponse.text("", status: 404), .text("<html>"), .text("a@b/../c")])
    func `The error for a machine that does not name its account says to give it one`(_ email: HTTPResponse)
        async throws
    {
        let transport = Self.transport(email: email)
        let client = try await Self.client(transport)
        let error = await #expect(throws: AuthError.self) { try await client.customToken(for: "alice") }
        #expect(error?.code == .failedPrecondition && error?.message.contains("Set serviceAccount") == true)
        #expect(Self.calls(transport, to: "https://").isEmpty, "nothing is signed")
    }

    @Test func `An account in the configuration is read from a file, and has to be one`() throws {
        let settings = #"{"project":"demo","credential":"applicationDefault","serviceAccount":"\#(Self.account)"}"#
        let decoded = try JSONDecoder().decode(FirebaseConfiguration.self, from: Data(settings.utf8))
        #expect(decoded.serviceAccount == Self.account)
        for wrong in ["robot", "a/b@demo", "a@b@c", ""] {
            let module = FirebaseModule(FirebaseConfiguration(project: "demo", serviceAccount: wrong))
            let error = #expect(throws: InfrastructureError.self) { try module.validate() }
            #expect(error?.message.contains("serviceAccount must be the address") == true)
        }
    }
}
