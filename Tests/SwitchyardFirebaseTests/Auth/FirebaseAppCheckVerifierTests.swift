import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// App Check tokens that requests bring to a server, good ones and forged ones.
@Suite struct FirebaseAppCheckVerifierTests {
    private static let issuer = "https://firebaseappcheck.googleapis.com"
    private static let keys = issuer + "/v1/jwks"
    private static let useAddress = issuer + "/v1beta/projects/demo:verifyAppCheckToken"
    private static let time: Int64 = 1_700_000_100

    private final class Bed: Sendable {
        let transport: ScriptedTransport
        let clock = ManualClock()
        let verifier: FirebaseAppCheckVerifier

        init(senderID: String? = nil, credential: FirebaseCredential? = nil, _ script: ScriptedExchange...) throws {
            transport = ScriptedTransport(script)
            let configuration = FirebaseConfiguration(project: "demo", credential: credential, senderID: senderID)
            let transport = transport
            let module = FirebaseModule(configuration, environment: [:]) { transport }
            verifier = FirebaseAppCheckVerifier(
                try module.clientContext(
                    ModuleContext(
                        auth: nil, clock: clock, now: { Timestamp(clampingSeconds: time, nanoseconds: 0) })))
        }

        func code(_ token: String) async -> ErrorCode? {
            do throws(TokenError) {
                _ = try await verifier.verify(Secret(token))
                return nil
            } catch {
                #expect(token.count < 20 || !error.description.contains(token))
                return error.code
            }
        }

        func codeOfUse(_ token: String = token()) async -> ErrorCode? {
            do throws(TokenError) {
                _ = try await verifier.consume(Secret(token))
                return nil
            } catch {
                return error.code
            }
        }
    }

    private static func published(_ keys: [RSAPrivateKey] = [TestKeys.one], age: Int = 21_600) -> ScriptedExchange {
        .on(
            .get, self.keys,
            .json(
                JSON.object(["keys": .array(keys.map(\.publicKey.json))]).text(),
                headers: ["Cache-Control": "public, max-age=\(age)"]))
    }

    private static func token(
        _ changes: JSONObject = [:], header: JSONObject = [:], by key: RSAPrivateKey = TestKeys.one
    ) -> String {
        var claims: JSONObject = [
            "iss": .string(issuer + "/123"), "aud": ["projects/123", "projects/demo"], "sub": "1:123:ios:abc",
            "iat": .integer(time - 100), "exp": .integer(time + 3500), "jti": "x",
        ]
        for change in changes { claims[change.key] = change.value.isNull ? nil : change.value }
        var head: JSONObject = ["alg": "RS256", "kid": .string(key.publicKey.id), "typ": "JWT"]
        for change in header { head[change.key] = change.value.isNull ? nil : change.value }
        let signed = [head, claims].map { Base64.encode(JSON.object($0).bytes(), alphabet: .url) }.joined(
            separator: ".")
        return signed + "." + Base64.encode(key.signature(of: signed), alphabet: .url)
    }

    @Test(arguments: [nil, "123"]) func `A good token says which app sent it, and its keys are fetched once`(
        number: String?
    ) async throws {
        let bed = try Bed(senderID: number, Self.published())
        for _ in 0..<3 {
            let app = try await bed.verifier.verify(header: Self.token())
            #expect(app.appID == "1:123:ios:abc")
            #expect(app.issuedAt == Date(timeIntervalSince1970: Double(Self.time - 100)))
            #expect(app.expiresAt == Date(timeIntervalSince1970: Double(Self.time + 3500)))
        }
        try bed.transport.verify()
    }

