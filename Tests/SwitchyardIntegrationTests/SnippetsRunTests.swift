import Foundation
import SwitchyardTestSupport
import Testing

/// Each page with Swift is run by a test, or stands here with the reason why it is compiled and no more.
@Suite struct SnippetsRunTests {
    /// Everything else is run.
    private static let compiledOnly = [
        "Plugins/SwitchyardFirebase/Documentation.docc/Messages.md": "sends messages by a hosted project",
        "Plugins/SwitchyardFirebase/Documentation.docc/SwitchyardFirebase.md": "writes to a hosted project",
        "Plugins/SwitchyardFirebase/Documentation.docc/Troubleshooting.md": "is about a hosted project",
        "Plugins/SwitchyardSupabase/Documentation.docc/Messages.md": "sends messages by a hosted project",
        "Plugins/SwitchyardSupabase/Documentation.docc/Accounts.md": "administers a hosted project",
        "Plugins/SwitchyardSupabase/Documentation.docc/SwitchyardSupabase.md": "writes to a hosted project",
        "Plugins/SwitchyardSupabase/Documentation.docc/Troubleshooting.md": "is about a hosted project",
        "Sources/SwitchyardProviderKit/Documentation.docc/SwitchyardProviderKit.md": "leaves the server to its reader",
        "Sources/Switchyard/Documentation.docc/SecurityAndPrivacy.md":
            "files have a protection class on Apple's platforms only",
        "Sources/SwitchyardReporting/Documentation.docc/SwitchyardReporting.md":
            "reports to a page that its reader has started",
        "Sources/SwitchyardCLI/Documentation.docc/ThePage.md": "reports to a page that its reader has started",
        "Sources/SwitchyardMove/Documentation.docc/MovingToAnotherBackend.md": "moves the reader's own projects",
        "Sources/SwitchyardMove/Documentation.docc/MovingWhileEverythingRuns.md": "moves the reader's own projects",
        "Sources/SwitchyardMove/Documentation.docc/SwitchyardMove.md": "moves the reader's own projects",
        "Sources/SwitchyardSync/Documentation.docc/WritingADriver.md": "leaves the server to its reader",
    ]

    /// The tests that hold themselves against pages, by what they say.
    private func tests() throws -> [String] {
        let folder = Article.root.appendingPathComponent("Tests")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var texts: [String] = []
        for case let file as URL in files where file.lastPathComponent.hasSuffix("Tests.swift") {
            guard file.lastPathComponent != "SnippetsRunTests.swift" else { continue }
            texts.append(try String(contentsOf: file, encoding: .utf8))
        }
        return texts.filter { $0.contains("of Swift") }
    }

    @Test func `Every page with Swift is run, or says why it is only compiled`() throws {
        let tests = try tests()
        let pages = try Article.all().filter { !$0.blocks(of: "swift").isEmpty }.map(\.path)
        let others = pages.filter { page in !tests.contains { $0.contains("\"\(page)\"") } }
        #expect(Set(others) == Set(Self.compiledOnly.keys))
    }
}
