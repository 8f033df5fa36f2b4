import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardProviderHTTP
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase

/// Tokens that requests bring to a server, good ones and forged ones.
@Suite struct FirebaseTokenVerifierTests {
    static let keys =
        "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
    static let certificates = "https://www.googleapis.com/identitytoolkit/v3/relyingparty/publicKeys"
    static let time: Int64 = 1_700_000_100

    final class Bed: Sendable {
        let transport: ScriptedTransport
        let clock = ManualClock()
        let verifier: FirebaseTokenVerifier

        convenience init(
            emulator: String? = nil, environment: [String: String] = [:], _ script: ScriptedExchange...
        ) throws {
            try self.init(emulator: emulator, environment: environment, apiKey: "key", script: script)
        }

        init(
            emulator: String? = nil, environment: [String: String] = [:], apiKey: Secret,
            credential: FirebaseCredential? = nil, script: [ScriptedExchange]
        ) throws {
            transport = ScriptedTransport(script)
            var configuration = FirebaseConfiguration(project: "demo", apiKey: apiKey, credential: credential)
            configuration.emulators.auth = emulator
            let transport = transport
            let module = FirebaseModule(configuration, environment: environment) { transport }
            verifier = FirebaseTokenVerifier(
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
    }

    static func published(_ keys: [RSAPrivateKey] = [TestKeys.one], age: Int = 3600) -> ScriptedExchange {
        .on(
            .get, self.keys,
            .json(
                JSON.object(["keys": .array(keys.map(\.publicKey.json))]).text(),
                headers: ["Cache-Control": "public, max-age=\(age), must-revalidate"]))
    }

    private static let good: JSONObject = [
        "iss": "https://securetoken.google.com/demo", "aud": "demo", "sub": "ada", "user_id": "ada",
        "iat": .integer(time - 100), "auth_time": .integer(time - 900), "exp": .integer(time + 3500),
        "email": "ada@example.com", "email_verified": true, "admin": true,
        "firebase": ["sign_in_provider": "password", "identities": [:]],
    ]

    static func token(
        _ changes: JSONObject = [:], header: JSONObject = [:], by key: RSAPrivateKey = TestKeys.one
    ) -> String {
        var claims = good
        for change in changes { claims[change.key] = change.value.isNull ? nil : change.value }
        var head: JSONObject = ["alg": "RS256", "kid": .string(key.publicKey.id), "typ": "JWT"]
        for change in header { head[change.key] = change.value.isNull ? nil : change.value }
        let signed = [head, claims].map { Base64.encode(JSON.object($0).bytes(), alphabet: .url) }.joined(
            separator: ".")
        return signed + "." + Base64.encode(key.signature(of: signed), alphabet: .url)
    }

    @Test func `A good token says whose it is, and its keys are fetched once`() async throws {
        let bed = try Bed(Self.published())
        for _ in 0..<3 {
            let verified = try await bed.verifier.verify(authorization: "Bearer " + Self.token())
            #expect(verified.userID == "ada" && verified.email == "ada@example.com" && verified.isEmailVerified)
            #expect(verified.issuer == "https://securetoken.google.com/demo" && verified.identity == .password)
            #expect(verified.expiresAt == Date(timeIntervalSince1970: Double(Self.time + 3500)))
            #expect(verified.signedInAt == Date(timeIntervalSince1970: Double(Self.time - 900)))
            #expect(verified.claims["admin"] == .bool(true) && !verified.isAnonymous)
            #expect("\(verified)" == "VerifiedToken(ada)")
        }
        try bed.transport.verify()
    }

    private static let forged: [(String, ErrorCode)] = {
        let parts = token().split(separator: ".").map(String.init)
        let others = token(["sub": "eve"]).split(separator: ".").map(String.init)
        let unsigned = token(header: ["alg": "none"]).split(separator: ".").map(String.init)
        return [
            (unsigned[0] + "." + unsigned[1] + ".", .invalidSignature),
            (token(header: ["alg": "none"]), .invalidSignature),
            // The public key is no secret.
            (token(header: ["alg": "HS256"]), .invalidSignature), (token(header: ["alg": "RS512"]), .invalidSignature),
            (token(header: ["alg": .null]), .invalidSignature), (token(by: TestKeys.another), .invalidSignature),
            (
                token(header: ["kid": .string(TestKeys.one.publicKey.id)], by: TestKeys.another), .invalidSignature
            ),
            (others[0] + "." + others[1] + "." + parts[2], .invalidSignature),
            (parts[0] + "." + parts[1] + "." + String(parts[2].dropLast(2)), .invalidSignature),
            (parts[0] + "." + parts[1] + ".", .invalidSignature),
            (token(["exp": .integer(time - 61)]), .tokenExpired), (token(["exp": .null]), .malformedToken),
            (token(["exp": "later"]), .malformedToken), (token(["iat": .integer(time + 61)]), .tokenNotYetValid),
            (token(["auth_time": .integer(time + 3600)]), .tokenNotYetValid),
            (token(["iss": "https://securetoken.google.com/other"]), .wrongProject),
            (token(["iss": .null]), .wrongProject), (token(["aud": "other"]), .wrongProject),
            (token(["aud": .null]), .wrongProject), (token(["aud": ["other", "more"]]), .wrongProject),
            (token(["sub": ""]), .malformedToken), (token(["sub": .null]), .malformedToken),
            (token(["sub": .string(String(repeating: "x", count: 129))]), .malformedToken),
            ("", .malformedToken), ("a.b", .malformedToken), ("a.b.c", .malformedToken),
            (parts[0] + "." + parts[1], .malformedToken), (token() + ".x", .malformedToken),
            (String(repeating: "a", count: 1 << 20), .malformedToken),
            (parts[0] + "." + String(repeating: "a", count: 1 << 20) + "." + parts[2], .malformedToken),
            (parts[0] + ".W10." + parts[2], .malformedToken), ("." + parts[1] + "." + parts[2], .malformedToken),
        ]
    }()

    @Test(arguments: forged.indices) func `A forged token is refused, and the reason is said`(_ index: Int) async throws
    {
        let (token, code) = Self.forged[index]
        let bed = try Bed(Self.published())
        #expect(await bed.code(token) == code)
    }

    @Test func `The error for a token of another project names the accepted project, and nothing from the token`()
        async throws
    {
        let bed = try Bed()
        let foreign = Secret(Self.token(["iss": "https://securetoken.google.com/foreign"]))
        let error = await #expect(throws: TokenError.self) { try await bed.verifier.verify(foreign) }
        #expect(error?.code == .wrongProject)
        #expect(error?.message.contains("its issuer is not “https://securetoken.google.com/") == true)
        #expect(error?.message.contains("Check the project") == true && error?.message.contains("foreign") == false)
    }

    @Test func `Text and bytes without a sense are refused, and nothing is fetched for them`() async throws {
        let bed = try Bed()
        var random = SeededGenerator(seed: 17)
        let parts = Self.token(["iss": "elsewhere"]).utf8.map { $0 }
        for _ in 0..<2_000 {
            var bytes = parts
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

    // MARK: Keys

    @Test func `Keys are fetched again when they have run out, and the old ones serve while that fails`() async throws {
        let bed = try Bed(
            Self.published(age: 600), .on(.get, Self.keys, .text("<html>", status: 503)),
            Self.published([TestKeys.another], age: 600))
        #expect(await bed.code(Self.token()) == nil)
        bed.clock.advance(by: .seconds(599))
        #expect(await bed.code(Self.token()) == nil && bed.transport.requests.count == 1)
        bed.clock.advance(by: .seconds(2))
        // The attempt fails and is not repeated for each token.
        for _ in 0..<5 { #expect(await bed.code(Self.token()) == nil) }
        #expect(bed.transport.requests.count == 2)
        bed.clock.advance(by: .seconds(6))
        #expect(await bed.code(Self.token(by: TestKeys.another)) == nil)
        #expect(await bed.code(Self.token()) == .invalidSignature, "the key was taken back")
        try bed.transport.verify()
    }

    @Test func `A flood of tokens with made-up key names has the keys fetched once a minute`() async throws {
        let bed = try Bed(Self.published(), Self.published([TestKeys.one, TestKeys.another]))
        let (claims, signature) = (Self.token().split(separator: ".")[1], Self.token().split(separator: ".")[2])
        for number in 0..<1_000 {
            let header = JSON.object(["alg": "RS256", "kid": .string("made-up-\(number)")])
            let flooding = "\(Base64.encode(header.bytes(), alphabet: .url)).\(claims).\(signature)"
            #expect(await bed.code(flooding) == .invalidSignature)
        }
        #expect(bed.transport.requests.count == 1)
        // The current keys stay valid.
        #expect(await bed.code(Self.token()) == nil)
        bed.clock.advance(by: .seconds(61))
        #expect(await bed.code(Self.token(by: TestKeys.another)) == nil, "a key that is new since")
        #expect(bed.transport.requests.count == 2)
    }

    @Test func `Without keys the error says so, and that it may be tried again`() async throws {
        let bed = try Bed(.on(.get, Self.keys, .json("{}")), .on(.get, Self.keys, .text("<html>", status: 404)))
        for _ in 0..<2 {
            let error = await #expect(throws: TokenError.self) { try await bed.verifier.verify(Secret(Self.token())) }
            #expect(error?.code == .unavailable && error?.isRetryable == true)
            #expect(error?.message.contains("www.googleapis.com") == true)
        }
    }

    @Test(
        arguments: [
            (nil, 3600), ("no-cache", 3600), ("max-age=1", 60), ("public, MAX-AGE = 700", 700),
            ("max-age=999999", 86_400),
            ("max-age=-4", 60), ("max-age=x", 3600),
        ] as [(String?, Int)])
    func `Keys live as long as their answer says, within reason`(_ header: String?, _ seconds: Int) {
        #expect(PublishedKeys.life(header) == .seconds(seconds))
    }

    // MARK: Session cookies

    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIDBTCCAe2gAwIBAgIUYKptw0UtBnq/NmwGxRQt2cJA6PYwDQYJKoZIhvcNAQEL
        BQAwEjEQMA4GA1UEAwwHc2Vzc2lvbjAeFw0yNjExMjMwNzQxMDJaFw0zNjExMjAw
        NzQxMDJaMBIxEDAOBgNVBAMMB3Nlc3Npb24wggEiMA0GCSqGSIb3DQEBAQUAA4IB
        DwAwggEKAoIBAQC1iLFo7offkDkPO4xP35SRJheV+0872ZVHbHLm6x+hIMFZew0Q
        PQfFfgWj7/GE86V3vXQ5Tl5/nRpxrUZkegJmfEwv5K8CVgM8IF8OKdWaL6YmtXN2
        aCw6PLWm7y8WaJxMJ+CV9CYMglIWJaeWc5PFnywzea3UR98B5pYzDb23smJZVWda
        chlDDa7TVYKyHFNmeMwSyuOjB2+CbQwywDRnGgeQSfh9vPIWk+LsUErYBX6mzJ5j
        kr48CJ19VSR/YVqxCigojkk39TMm5gBMKR7J9rZjkftSOzTBc/dlMMNBxFCEbIim
        CjZqLed5N0Psemjl/p5+ywADpBL6vCa3+3bZAgMBAAGjUzBRMB0GA1UdDgQWBBRr
        R0PCpqCrxzhSWr9Mx1F+M03YSjAfBgNVHSMEGDAWgBRrR0PCpqCrxzhSWr9Mx1F+
        M03YSjAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA4IBAQA7m47QMiMT
        pZRjzVhRChWmO9JTih/cFf1NxXisTypv9VRfSvNKXzMrVpYD/44ARzNBMRk3ycxl
        ktUPcvR57M8fYotdKTxd/AtapUN6uv7poZW2iFzZzT6PIXcQAEUW0DLTb7gT5JEp
        Jlmuw0pJFVSDhrigj7MLnUuG8yQR6zyLqIWTmc7/nxlUZD5Zt07CuIl9Oh8aPy9z
        DPF0xbSiduf1DyWsZF5F/eF4buDTgFj8lAjPA/l9ti+BQbystqhQWi4OF1z+oTL0
        jBdpZSZTdc76YU1WEvVCFCVoKTdA0v2+xpPW5gbOjtF219lw3/hRwif05Ndkk6D8
        9iks94FrDKhg
        -----END CERTIFICATE-----
        """
    /// Made with openssl, of the certificate's key, good for an hour from 1 700 000 000 on.
    static let cookie =
        "eyJhbGciOiAiUlMyNTYiLCAia2lkIjogImMxIiwgInR5cCI6ICJKV1QifQ.eyJpYXQiOiAxNzAwMDAwMDAwLCAiZXhwIjogM"
        + "TcwMDAwMzYwMCwgInN1YiI6ICJhZGEiLCAiaXNzIjogImh0dHBzOi8vc2Vzc2lvbi5maXJlYmFzZS5nb29nbGUuY29tL2Rlb"
        + "W8iLCAiYXVkIjogImRlbW8iLCAiYXV0aF90aW1lIjogMTcwMDAwMDAwMCwgImZpcmViYXNlIjogeyJzaWduX2luX3Byb3ZpZ"
        + "GVyIjogInBhc3N3b3JkIn19.CYYK-UBURuK9vW_gwe5__P8RGm_RpV1qT9GMysGzs1EBOBsawXpLvgrlF0QOhxGqSbanfoeN"
        + "l58FJS9mzUSEt33s_LD2jgxuW45Uie10Wgh-mpbUotZ4-NK7w1d5_lVadq0lXCVZyLw1EAy4K49MBFaEK5BPmhtfhk_L8fvs"
        + "zWlPsb5tVwB-AQ8kC-DXngaUSbfxV74erM4Z7JFQyzrngQf4hbqOx0pn2VIuFtBzv8gMmJs0ocsn4efJY_ydn2AOaBewhJ48"
        + "mUs_1Ohha2E1zkfMO7_uNzlgoXEid0SReB21-vZq-udQlW6Eqg4MYQX5LY7R0dwyfH4n-Ry97Ive0g"

    @Test func `A session cookie is checked with the certificates of the other issuer`() async throws {
        let certificates = JSON.object(["c1": .string(Self.certificate)]).text()
        let bed = try Bed(.on(.get, Self.certificates, .json(certificates)))
        let verified = try await bed.verifier.verify(Secret(Self.cookie))
        #expect(verified.userID == "ada" && verified.issuer == "https://session.firebase.google.com/demo")
        let changed = Self.cookie.dropLast(4) + "AAAA"
        #expect(await bed.code(String(changed)) == .invalidSignature)
        try bed.transport.verify()
    }

    @Test func `A certificate that is cut anywhere is no key, and harms no one`() {
        let lines = Self.certificate.split(separator: "\n").map(String.init)
        #expect(TokenKey(certificate: Self.certificate) != nil)
        for count in 1..<(lines.count - 2) {
            let cut = lines[...count] + ["-----END CERTIFICATE-----"]
            #expect(TokenKey(certificate: cut.joined(separator: "\n")) == nil, "cut after line \(count)")
        }
        #expect(TokenKey(certificate: lines[...4].joined(separator: "\n")) == nil)
        #expect(TokenKey(certificate: "") == nil && TokenKey(certificate: "-----BEGIN CERTIFICATE-----") == nil)
    }

    // MARK: Requests

    @Test(arguments: [nil, "", "Bearer", "Basic YTpi", "Bearer a b"] as [String?])
    func `A request without a bearer token is reported as such`(_ header: String?) async throws {
        let bed = try Bed()
        let error = await #expect(throws: TokenError.self) { try await bed.verifier.verify(authorization: header) }
        #expect(error?.code == .unauthenticated)
    }

    // MARK: Systems without libcrypto

    #if os(Linux)
        /// In a process of its own, which has opened nothing yet.
        static func askWithoutLibrary() async throws {
            #expect(!TokenKey.open(library: "libcrypto-that-is-nowhere.so.3"))
            let bed = try Bed()
            let parts = [["alg": "RS256", "kid": "k", "typ": "JWT"], good, [:]] as [JSONObject]
            let token = parts.map { Base64.encode(JSON.object($0).bytes(), alphabet: .url) }.joined(separator: ".")
            let error = await #expect(throws: TokenError.self) { try await bed.verifier.verify(Secret(token)) }
            #expect(error?.code == .unsupported && error?.message.contains("libssl3 or libssl1.1") == true)
            #expect(bed.transport.requests.isEmpty, "keys that no one can use are not fetched")
            let file = #"{"type":"service_account","private_key":"k","client_email":"e"}"#
            let configuration = FirebaseConfiguration(project: "demo", credential: .keyFile(text: Secret(file)))
            let refusal = #expect(throws: InfrastructureError.self) { try FirebaseModule(configuration).validate() }
            #expect(refusal?.code == .invalidConfiguration && refusal?.message.contains("libssl3") == true)
        }

        @Test func `Where the system lacks libcrypto, tokens and key files are refused with the package's name`() async
        {
            await #expect(processExitsWith: .success) { try await FirebaseTokenVerifierTests.askWithoutLibrary() }
        }
    #endif

    // MARK: Emulators

    private static func unsigned() -> String {
        token(header: ["alg": "none"]).split(separator: ".").prefix(2).joined(separator: ".") + "."
    }

    @Test func `A token without a signature is taken where the configuration names an emulator`() async throws {
        #expect(try await Bed(emulator: "127.0.0.1:9099").verifier.verify(Secret(Self.unsigned())).userID == "ada")
        #expect(await (try Bed()).code(Self.unsigned()) == .invalidSignature)
        let forged = Self.token(header: ["alg": "none"])
        #expect(await (try Bed(emulator: "127.0.0.1:9099")).code(forged) == .invalidSignature, "it has one")
    }

    @Test func `A variable that was left set does not make unsigned tokens valid`() async throws {
        let bed = try Bed(environment: ["FIREBASE_AUTH_EMULATOR_HOST": "127.0.0.1:9099"])
        let error = await #expect(throws: TokenError.self) { try await bed.verifier.verify(Secret(Self.unsigned())) }
        #expect(error?.code == .invalidSignature)
        #expect(error?.message.contains("set emulators.auth in Firebase's configuration") == true)
        let both = try Bed(
            emulator: "127.0.0.1:9098", environment: ["FIREBASE_AUTH_EMULATOR_HOST": "127.0.0.1:9099"])
        #expect(await both.code(Self.unsigned()) == nil)
    }

    @Test func `While the issuer fails, a flood of garbage asks it once in five seconds`() async throws {
        let failing = ScriptedExchange.on(.get, Self.keys, .text("busy", status: 503))
        let bed = try Bed(failing, failing, Self.published())
        // No one has their keys, so one signature does for all of them; each of its own would take a minute.
        let rest = Self.token().split(separator: ".").dropFirst().joined(separator: ".")
        @Sendable func garbage(_ id: String) -> String {
            let head: JSON = ["alg": "RS256", "kid": .string(id), "typ": "JWT"]
            return Base64.encode(head.bytes(), alphabet: .url) + "." + rest
        }
        func flood() async {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        #expect(
                            await bed.code(garbage("garbage \(number)")) == .unavailable)
                    }
                }
            }
        }
        await flood()
        for number in 0..<200 {
            #expect(await bed.code(garbage("more \(number)")) == .unavailable)
        }
        #expect(bed.transport.requests.count == 1)
        bed.clock.advance(by: PublishedKeys.pauseAfterFailure)
        await flood()
        #expect(bed.transport.requests.count == 2)
        bed.clock.advance(by: PublishedKeys.pauseAfterFailure)
        #expect(await bed.code(Self.token()) == nil, "a good one passes as soon as the issuer answers")
        try bed.transport.verify()
    }

    @Test(arguments: [false, true])
    func `A local Firebase's tokens are good until their session ends`(isSigned: Bool) async throws {
        var options = LocalFirebaseOptions()
        (options.signsTokens, options.tokenKey) = (isSigned, TestKeys.one)
        let firebase = try LocalFirebase(options)
        var configuration = FirebaseConfiguration(project: firebase.project, apiKey: "key")
        configuration.emulators.auth = firebase.host
        let backend = try await Infrastructure(.firebase(configuration))
        let verifier = try await backend.tokenVerifier()
        #expect(verifier.provider == .firebase)
        try await backend.auth.signUp(email: "ada@example.com", password: "secret")
        let user = try #require(await backend.auth.currentUser)
        let token = try await backend.auth.accessToken().value
        let verified = try await verifier.verify(token, checksRevocation: true)
        #expect(verified.userID == user.id && verified.email == "ada@example.com")
        try await backend.auth.deleteAccount()
        #expect(try await verifier.verify(token).userID == user.id, "no one was asked")
        let error = await #expect(throws: TokenError.self) { try await verifier.verify(token, checksRevocation: true) }
        #expect(error?.code == .tokenRevoked)
        await backend.shutDown()
        let over = await #expect(throws: InfrastructureError.self) { try await backend.tokenVerifier() }
        #expect(over?.code == .shutDown)
        await firebase.stop()
    }
}
