import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

struct Servers: Sendable {
    let firebase: LocalFirebase
    let supabase: LocalSupabase

    /// For all tests of a run. Both end with the process.
    static let shared = Task { try await Servers() }

    init() async throws {
        var accounts = LocalFirebaseOptions()
        accounts.claims = ["role": "authenticated"]  // what a Supabase demands of everybody's tokens
        firebase = try LocalFirebase(accounts)
        var data = LocalSupabaseOptions()
        data.firebase = try FirebaseProject(firebase.project, keys: firebase.publishedKeys)
        data.scripts = [DocumentSchema.sql]  // the functions for documents; add your own tables and policies
        data.buckets = ["files"]
        supabase = try await LocalSupabase(data)
    }

    /// A device of its own, with accounts on Firebase, and documents and files on Supabase.
    func makeDevice() async throws -> Infrastructure {
        let here = FirebaseConfiguration.Emulators(
            firestore: firebase.host, auth: firebase.host, storage: firebase.host)
        let accounts = FirebaseConfiguration(project: firebase.project, apiKey: "any", emulators: here)
        let data = SupabaseConfiguration(
            url: supabase.url.absoluteString, key: Secret(supabase.anonKey), bucket: "files")
        var selection = InfrastructureSelection(default: .supabase)
        selection.auth = .firebase
        return try await InfrastructureFactory(FirebaseModule(accounts), SupabaseModule(data)).make(selection)
    }
}

/// What the page on local servers says, done.
@Suite struct LocalServersArticleTests {
    private static let article = "Sources/SwitchyardCLI/Documentation.docc/LocalServers.md"

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `Devices of a test have accounts on one local server and documents on the other`() async throws {
        let servers = try await Servers.shared.value
        let device = try await servers.makeDevice()
        let ann = try await device.auth.signUp(email: "ann@example.com", password: "correct horse").get()
        try await device.storage.setDocument("users/\(ann.id)/notes/1", ["text": "Hers."]).acknowledged()

        let other = try await servers.makeDevice()
        let bob = try await other.auth.signUp(email: "bob@example.com", password: "correct horse").get()
        let seen = try await other.storage.document("users/\(ann.id)/notes/1", from: .server)
        print(bob.id, seen.exists)  // false: policies hide what is Ann's
        #expect(!seen.exists)
        #expect(try await device.storage.document("users/\(ann.id)/notes/1", from: .server)["text"] == "Hers.")
        await other.shutDown()
        await device.shutDown()
        await servers.supabase.stop()
        await servers.firebase.stop()
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `The page names every variable that the servers print`() async throws {
        let page = try Article(Self.article)
        let firebase = try LocalFirebase()
        let supabase = try await LocalSupabase()
        for name in Set(firebase.environment.keys).union(supabase.environment.keys) {
            #expect(page.contains("`\(name)`"), "\(name)")
        }
        await supabase.stop()
        await firebase.stop()
    }

    @Test func `Every piece of Swift in the page stands above, line for line`() throws {
        let missing = try Article(Self.article).missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }
}
