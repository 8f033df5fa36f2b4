import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardMock
import SwitchyardServerKit
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

/// Somebody of a Firebase project to whom its administrator gives a role, and a Supabase that trusts the project and whose policies
/// go by that role.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct RoleClaimTests {
    @Test(arguments: [false, true])
    func `A role that Firebase's administrator gives lets somebody in at Supabase`(isSigned: Bool) async throws {
        var options = LocalFirebaseOptions()
        (options.signsTokens, options.tokenKey) = (isSigned, TestKeys.one)
        let firebase = try LocalFirebase(options)
        let postgres = try await PostgresServer()
        try await postgres.query(DocumentSchema.sql)
        var supabaseOptions = LocalSupabaseOptions()
        supabaseOptions.database = postgres.place
        supabaseOptions.firebase = try FirebaseProject(firebase.project, keys: firebase.publishedKeys)
        let supabase = try await LocalSupabase(supabaseOptions)

        var people = FirebaseConfiguration(project: firebase.project, apiKey: "key", usesEmulatorVariables: false)
        people.emulators.auth = firebase.host
        let documents = SupabaseConfiguration(url: supabase.url.absoluteString, key: Secret(supabase.anonKey))
        var selection = InfrastructureSelection(default: .mock)
        selection.auth = .firebase
        selection.storage = .supabase
        let backend = try await InfrastructureFactory(
            MockModule(backend: MockBackend()), FirebaseModule(people), SupabaseModule(documents)
        ).make(selection)

        let (admin, verifier) = (try await backend.admin(), try await backend.tokenVerifier())
        let ann = try await admin.create(NewAccount(email: "ann@example.com", password: "correct horse 7 battery"))
        try await backend.auth.signIn(with: .password(email: "ann@example.com", "correct horse 7 battery"))
        let path = try StoragePath(validating: "users/\(ann.id)/notes/a")

        let early = try await verifier.verify(try await backend.auth.accessToken().value)
        let refused = try await backend.acting(as: early).storage
        let refusal = await #expect(throws: StorageError.self) { try await refused.document(path) }
        #expect(early.role == nil && refusal?.code == .unauthenticated && refusal?.isRetryable == false)
        #expect(refusal?.message.contains("lacks the claim “role”") == true)

        try await admin.setClaims(["role": "authenticated"], of: ann.id)
        let caller = try await verifier.verify(try await backend.auth.accessToken(refreshing: true).value)
        #expect(caller.userID == ann.id && caller.role == "authenticated")
        let mine = try await backend.acting(as: caller)
        try await mine.storage.setDocument(path, ["owner": .of(ann.id), "n": 1])
        #expect(try await mine.storage.document(path)["n"] == 1)
        #expect(try await backend.storage.document(path, from: .server)["n"] == 1, "the app, too")

        await backend.shutDown()
        await supabase.stop()
        postgres.stop()
        await firebase.stop()
    }
}
