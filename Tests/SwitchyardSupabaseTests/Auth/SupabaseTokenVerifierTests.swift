import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardProviderHTTP
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Tokens that requests bring to a server, of a project with keys and of one with a secret.
@Suite struct SupabaseTokenVerifierTests {
    private static let address = "https://demo.supabase.co"
    private static let time: Int64 = 1_700_000_100
    private static let secret = "super-secret-jwt-token-with-at-least-32-characters"
    /// Made with openssl, by the key below, good for an hour from 1 700 000 000 on.
    private static let token =
        "eyJhbGciOiAiRVMyNTYiLCAia2lkIjogImsxIiwgInR5cCI6ICJKV1QifQ.eyJpYXQiOiAxNzAwMDAwMDAwLCAiZXhwIjogM"
        + "TcwMDAwMzYwMCwgInN1YiI6ICJhZGEiLCAiaXNzIjogImh0dHBzOi8vZGVtby5zdXBhYmFzZS5jby9hdXRoL3YxIiwgImF1Z"
        + "CI6ICJhdXRoZW50aWNhdGVkIiwgInJvbGUiOiAiYXV0aGVudGljYXRlZCIsICJlbWFpbCI6ICJhZGFAZXhhbXBsZS5jb20iL"
        + "CAiYXBwX21ldGFkYXRhIjogeyJwcm92aWRlciI6ICJlbWFpbCJ9LCAidXNlcl9tZXRhZGF0YSI6IHsiZW1haWxfdmVyaWZpZ"
        + "WQiOiB0cnVlfSwgImlzX2Fub255bW91cyI6IGZhbHNlfQ._fvnEOChThrn_diwFM1IjPgMcBdAtqzFb8oRUoKVntp4rGcxC7"
        + "kTgKuG5HsOKAfhDlc7K8IzGaBH1cYa4ae8kg"

    private static let key: JSON = [
        "kty": "EC", "crv": "P-256", "kid": "k1", "alg": "ES256", "x": "Q7C4VT6tWkN-Jf-9vjTRWdvDHxls18wVDSk48Qa9nOQ",
        "y": "xsP3qE38mSO6pAv6vJFfl9S8Re2HTUlWAGIPbuyBUVE",
    ]

    private func verifier(
        secret: Secret? = nil, keys: [JSON]? = nil
    ) throws -> (SupabaseTokenVerifier, ScriptedTransport) {
        let transport = ScriptedTransport(
            keys.map {
                [
                    .on(
                        .get, Self.address + "/auth/v1/.well-known/jwks.json",
                        .json(JSON.object(["keys": .array($0)]).text()))
                ]
            } ?? [])
        var configuration = SupabaseConfiguration(url: Self.address, key: "key")
        configuration.jwtSecret = secret
        let verifier = SupabaseTokenVerifier(
            try SupabaseModule(configuration) { transport }.clientContext(
                ModuleContext(auth: nil, now: { Timestamp(clampingSeconds: Self.time, nanoseconds: 0) })))
        return (verifier, transport)
    }

    private static func signed(
        _ changes: JSONObject = [:], secret: String = Self.secret, algorithm: JSON = "HS256"
    ) -> String {
        var claims: JSONObject = [
            "iss": .string(address + "/auth/v1"), "aud": "authenticated", "sub": "ada", "role": "authenticated",
            "iat": .integer(time - 10), "exp": .integer(time + 3600), "is_anonymous": true,
        ]
        for change in changes { claims[change.key] = change.value.isNull ? nil : change.value }
        let text = [["alg": algorithm, "typ": "JWT"], claims].map {
            Base64.encode(JSON.object($0).bytes(), alphabet: .url)
        }.joined(separator: ".")
        let code = HMACSHA256.code(for: Array(text.utf8), key: Array(secret.utf8))
        return text + "." + Base64.encode(code, alphabet: .url)
    }

