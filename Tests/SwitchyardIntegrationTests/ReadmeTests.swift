import Foundation
import Switchyard
import SwitchyardMock
import Testing

/// What the README says of the code, against the code.
@Suite struct ReadmeTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private func readme() throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
    }

    @Test func `The table of capabilities is what the clients declare`() throws {
        let text = try readme()
        let start = try #require(text.range(of: "<!-- capabilities -->\n"))
        let end = try #require(text.range(of: "<!-- /capabilities -->"))
        let expected = CapabilityTable(providers: [
            ("mock", .all, .all, .all, .all)
        ]).markdown
        #expect(text[start.upperBound..<end.lowerBound] == expected, "The table should be:\n\(expected)")
    }

    @Test func `The mock declares everything there is`() {
        let backend = MockBackend()
        #expect(MockStorageClient(backend).capabilities == .all)
        #expect(MockAuthClient(backend).capabilities == .all)
        #expect(MockFileStorageClient(backend).capabilities == .all)
        #expect(MockMessagingClient(backend).capabilities == .all)
    }

    @Test func `Every example that the README names is there`() throws {
        let text = try readme()
        let manifest = try String(contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
        for example in ["QuickStart", "LifeSignal", "MixedBackends", "CustomProvider"] {
            #expect(text.contains("`\(example)`"))
            #expect(manifest.contains("name: \"\(example)\""))
        }
    }
}

/// What each provider declares, a row for each capability.
private struct CapabilityTable {
    let providers:
        [(
            name: String, storage: StorageCapabilities, auth: AuthCapabilities, files: FileStorageCapabilities,
            messaging: MessagingCapabilities
        )]

    var markdown: String {
        var lines = ["| | " + providers.map(\.name).joined(separator: " | ") + " |"]
        lines.append("|---|" + String(repeating: "---|", count: providers.count))
        lines += rows("documents", of: providers.map { $0.storage })
        lines += rows("auth", of: providers.map { $0.auth })
        lines += rows("files", of: providers.map { $0.files })
        lines += rows("messaging", of: providers.map { $0.messaging })
        return lines.joined(separator: "\n") + "\n"
    }

    private func rows(_ service: String, of capabilities: [some Any]) -> [String] {
        let columns = capabilities.map { Array(Mirror(reflecting: $0).children) }
        guard let first = columns.first else { return [] }
        return first.indices.compactMap { index in
            guard first[index].value is Bool else { return nil }
            let marks = columns.map { $0[index].value as? Bool == true ? "✓" : "–" }
            return "| \(service): \(words(first[index].label ?? "")) | \(marks.joined(separator: " | ")) |"
        }
    }

    /// `expiringURLs` → `expiring URLs`.
    private func words(_ name: String) -> String {
        var result = ""
        var wasLower = false
        for character in name {
            let isUpper = character.isUppercase
            if isUpper, wasLower { result += " " }
            result += String(character)
            wasLower = !isUpper
        }
        return result.split(separator: " ").map {
            $0.allSatisfy(\.isUppercase) || $0.hasPrefix("URL") ? String($0) : $0.lowercased()
        }
        .joined(separator: " ")
    }
}
