import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardFirebase
import SwitchyardServerKit
import SwitchyardSupabase
import SwitchyardTestSupport
import SwitchyardWire

/// The number of tokens that one core verifies, once the keys are loaded.
struct TokenSection: BenchSection {
    let name = "tokens"

    func run(_ bench: Bench) async throws {
        let firebase = try await firebaseVerifier()
        let supabase = try await supabaseVerifier()
        let count = bench.settings.count(20_000, quick: 4_000)
        let results = try await BenchComparison(rounds: bench.settings.count(11, quick: 3)).run([
            BenchComparison.Contender("RS256") { try await verify(firebase.token, count, firebase.verifier) },
            BenchComparison.Contender("HS256") { try await verify(supabase.token, count, supabase.verifier) },
        ])
        let rates = results.map { Double(count) / $0.cpuSeconds }
        await bench.report("verifications by RS256, for each second of a core", rates[0], "1/s", .atLeast(5_000))
        await bench.report("verifications by HS256, for each second of a core", rates[1], "1/s", .atLeast(50_000))
        await firebase.backend.shutDown()
        await supabase.backend.shutDown()
    }

    private func verify(_ token: Secret, _ count: Int, _ verifier: any TokenVerifier) async throws -> Int {
        var length = 0
        for _ in 0..<count { length += try await verifier.verify(token).userID.utf8.count }
        return length
    }

    private typealias Site = (token: Secret, verifier: any TokenVerifier, backend: Infrastructure)

    private func firebaseVerifier() async throws -> Site {
        let key = TestKeys.one
        let transport = ScriptedTransport([
            .on(
                .get,
                "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
                .json(JSON.object(["keys": [key.publicKey.json]]).text()))
        ])
        let backend = try await Infrastructure(
            FirebaseModule(FirebaseConfiguration(project: "demo", apiKey: "key"), environment: [:]) { transport })
        let text = signed(
            ["alg": "RS256", "kid": .string(key.publicKey.id), "typ": "JWT"],
            claims(issuer: "https://securetoken.google.com/demo", audience: "demo"))
        let token = text + "." + Base64.encode(key.signature(of: text), alphabet: .url)
        return (Secret(token), try await backend.tokenVerifier(), backend)
    }

    private func supabaseVerifier() async throws -> Site {
        let secret = "super-secret-jwt-token-with-at-least-32-characters"
        var configuration = SupabaseConfiguration(url: "https://demo.supabase.co", key: "key")
        configuration.jwtSecret = Secret(secret)
        let backend = try await Infrastructure(SupabaseModule(configuration) { ScriptedTransport() })
        let text = signed(
            ["alg": "HS256", "typ": "JWT"],
            claims(issuer: "https://demo.supabase.co/auth/v1", audience: "authenticated"))
        let code = HMACSHA256.code(for: Array(text.utf8), key: Array(secret.utf8))
        let token = text + "." + Base64.encode(code, alphabet: .url)
        return (Secret(token), try await backend.tokenVerifier(), backend)
    }

    /// The claims that both vendors put into a token, with about the same size.
    private func claims(issuer: String, audience: String) -> JSONObject {
        let now = Int64(Date().timeIntervalSince1970)
        return [
            "iss": .string(issuer), "aud": .string(audience), "sub": "0f5a8e2c-7f1d-4c47-9a77-2f0f4f0a9a11",
            "iat": .integer(now), "auth_time": .integer(now), "exp": .integer(now + 3600), "role": "authenticated",
            "email": "ada@example.com", "email_verified": true, "session_id": "4bfcd8a7-5c0e-4f5e-8a36-2f1df5ad3c0e",
            "app_metadata": ["provider": "email", "providers": ["email"]],
            "firebase": ["identities": ["email": ["ada@example.com"]], "sign_in_provider": "password"],
        ]
    }

    private func signed(_ header: JSONObject, _ claims: JSONObject) -> String {
        [header, claims].map { Base64.encode(JSON.object($0).bytes(), alphabet: .url) }.joined(separator: ".")
    }
}