    private func code(_ verifier: SupabaseTokenVerifier, _ token: String) async -> ErrorCode? {
        do throws(TokenError) {
            _ = try await verifier.verify(Secret(token))
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `A token of a project with keys is checked by ES256, and the keys are fetched once`() async throws {
        let (verifier, transport) = try verifier(keys: [Self.key])
        for _ in 0..<3 {
            let verified = try await verifier.verify(Secret(Self.token))
            #expect(verified.userID == "ada" && verified.role == "authenticated" && !verified.isEmailVerified)
            #expect(verified.email == "ada@example.com" && verified.identity == .password && !verified.isAnonymous)
        }
        for place in [-1, -40, -80] {
            var letters = Array(Self.token)
            let index = letters.count + place
            letters[index] = letters[index] == "A" ? "B" : "A"
            #expect(await code(verifier, String(letters)) == .invalidSignature)
        }
        #expect(await code(verifier, String(Self.token.dropLast(2))) == .invalidSignature)
        try transport.verify()
    }

    @Test func `A key of another kind or another name signs nothing`() async throws {
        let rsa = TestKeys.one.publicKey.json
        var named = rsa.object ?? [:]
        named["kid"] = "k1"
        let (byRSA, _) = try verifier(keys: [.object(named)])
        #expect(await code(byRSA, Self.token) == .invalidSignature)
        let (other, _) = try verifier(keys: [rsa])
        #expect(await code(other, Self.token) == .invalidSignature)
    }

    @Test func `The legacy secret is for HS256 alone, and has to be there`() async throws {
        let (verifier, _) = try verifier(secret: Secret(Self.secret))
        let verified = try await verifier.verify(Secret(Self.signed()))
        #expect(verified.userID == "ada" && verified.isAnonymous)
        #expect(await code(verifier, Self.signed(secret: "another")) == .invalidSignature)
        #expect(await code(verifier, Self.signed(algorithm: "HS512")) == .invalidSignature)
        #expect(await code(verifier, Self.signed(algorithm: "none")) == .invalidSignature)
        let (without, _) = try self.verifier()
        let error = await #expect(throws: TokenError.self) { try await without.verify(Secret(Self.signed())) }
        #expect(error?.code == .unsupported && error?.message.contains("jwtSecret") == true)
        // What is published is no secret to sign with.
        let (published, _) = try self.verifier(secret: nil, keys: [Self.key])
        let forged = Self.signed(secret: Self.key["x"]?.string ?? "")
        #expect(await code(published, forged) == .unsupported)
    }

    /// What is written for a variable that is not set, what is too short, and what everybody knows.
    private static let worthless: [Secret] = [
        "", "   ", "\n", "short", "31 bytes are one byte too few..",
        "sb_publishable_0123456789012345678901234567890123",
        Secret(signed(["role": "anon"])),
    ]

    @Test(arguments: worthless)
    func `A secret that anybody knows proves nothing, whoever asks`(_ secret: Secret) async throws {
        var configuration = SupabaseConfiguration(url: Self.address, key: "key")
        configuration.jwtSecret = secret
        let error = #expect(throws: InfrastructureError.self) { try SupabaseModule(configuration).validate() }
        #expect(error?.code == .invalidConfiguration && error?.message.contains("jwtSecret") == true)
        #expect(secret.reveal().count < 10 || error?.message.contains(secret.reveal()) == false)
        await #expect(throws: InfrastructureError.self) {
            try await Infrastructure(.supabase(configuration)).tokenVerifier()
        }
        // The verifier does not rely on that.
        let (usual, _) = try verifier()
        _ = usual
        let good = try SupabaseModule(SupabaseConfiguration(url: Self.address, key: "key")) { ScriptedTransport() }
            .clientContext(
                ModuleContext(auth: nil, now: { Timestamp(clampingSeconds: Self.time, nanoseconds: 0) }))
        let verifier = SupabaseTokenVerifier(
            SupabaseContext(
                configuration: configuration, project: good.project, transport: good.transport, session: good.session,
                module: good.module))
        #expect(await code(verifier, Self.signed(secret: secret.reveal())) == .unsupported)
    }

    @Test func `A server whose variable for the secret is not set does not start`() async throws {
        let environment: [String: String] = [:]
        var configuration = SupabaseConfiguration(url: Self.address, key: "key")
        configuration.jwtSecret = Secret(environment["SUPABASE_JWT_SECRET"] ?? "")
        let error = await #expect(throws: InfrastructureError.self) {
            try await Infrastructure(.supabase(configuration))
        }
        #expect(error?.message.contains("jwtSecret is empty") == true)
    }