    @Test func `What an app's client sends with a request is what a server accepts`() async throws {
        let app = try FirestoreBed(
            FirestoreBed.found("a/b"), appCheck: FirebaseAppCheck { _ in Secret(Self.token()) })
        _ = try await app.service.documents(["a/b"])
        let server = try Bed(Self.published())
        let sender = try await server.verifier.verify(header: app.header("X-Firebase-AppCheck", 0))
        #expect(sender.appID == "1:123:ios:abc")
        // Without a source of tokens it sends none, and is refused.
        let other = try FirestoreBed(FirestoreBed.found("a/b"))
        _ = try await other.service.documents(["a/b"])
        await #expect(throws: TokenError.self) {
            try await server.verifier.verify(header: other.header("X-Firebase-AppCheck", 0))
        }
    }

    private static let forged: [(String, ErrorCode)] = {
        let parts = token().split(separator: ".").map(String.init)
        let others = token(["sub": "1:123:web:def"]).split(separator: ".").map(String.init)
        return [
            (parts[0] + "." + parts[1] + ".", .invalidSignature), (token(header: ["alg": "none"]), .invalidSignature),
            // The public key is no secret.
            (token(header: ["alg": "HS256"]), .invalidSignature), (token(header: ["alg": "ES256"]), .invalidSignature),
            (token(header: ["alg": .null]), .invalidSignature), (token(header: ["typ": .null]), .malformedToken),
            (token(header: ["typ": "at+jwt"]), .malformedToken), (token(by: TestKeys.another), .invalidSignature),
            (token(header: ["kid": .string(TestKeys.one.publicKey.id)], by: TestKeys.another), .invalidSignature),
            (others[0] + "." + others[1] + "." + parts[2], .invalidSignature),
            (token(["exp": .integer(time - 61)]), .tokenExpired), (token(["exp": .null]), .malformedToken),
            (token(["iat": .integer(time + 61)]), .tokenNotYetValid), (token(["iss": .null]), .wrongProject),
            (token(["iss": "https://securetoken.google.com/demo"]), .wrongProject),
            (token(["iss": .string(issuer)]), .wrongProject), (token(["iss": .string(issuer + "/")]), .wrongProject),
            (token(["iss": .string(issuer + "/demo")]), .wrongProject),
            (token(["iss": .string(issuer + ".example.com/123")]), .wrongProject),
            (token(["iss": .string("https://example.com/" + issuer + "/123")]), .wrongProject),
            // Signed with the same keys, for another project.
            (token(["iss": .string(issuer + "/456"), "aud": ["projects/456", "projects/other"]]), .wrongProject),
            // An audience of its own choosing does not make up for the number.
            (token(["iss": .string(issuer + "/456")]), .wrongProject),
            (token(["aud": ["projects/123"]]), .wrongProject), (token(["aud": "demo"]), .wrongProject),
            (token(["aud": .null]), .wrongProject), (token(["sub": ""]), .malformedToken),
            (token(["sub": .null]), .malformedToken), ("", .malformedToken), ("a.b.c", .malformedToken),
            (String(repeating: "a", count: 1 << 20), .malformedToken), (token() + ".x", .malformedToken),
        ]
    }()

    @Test(arguments: forged.indices) func `A forged token is refused, and the reason is said`(_ index: Int) async throws
    {
        let (token, code) = Self.forged[index]
        #expect(await (try Bed(Self.published())).code(token) == code)
    }

    @Test func `With the project's number, a token for another number is refused before any key is fetched`()
        async throws
    {
        let bed = try Bed(senderID: "456")
        let error = await #expect(throws: TokenError.self) { try await bed.verifier.verify(Secret(Self.token())) }
        #expect(error?.code == .wrongProject && error?.message.contains("not 456") == true)
        #expect(error?.message.contains("123") == false, "nothing from the token")
        #expect(bed.transport.requests.isEmpty)
    }

    @Test(arguments: [nil, ""] as [String?])
    func `A request without a token is reported as such`(_ header: String?) async throws {
        let bed = try Bed()
        let error = await #expect(throws: TokenError.self) { try await bed.verifier.verify(header: header) }
        #expect(error?.code == .unauthenticated && error?.message.contains("X-Firebase-AppCheck") == true)
    }

    @Test func `Keys are used for six hours at most, and a flood of garbage has them fetched once a minute`()
        async throws
    {
        let bed = try Bed(Self.published(age: 86_400), Self.published([TestKeys.another]))
        let rest = Self.token().split(separator: ".").dropFirst().joined(separator: ".")
        for number in 0..<500 {
            let head: JSON = ["alg": "RS256", "kid": .string("made-up-\(number)"), "typ": "JWT"]
            #expect(await bed.code(Base64.encode(head.bytes(), alphabet: .url) + "." + rest) == .invalidSignature)
        }
        #expect(await bed.code(Self.token()) == nil)
        #expect(bed.transport.requests.count == 1)
        bed.clock.advance(by: .seconds(6 * 3600 - 1))
        #expect(await bed.code(Self.token()) == nil && bed.transport.requests.count == 1)
        bed.clock.advance(by: .seconds(2))
        #expect(await bed.code(Self.token()) == .invalidSignature, "the key was taken back")
        try bed.transport.verify()
    }

    @Test func `Text and bytes without a sense are refused, and nothing is fetched for them`() async throws {
        let bed = try Bed()
        var random = SeededGenerator(seed: 17)
        let good = Array(Self.token(["iss": "elsewhere"]).utf8)
        for _ in 0..<2_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0x20...0x7E, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(UInt8(ascii: "."), at: place)
                }
            }
            #expect(await bed.code(String(decoding: bytes, as: UTF8.self)) != nil)
        }
        #expect(bed.transport.requests.isEmpty)
    }

    // MARK: Tokens that are used once

    private static let credential = FirebaseCredential.tokens { _ in
        FirebaseCredential.Token("ya29.test", expiresAt: Date(timeIntervalSince1970: Double(time + 3600)))
    }

    private static func use(_ reply: ScriptedReply) -> ScriptedExchange {
        .on(
            .post, useAddress,
            check: { recorded in
                guard recorded.request.headers["Authorization"] == "Bearer ya29.test" else { return "no credential" }
                let body = try? JSON(parsing: recorded.body)
                return body?["appCheckToken"]?.string == token() ? nil : "another body: \(recorded.text)"
            }, reply)
    }

    @Test func `A token is used once`() async throws {
        let bed = try Bed(
            credential: Self.credential, Self.published(), Self.use(.json("{}")),
            Self.use(.json(#"{"alreadyConsumed":true}"#)), Self.use(.json(#"{"alreadyConsumed":false}"#)))
        #expect(try await bed.verifier.consume(Secret(Self.token())).appID == "1:123:ios:abc")
        #expect(await bed.codeOfUse() == .tokenAlreadyUsed)
        #expect(await bed.codeOfUse() == nil)
        try bed.transport.verify()
    }

    @Test func `A forged token is not sent on to be used`() async throws {
        let bed = try Bed(credential: Self.credential, Self.published())
        #expect(await bed.codeOfUse(Self.token(by: TestKeys.another)) == .invalidSignature)
        #expect(bed.transport.requests.map(\.request.url) == [Self.keys])
    }

    @Test func `What the service refuses is this server's matter, and an outage may be tried again`() async throws {
        let bed = try Bed(
            credential: Self.credential, Self.published(), Self.use(.status(401)), Self.use(.status(401)),
            Self.use(.status(403)), Self.use(.status(503)), Self.use(.text("<html>")))
        #expect(await bed.codeOfUse() == .failedPrecondition, "a new token was refused, too")
        #expect(await bed.codeOfUse() == .failedPrecondition)
        for _ in 0..<2 {
            let error = await #expect(throws: TokenError.self) { try await bed.verifier.consume(Secret(Self.token())) }
            #expect(error?.code == .unavailable && error?.isRetryable == true)
        }
        try bed.transport.verify()
        #expect(await (try Bed(Self.published())).codeOfUse() == .unsupported, "without a credential")
    }

    @Test func `Every piece of Swift in the page stands here, line for line`() async throws {
        let verifier = try FirebaseAppCheckVerifier(FirebaseConfiguration(project: "demo", senderID: "123456789"))

        func app(sending headers: [String: String]) async throws -> String {
            try await verifier.verify(header: headers["X-Firebase-AppCheck"]).appID
        }

        await #expect(throws: TokenError.self) { try await app(sending: [:]) }
        await verifier.shutDown()
        let missing = try Article("Plugins/SwitchyardFirebase/Documentation.docc/Accounts.md").missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }
}
