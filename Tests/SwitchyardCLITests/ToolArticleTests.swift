import Foundation
import Testing

@testable import SwitchyardCLI

/// The article on the tool, compared with the table of commands.
@Suite struct ToolArticleTests {
    private static func article(_ name: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
            .standardized
        let page = "Sources/SwitchyardCLI/Documentation.docc/\(name).md"
        return try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
    }

    @Test func `The article has every command as the table has it: “switchyard help --markdown” prints that part`()
        throws
    {
        let text = try Self.article("TheTool")
        let start = try #require(text.range(of: "<!-- commands -->\n"))
        let end = try #require(text.range(of: "\n<!-- /commands -->"))
        #expect(text[start.upperBound..<end.lowerBound] == CommandMarkdown.text)
    }

    @Test func `What the article tells to type works`() async throws {
        let folder = try ToolFolder()
        #expect(
            try await folder.run("set", "users/alice", #"{"name":"Alice","born":{"timestamp":"1990-01-02"}}"#).status()
                == 0)
        #expect(
            try Self.article("TheTool").contains(
                #"switchyard set users/alice '{"name":"Alice","born":{"timestamp":"1990-01-02"}}'"#))
        let printed = try await folder.run("get", "--plain", "users/alice")
        #expect(printed.output.contains(#""data":{"born":"1990-01-02T00:00:00Z","name":"Alice"}"#))
        #expect(try await folder.run("set", input: try await folder.run("query", "users").output).status() == 0)
        let query = "where age > 17 and tags includes \"new\" order by name limit 20"
        #expect(try await folder.run("query", query, "users").status() == 0)
        #expect(try Self.article("QueryLanguage").contains("switchyard query '\(query)' users"))
        let mistake = try await folder.run("query", "where age > and name = \"x\"", "users")
        #expect(try await mistake.status() == 2)
        #expect(
            try Self.article("QueryLanguage").contains(
                mistake.errors.replacing("Try “switchyard help query”.\n", with: "")))
    }
}
