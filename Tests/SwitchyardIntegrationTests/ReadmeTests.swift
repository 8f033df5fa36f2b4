import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardMock
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

/// What the README says of the code, against the code.
@Suite struct ReadmeTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private func readme() throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
    }

    // Elsewhere a platform's push service adds to what is declared.
    #if os(Linux)
        @Test func `The table of capabilities is what the clients declare`() async throws {
            let text = try readme()
            let start = try #require(text.range(of: "<!-- capabilities -->\n"))
            let end = try #require(text.range(of: "<!-- /capabilities -->"))
            let expected = try await CapabilityTable([
                MockModule(backend: MockBackend()),
                FirebaseModule(
                    FirebaseConfiguration(
                        project: "demo", apiKey: "key", appID: "1:1:web:1", bundleID: "com.example",
                        bucket: "demo.appspot.com",
                        writeLedger: "ledger")),
                SupabaseModule(SupabaseConfiguration(url: "https://demo.supabase.co", key: "key", bucket: "files")),
            ]).markdown
            #expect(text[start.upperBound..<end.lowerBound] == expected, "The table should be:\n\(expected)")
        }
    #endif

    @Test func `The mock declares everything there is`() {
        let backend = MockBackend()
        #expect(MockStorageClient(backend).capabilities == .all)
        #expect(MockAuthClient(backend).capabilities == .all)
        #expect(MockFileStorageClient(backend).capabilities == .all)
        #expect(MockMessagingClient(backend).capabilities == .all)
    }

    @Test(arguments: [
        "README.md", ".github/FAQ.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md", "Tests/README.md",
        "Tests/AdapterStubs/README.md",
    ])
    func `Every link leads to a file, and to a heading in it where it names one`(_ page: String) throws {
        let file = Self.root.appendingPathComponent(page)
        let text = try String(contentsOf: file, encoding: .utf8)
        for link in text.matches(of: /\]\(([^)#:\s]+)(?:#([^)\s]+))?\)/) {
            let linked = file.deletingLastPathComponent().appendingPathComponent(String(link.1)).standardizedFileURL
            let target = try #require(
                try? String(contentsOf: linked, encoding: .utf8), "\(page) links to \(link.1)")
            guard let heading = link.2 else { continue }
            #expect(Self.anchors(of: target).contains(String(heading)), "\(page) links to \(link.0)")
        }
    }

    @Test func `The README and the questions lead on`() throws {
        for page in ["README.md", ".github/FAQ.md"] {
            let text = try String(contentsOf: Self.root.appendingPathComponent(page), encoding: .utf8)
            #expect(text.matches(of: /\]\([^):]+\.md/).count > 5)
        }
    }

    @Test func `The root has the README, the package and nothing else that is seen`() throws {
        // Tools leave what they make beside the package.
        let made: Set = ["Package.resolved", "DerivedData"]
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.root.path).filter { !$0.hasPrefix(".") }
        let expected: Set = ["Package.swift", "README.md", "Sources", "Plugins", "Tests", "Examples"]
        #expect(Set(names).subtracting(made) == expected)
    }

    @Test func `The README can be read at once`() throws {
        #expect(try readme().split(separator: "\n", omittingEmptySubsequences: false).count <= 121)
    }

    /// The names of a page's headings in links.
    private static func anchors(of text: String) -> Set<String> {
        Set(
            text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { line in
                line.drop { $0 == "#" || $0 == " " }.lowercased()
                    .filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" }
                    .split(separator: " ").joined(separator: "-")
            })
    }

    @Test func `Every example that the README names is there`() throws {
        let text = try readme()
        let manifest = try String(
            contentsOf: Self.root.appendingPathComponent("Examples/Package.swift"), encoding: .utf8)
        for example in ["QuickStart", "LifeSignal", "MixedBackends", "ServerSide", "CustomProvider", "OfflineProvider"]
        {
            #expect(text.contains("`\(example)`"))
            #expect(manifest.contains("name: \"\(example)\""))
        }
    }
}

/// What each provider declares.
private struct CapabilityTable {
    private struct Column {
        let name: String
        let storage: StorageCapabilities
        let auth: AuthCapabilities
        let files: FileStorageCapabilities
        let messaging: MessagingCapabilities
    }
    private var columns: [Column] = []

    /// Asks the clients of each module, made as an app with a state folder makes them. Nothing is sent anywhere.
    init(_ modules: [any InfrastructureModule]) async throws {
        let folder = ScratchSpace.url.appendingPathComponent("readme-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: folder) }
        for module in modules {
            let name = type(of: module).provider.rawValue
            let context = ModuleContext(stateFolder: folder.appendingPathComponent(name))
            let storage = try await module.makeStorageClient(context)
            let auth = try await module.makeAuthClient(context)
            let files = try await module.makeFileStorageClient(context)
            let messaging = try await Self.messaging(module, context)
            columns.append(
                Column(
                    name: name, storage: storage.capabilities, auth: auth.capabilities, files: files.capabilities,
                    messaging: messaging?.capabilities ?? MessagingCapabilities()))
            await messaging?.shutDown()
            await files.shutDown()
            await storage.shutDown()
            await auth.shutDown()
        }
    }

    /// - Returns: `nil` if the provider has none.
    private static func messaging(
        _ module: any InfrastructureModule, _ context: ModuleContext
    ) async throws(InfrastructureError) -> (any MessagingClient)? {
        do throws(InfrastructureError) {
            return try await module.makeMessagingClient(context)
        } catch {
            guard error.code == .unsupported else { throw error }
            return nil
        }
    }

    var markdown: String {
        var lines = ["| | " + columns.map(\.name).joined(separator: " | ") + " |"]
        lines.append("|---|" + String(repeating: "---|", count: columns.count))
        lines += rows("documents", of: columns.map(\.storage))
        lines += rows("auth", of: columns.map(\.auth))
        lines += rows("files", of: columns.map(\.files))
        lines += rows("messaging", of: columns.map(\.messaging))
        return lines.joined(separator: "\n") + "\n"
    }

    /// Capabilities that the same providers have share a row.
    private func rows(_ service: String, of capabilities: [some Any]) -> [String] {
        let columns = capabilities.map { Array(Mirror(reflecting: $0).children) }
        guard let first = columns.first else { return [] }
        var rows: [(marks: String, names: [String])] = []
        for index in first.indices where first[index].value is Bool {
            let marks = columns.map { $0[index].value as? Bool == true ? "✓" : "–" }.joined(separator: " | ")
            let name = words(first[index].label ?? "")
            if let row = rows.firstIndex(where: { $0.marks == marks }) {
                rows[row].names.append(name)
            } else {
                rows.append((marks, [name]))
            }
        }
        return rows.map { "| \(service): \($0.names.joined(separator: ", ")) | \($0.marks) |" }
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
