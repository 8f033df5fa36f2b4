import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

/// The README's program with two providers, run without a network.
@Suite struct ReadmeProgramTests {
    @Test func `A write that waits stays with the provider it was made on, and the report says so`() async throws {
        let people = FirebaseModule(FirebaseConfiguration(project: "demo", apiKey: "AIza-demo"))
        let data = SupabaseModule(SupabaseConfiguration(url: "https://demo.supabase.co", key: "sb_publishable_demo"))

        var selection = InfrastructureSelection(default: .firebase)
        selection.storage = .supabase
        selection.omit(.files)
        let backend = try await InfrastructureFactory(people, data).make(selection)

        // No one is asked: neither project exists.
        try await backend.storage.disableNetwork()
        try await backend.storage.setDocument("users/alice", ["name": "Alice"])

        let report = try await backend.use(.firebase, for: .storage)
        print(report)
        #expect("\(report)" == "storage: supabase → firebase; 1 write left on supabase (kept in memory)")
        #expect(try Article("README.md").contains("// \(report)"))
        await backend.shutDown()
    }

    @Test func `The program stands above, line for line`() throws {
        let program = try #require(try Article("README.md").blocks(of: "swift").dropFirst().first)
        let done = Set(Article.lines(try String(contentsOfFile: #filePath, encoding: .utf8)))
        #expect(Article.lines(program).filter { !done.contains($0) }.isEmpty)
    }
}
