import Foundation
import SwitchyardConformance
import SwitchyardTestSupport
import Testing

@testable import SwitchyardCLI

/// The report for build servers, and the page.
@Suite struct ConformanceReportTests {
    private static let report = ConformanceReport([
        .init(service: .storage, area: "fields", name: "a “b” & <c>", outcome: .passed, milliseconds: 12),
        .init(
            service: .storage, area: "queries", name: "x", outcome: .failed, detail: "expected 1\u{1} < 2",
            milliseconds: 1500),
        .init(service: .auth, area: "links", name: "y", outcome: .skipped, detail: "without links", remedy: "a server"),
    ])

    /// What a reader of XML makes of a text: each element with its attributes.
    private func elements(_ xml: String) throws -> [(name: String, attributes: [String: String])] {
        let read = try TestProgram.run([
            "python3", "-c",
            """
            import json, sys, xml.etree.ElementTree as tree
            print(json.dumps([[e.tag, e.attrib] for e in tree.fromstring(sys.argv[1].encode()).iter()]))
            """, xml,
        ])
        let list = try #require(try JSONSerialization.jsonObject(with: Data(read.output)) as? [[Any]], "\(read.errors)")
        return list.map { ($0[0] as? String ?? "", $0[1] as? [String: String] ?? [:]) }
    }

    @Test(.enabled(if: OutsideTool.python.isInstalled, "\(OutsideTool.python.absence)"))
    func `JUnit's XML has every check, is well-formed, and counts right`() throws {
        let elements = try elements(JUnitReport.xml(Self.report, name: "a&b.json"))
        #expect(elements.first?.attributes["tests"] == "3" && elements.first?.attributes["name"] == "a&b.json")
        #expect(elements.filter { $0.name == "testsuite" }.map { $0.attributes["name"] } == ["storage", "auth"])
        let cases = elements.filter { $0.name == "testcase" }.map(\.attributes)
        #expect(Set(cases.compactMap { $0["name"] }) == ["a “b” & <c>", "x", "y"])
        #expect(cases.contains { $0["classname"] == "storage.queries" && $0["time"] == "1.5" })
        #expect(
            elements.contains { $0.name == "skipped" && $0.attributes["message"] == "without links, needs a server" })
    }

    @Test func `The page needs no other file, and opens what failed`() {
        let page = HTMLReport.page(Self.report, name: "<mock>")
        #expect(page.contains("Conformance of &lt;mock&gt;: 1 passed, 1 failed, 1 skipped"))
        #expect(page.contains("<details open>\n<summary>storage: 1 passed, 1 failed, 0 skipped"))
        #expect(!page.contains("http") && !page.contains("src=") && !page.contains("<script"))
        #expect(page.contains("expected 1\u{FFFD} &lt; 2"))
    }

    @Test func `The program writes both, and refuses a folder that it may not write before any check`() async throws {
        let folder = try ToolFolder()
        let words = ["conformance", "--client", "files", "--filter", "metadata"]
        let run = try folder.start(words + ["--junit", "a.xml", "--html", "a.html"])
        #expect(try await run.status() == 0)
        #expect(try String(contentsOfFile: folder.path("a.xml"), encoding: .utf8).hasPrefix("<?xml"))
        #expect(try String(contentsOfFile: folder.path("a.html"), encoding: .utf8).hasPrefix("<!doctype html>"))
        let refused = try folder.start(words + ["--junit", "/no/such/folder/a.xml"])
        #expect(try await refused.status() == 1)
        #expect(refused.output.isEmpty && refused.errors.contains("“/no/such/folder/a.xml” cannot be written"))
    }
}
