import Foundation
import Switchyard
import Testing

@testable import SwitchyardText

/// The article on the query language: everything in its tables is understood.
@Suite struct QueryArticleTests {
    private func spans(below heading: String) throws -> [String] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
            .standardized
        let page = "Sources/SwitchyardCLI/Documentation.docc/QueryLanguage.md"
        let text = try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
        let part = try #require(text.components(separatedBy: "## \(heading)\n").dropFirst().first)
            .components(separatedBy: "\n## ")[0]
        return part.split(separator: "\n").filter { $0.hasPrefix("| ") && $0.contains("`") }
            .flatMap { row in
                row.split(separator: "|").flatMap { cell in
                    cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                        .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
                }
            }
    }

    @Test func `Each condition of the article is one`() throws {
        let conditions = try spans(below: "Conditions").filter { $0.contains(" ") }
        #expect(conditions.count > 12)
        for condition in conditions { _ = try QueryText(parsing: "where \(condition)").applied(to: Query(in: "users")) }
    }

    @Test func `Each value of the article is one`() throws {
        let values = try spans(below: "Values").filter { $0 != #"\'"# }
        #expect(values.count > 15)
        for value in values { _ = try QueryText(parsing: "where a = \(value)").applied(to: Query(in: "users")) }
    }
}
