import Foundation
import SwitchyardTestSupport
import Testing

@testable import SwitchyardCLI

/// The files for packages that use other libraries; `.ci/adapters` compiles them.
@Suite struct AdapterTests {
    @Test func `The list names every adapter, one a line, as it is typed`() async throws {
        let lines = AdapterCommand.list.split(separator: "\n")
        for adapter in Adapter.allCases {
            #expect(lines.count { $0.hasPrefix("switchyard adapter \(adapter.rawValue) ") } == 1)
            #expect(HelpText.command(Commands.named("adapter"), width: 100).contains(adapter.rawValue))
        }
        #expect(try await CommandLineTool.run(["adapter"]) == .success)
    }

    @Test(arguments: Adapter.allCases)
    func `A file begins with what it is, for which release and how it was checked`(_ adapter: Adapter) {
        let first = adapter.text.prefix(700).replacing("\n// ", with: " ")
        #expect(first.hasPrefix("// Switchyard's "))
        #expect(first.contains("Printed by “switchyard adapter \(adapter.rawValue)”."))
        #expect(first.contains(/Library: [\w-]+ \d+\.\d+\.\d+; its signatures were taken in \d{4}-\d{2}\./))
        #expect(first.contains("compiled against declarations of them only, never linked with the library."))
        #expect(adapter.text.hasSuffix("}\n") || adapter.text.hasSuffix("#endif\n"))
    }

    @Test(arguments: Adapter.allCases)
    func `A file is written once, and never over one that is there`(_ adapter: Adapter) async throws {
        let folder = ScratchSpace.url.appendingPathComponent("adapters-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("Adapter.swift")
        let words = ["adapter", adapter.rawValue, "--output", file.path]
        #expect(try await CommandLineTool.run(words) == .success)
        #expect(try String(contentsOf: file, encoding: .utf8) == adapter.text)
        try Data("changed".utf8).write(to: file)
        #expect(try await CommandLineTool.run(words) == .failure)
        #expect(try String(contentsOf: file, encoding: .utf8) == "changed")
    }

    @Test func `A folder that is not there is a failure, not a usage error`() async throws {
        #expect(try await CommandLineTool.run(["adapter", "log", "--output", "/no/such/folder/Log.swift"]) == .failure)
    }
}
