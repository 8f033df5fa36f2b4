package import Foundation

/// A page of the documentation, to be compared with what runs.
package struct Article: Sendable, CustomStringConvertible {
    /// The package's own folder.
    package static let root = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }

    /// Below the package's folder.
    package let path: String
    private let text: String

    package var description: String { path }

    /// - Parameter path: Below the package's folder.
    package init(_ path: String) throws {
        self.path = path
        text = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The README and every article of every module.
    package static func all() throws -> [Article] {
        var paths = ["README.md"]
        for folder in ["Sources", "Plugins", "Tests"] {
            for module in try names(in: folder).sorted() {
                let catalogue = "\(folder)/\(module)/Documentation.docc"
                guard FileManager.default.fileExists(atPath: root.appendingPathComponent(catalogue).path) else {
                    continue
                }
                paths += try names(in: catalogue).filter { $0.hasSuffix(".md") }.sorted().map { "\(catalogue)/\($0)" }
            }
        }
        return try paths.map { try Article($0) }
    }

    private static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path)
    }

    package func contains(_ words: String) -> Bool { text.contains(words) }

    /// The blocks of a language, without those that are marked as not compiled.
    package func blocks(of language: String) -> [String] {
        var blocks: [String] = []
        var isMarked = false
        var block: [Substring]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let lines = block {
                guard line != "```" else {
                    if !isMarked { blocks.append(lines.joined(separator: "\n")) }
                    (block, isMarked) = (nil, false)
                    continue
                }
                block = lines + [line]
            } else if line == "```\(language)" {
                block = []
            } else if !line.isEmpty {
                isMarked = line.hasPrefix("<!-- not compiled:")
            }
        }
        return blocks
    }

    /// The lines of its Swift that stand nowhere in `file`. Indentation and comments make no difference.
    package func missing(in file: String) throws -> [String] {
        let done = Set(Self.lines(try String(contentsOfFile: file, encoding: .utf8)))
        return blocks(of: "swift").flatMap(Self.lines).filter { !done.contains($0) }
    }

    /// Without indentation, alignment and comments.
    package static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { line in
            let code = line.range(of: " //").map { line[..<$0.lowerBound] } ?? line
            return code.split(separator: " ").joined(separator: " ")
        }.filter { !$0.isEmpty && !$0.hasPrefix("//") }
    }
}
