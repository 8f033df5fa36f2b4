import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

struct TokenIssuer {
    let accounts: Infrastructure  // with the Supabase project for auth
    let project: Infrastructure  // with the Firebase project for auth, and its credential

    func customToken(_ authorization: String?) async throws -> Secret {
        let caller = try await accounts.tokenVerifier().verify(authorization: authorization)
        return try await project.admin().customToken(for: caller.userID)
    }
}

/// What the article on mixing providers says, done.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct MixingProvidersTests {
    /// Both vendors' servers, as the article's app and server see them.
    private struct Site {
        let localFirebase: LocalFirebase
        let localSupabase: LocalSupabase

        init() async throws {
            localFirebase = try LocalFirebase()
            var options = LocalSupabaseOptions()
            options.buckets = ["files"]
            localSupabase = try await LocalSupabase(options)
        }

        var firebase: FirebaseConfiguration {
            let host = localFirebase.host
            return FirebaseConfiguration(
                project: localFirebase.project, apiKey: "any",
                emulators: FirebaseConfiguration.Emulators(firestore: host, auth: host, storage: host),
                usesEmulatorVariables: false)
        }

        var supabase: SupabaseConfiguration {
            SupabaseConfiguration(
                url: localSupabase.url.absoluteString, key: Secret(localSupabase.anonKey), bucket: "files")
        }

        func makeServerClients() async throws -> TokenIssuer {
            var configuration = supabase
            configuration.jwtSecret = localSupabase.environment["SUPABASE_JWT_SECRET"].map { Secret($0) }
            return TokenIssuer(
                accounts: try await Infrastructure(.supabase(configuration)),
                project: try await Infrastructure(.firebase(firebase)))
        }

        func stop() async {
            await localSupabase.stop()
            await localFirebase.stop()
        }
    }

    @Test func `Somebody with a Supabase account owns documents on Firestore`() async throws {
        let site = try await Site()
        let factory = try await site.makeServerClients()
        let (firebase, supabase) = (site.firebase, site.supabase)
        let askServer: @Sendable (Secret) async throws -> Secret = { session in
            try await factory.customToken("Bearer \(session.reveal())")
        }

        let signIn = try await InfrastructureFactory(FirebaseModule(firebase)).createAuthClient(provider: .firebase)
        let exchange = TokenExchange { session, _ in
            try await signIn.signIn(with: .customToken(askServer(session.value)))
            let token = try await signIn.accessToken()
            return (token.value, token.expiresAt)
        }
        let documents = FirebaseModule(firebase, appCheck: nil, tokenExchange: exchange)

        var selection = InfrastructureSelection(default: .supabase)
        selection.storage = .firebase
        let backend = try await InfrastructureFactory(SupabaseModule(supabase), documents).make(selection)

        let user = try await backend.auth.signUp(email: "ann@example.com", password: "correct horse").get()
        let note: StoragePath = "users/\(user.id)/notes/1"
        try await backend.storage.setDocument(note, ["text": "Mine."]).acknowledged()
        #expect(try await backend.storage.document(note, from: .server)["text"] == "Mine.")
        #expect(await signIn.currentUser?.id == user.id)

        await backend.shutDown()
        await signIn.shutDown()
        await factory.accounts.shutDown()
        await factory.project.shutDown()
        await site.stop()
    }

    @Test func `Without an exchange the rules refuse them and the text says why`() async throws {
        let site = try await Site()
        var selection = InfrastructureSelection(default: .supabase)
        selection.storage = .firebase
        let factory = InfrastructureFactory(SupabaseModule(site.supabase), FirebaseModule(site.firebase))
        let backend = try await factory.make(selection)
        let user = try await backend.auth.signUp(email: "ann@example.com", password: "correct horse").get()
        let refused = await #expect(throws: StorageError.self) {
            try await backend.storage.document("users/\(user.id)/notes/1", from: .server)
        }
        #expect(refused?.code == .unauthorized)
        #expect(refused?.message.contains("Firebase's rules do not know sessions of “supabase”") == true)
        await backend.shutDown()
        await site.stop()
    }

    @Test func `Every piece of Swift in the article stands in the tests, line for line`() throws {
        let article = try Article("Plugins/SwitchyardSupabase/Documentation.docc/MixingProviders.md")
        // The mix that needs no exchange is done there.
        let elsewhere = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("LocalPagesTests.swift")
        let missing = Set(try article.missing(in: #filePath)).intersection(try article.missing(in: elsewhere.path))
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }
}