    @Test func `An address counts as confirmed only if the project says so, not its user`() async throws {
        let claims: JSONObject = [
            "email": "ada@example.com", "user_metadata": ["email_verified": true, "role": "service_role"],
        ]
        let (verifier, transport) = try verifier(secret: Secret(Self.secret))
        let token = Secret(Self.signed(claims))
        let unasked = try await verifier.verify(token)
        #expect(!unasked.isEmailVerified && unasked.role == "authenticated")
        func answer(_ more: String) -> ScriptedExchange {
            .on(
                .get, Self.address + "/auth/v1/user",
                .json(#"{"id":"ada","user_metadata":{"email_verified":true}\#(more)}"#))
        }
        let confirmed = #","email_confirmed_at":"2026-01-01T00:00:00Z""#
        for (more, isVerified) in [
            (#","email":"ada@example.com""#, false), (#","email":"ada@example.com""# + confirmed, true),
            (#","email":"eve@example.com""# + confirmed, false), (confirmed, false),
        ] {
            transport.expect(answer(more))
            #expect(try await verifier.verify(token, checksRevocation: true).isEmailVerified == isVerified, "\(more)")
        }
        try transport.verify()
    }

    @Test(
        arguments: [
            (#"{"id":"ada","banned_until":"2099-01-01T00:00:00Z"}"#, .userDisabled),
            (#"{"id":"ada","banned_until":"2001-01-01T00:00:00Z"}"#, nil), (#"{"id":"ada","banned_until":null}"#, nil),
            (#"{"id":"ada","deleted_at":"2001-01-01T00:00:00Z"}"#, .tokenRevoked), (#"{"id":"eve"}"#, .unavailable),
            ("{}", .unavailable),
        ] as [(String, ErrorCode?)])
    func `A banned user gets that error, also by a service that answers for them`(
        _ answer: String, _ expected: ErrorCode?
    ) async throws {
        let (verifier, transport) = try verifier(secret: Secret(Self.secret))
        transport.expect(.on(.get, Self.address + "/auth/v1/user", .json(answer)))
        let token = Secret(Self.signed())
        do throws(TokenError) {
            _ = try await verifier.verify(token, checksRevocation: true)
            #expect(expected == nil)
        } catch {
            #expect(error.code == expected, "\(error)")
        }
    }

    @Test(
        arguments: [
            (["iss": "https://other.supabase.co/auth/v1"], .wrongProject), (["aud": "anon"], .wrongProject),
            (["role": "anon", "sub": .null], .malformedToken), (["role": "service_role"], .malformedToken),
            (["sub": .null], .malformedToken), (["exp": .integer(time - 100)], .tokenExpired),
            (["nbf": .integer(time + 100)], .tokenNotYetValid),
        ] as [(JSONObject, ErrorCode)])
    func `What a good signature says may be wrong all the same`(_ changes: JSONObject, _ expected: ErrorCode)
        async throws
    {
        let (verifier, _) = try verifier(secret: Secret(Self.secret))
        #expect(await code(verifier, Self.signed(changes)) == expected)
    }

    @Test(
        arguments: [
            (401, #"{"message":"Invalid API key","hint":"x"}"#, .failedPrecondition), (500, "<html>", .unavailable),
            (403, #"{"code":"session_not_found","message":"x"}"#, .tokenRevoked),
            (403, #"{"code":"user_banned","message":"x"}"#, .userDisabled),
            (429, #"{"code":"over_request_rate_limit","message":"x"}"#, .unavailable),
            (418, "{}", .failedPrecondition),
        ] as [(Int, String, ErrorCode)])
    func `A refused key, or a project in trouble, is the server's and not the user's`(
        _ status: Int, _ answer: String, _ expected: ErrorCode
    ) async throws {
        let (verifier, transport) = try verifier(secret: Secret(Self.secret))
        transport.expect(.on(.get, Self.address + "/auth/v1/user", .json(answer, status: status)))
        let token = Secret(Self.signed())
        let error = await #expect(throws: TokenError.self) { try await verifier.verify(token, checksRevocation: true) }
        #expect(error?.code == expected, "\(error as Any)")
        try transport.verify()
    }

    #if os(Linux)
        /// In a process of its own, which has opened nothing yet.
        static func askWithoutLibrary() async throws {
            #expect(!TokenKey.open(library: "libcrypto-that-is-nowhere.so.3"))
            let (verifier, transport) = try SupabaseTokenVerifierTests().verifier(secret: Secret(secret))
            let error = await #expect(throws: TokenError.self) { try await verifier.verify(Secret(token)) }
            #expect(error?.code == .unsupported && error?.message.contains("libssl3 or libssl1.1") == true)
            #expect(try await verifier.verify(Secret(signed())).userID == "ada", "the legacy secret needs no library")
            #expect(transport.requests.isEmpty)
        }

        @Test func `Where the system lacks libcrypto, tokens of signing keys are refused with the package's name`()
            async
        {
            await #expect(processExitsWith: .success) { try await SupabaseTokenVerifierTests.askWithoutLibrary() }
        }
    #endif

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `A local project's tokens are good until their session ends`() async throws {
        let supabase = try await LocalSupabase.onSharedPostgres()
        var configuration = SupabaseConfiguration(url: supabase.server.url, key: Secret(supabase.anonKey))
        configuration.jwtSecret = Secret(supabase.environment["SUPABASE_JWT_SECRET"] ?? "")
        let backend = try await Infrastructure(.supabase(configuration))
        let verifier = try await backend.tokenVerifier()
        try await backend.auth.signUp(email: "ada@example.com", password: "secret-1")
        let user = try #require(await backend.auth.currentUser)
        let token = try await backend.auth.accessToken().value
        let verified = try await verifier.verify(token, checksRevocation: true)
        #expect(verified.role == "authenticated" && verified.email == "ada@example.com")
        #expect(verified.userID == user.id)
        #expect(
            await #expect(throws: TokenError.self) { try await verifier.verify(Secret(supabase.anonKey)) }?.code
                == .malformedToken)
        try await backend.auth.signOut(.everywhere)
        let error = await #expect(throws: TokenError.self) { try await verifier.verify(token, checksRevocation: true) }
        #expect(error?.code == .tokenRevoked)
        await backend.shutDown()
        await supabase.stop()
    }
}
