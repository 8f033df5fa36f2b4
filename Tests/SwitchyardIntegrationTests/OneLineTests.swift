import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardMock
import SwitchyardSupabase
import Testing

/// A provider of each kind in one line, and all of them from one file.
@Suite struct OneLineTests {
    @Test func `Each provider is set up in a line, and a mistake in it is said at once`() async throws {
        let firebase: FirebaseModule = .firebase(project: "demo", apiKey: "key") { $0.bucket = "demo.appspot.com" }
        #expect(firebase.configuration.project == "demo" && firebase.configuration.bucket == "demo.appspot.com")
        let supabase: SupabaseModule = .supabase(url: "https://demo.supabase.co", key: "key") { $0.bucket = "files" }
        #expect(supabase.configuration.url == "https://demo.supabase.co" && supabase.configuration.bucket == "files")
        let wrong = await #expect(throws: InfrastructureError.self) {
            try await Infrastructure(.firebase(project: "", apiKey: "key"))
        }
        #expect(wrong?.code == .invalidConfiguration)
    }

    @Test func `Without a bucket there are documents, and files say what is missing`() async throws {
        let backend = try await Infrastructure(.firebase(project: "demo", apiKey: "key"))
        let error = await #expect(throws: FileStorageError.self) { try await backend.files.list() }
        #expect(error?.code == .unsupported && error?.message.contains("bucket") == true)
        await backend.shutDown()
    }

    @Test func `One configuration names several providers`() async throws {
        let json = #"""
            {"default": "mock", "clients": {"messaging": "none"},
             "providers": {"firebase": {"project": "demo", "apiKey": "${KEY}", "bucket": "demo.appspot.com"}}}
            """#
        let configuration = try InfrastructureConfiguration(json: Data(json.utf8), environment: ["KEY": "k"])
        let backend = try await Infrastructure(configuration, modules: [.mock, .firebase, .supabase])
        try await backend.storage.setDocument("a/1", ["n": 1])
        #expect(await backend.selection.provider(for: .storage) == .mock)
        await backend.shutDown()
    }
}
