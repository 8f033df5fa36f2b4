import Foundation
import Testing

/// The article for authors of providers, against the example that is built and run.
@Suite struct ArticleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test func `Every piece of Swift in the article stands in the example, word for word`() throws {
        let example = try ["main", "FileCabinet", "FileCabinetClient", "FileCabinetModule"]
            .map { try text("Examples/CustomProvider/\($0).swift") }.joined()
        let article = try text("Sources/SwitchyardConformance/Documentation.docc/AProviderStepByStep.md")
        let pieces = article.components(separatedBy: "```swift\n").dropFirst().map { piece in
            piece.components(separatedBy: "```")[0].trimmingCharacters(in: .newlines)
        }
        #expect(pieces.count >= 6)
        for piece in pieces { #expect(example.contains(piece), "not in the example:\n\(piece)") }
    }
}
