import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardMock
import SwitchyardTestSupport
import SwitchyardTesting
import Synchronization
import Testing

@Suite(.backend(.mock(rules: .domain, signedInAs: "ada")))
struct ContactListTests {
    @Test func `A contact that was added is listed`() async throws {
        let backend = try TestProject.current.backend
        try await backend.contacts.add(ContactModel(id: "bob", name: "Bob"))
        let names = try await backend.contacts.contacts().map(\.name)
        #expect(names == ["Bob"])
    }

    @Test(arguments: 1...3) func `Each argument has a project of its own`(_ number: Int) async throws {
        let project = try TestProject.current
        #expect(project.mock?.documentCount == 0)
        #expect(await project.backend.auth.currentUser?.id == "ada")
        try await project.backend.contacts.add(ContactModel(id: "bob", name: "Bob"))
    }
}

@Suite struct BackendTraitTests {
    @Test(.backend(.mock(sample: true))) func `A test may have a trait of its own, and the sample`() async throws {
        #expect(try await TestProject.current.backend.storage.document("users/alice").exists)
    }

    @Test func `Without the trait the error says what to add`() throws {
        let error = #expect(throws: (any Error).self) { try TestProject.current }
        #expect("\(error as Any)".contains("@Test(.backend(.mock()))"))
    }

    @Test func `A script that was not used fails the test`() async throws {
        try await withKnownIssue {
            try await BackendTraitRun.run { project in
                project.backend.storage.mock?.controls.fail(.commit, with: .unavailable)
            }
        } matching: {
            $0.comments.contains { $0.rawValue.contains("The script fail(commit) was not used") }
        }
        try await BackendTraitRun.run { project in
            project.backend.storage.mock?.controls.fail(.commit, with: .unavailable)
            _ = try? await project.backend.storage.setDocument("a/1", ["n": 1])
        }
    }

    @Test func `The clients are shut down, and the end is called, also after a failure`() async throws {
        struct Mistake: Error {}
        let ended = Mutex(0)
        let source = ProjectSource {
            TestProject(try await Infrastructure(.mock)) { ended.withLock { $0 += 1 } }
        }
        await #expect(throws: Mistake.self) {
            try await BackendTraitRun.run(source) { _ in throw Mistake() }
        }
        #expect(ended.withLock { $0 } == 1)
    }

    @Test func `The page's suite stands above, line for line`() throws {
        // Its block has macros, which no page's check expands.
        let page = Article.root.appendingPathComponent(
            "Sources/SwitchyardTesting/Documentation.docc/SwitchyardTesting.md")
        let parts = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```")
        let block = try #require(parts.first { $0.hasPrefix("swift\n") }).dropFirst(6)
        #expect(block.contains("@Test"))
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        #expect(block.split(separator: "\n").allSatisfy { source.contains($0) })
    }

    @Test func `A provider is checked in one line`() async throws {
        let report = try await expectConformance(.storage(MockStorageHarness()), filter: ["batch"])
        #expect(report.passed > 0 && report.failed == 0)
        await #expect(throws: (any Error).self) {
            try await expectConformance(.storage(MockStorageHarness()), filter: ["no check is called this"])
        }
    }
}

/// Runs a body as the trait would run a test.
private enum BackendTraitRun {
    static func run(
        _ source: ProjectSource = .mock(), _ body: @escaping @Sendable (TestProject) async throws -> Void
    ) async throws {
        guard let test = Test.current, let testCase = Test.Case.current else {
            Issue.record("no test is running")
            return
        }
        let trait: BackendTrait = .backend(source)
        try await trait.provideScope(for: test, testCase: testCase) { try await body(TestProject.current) }
    }
}
