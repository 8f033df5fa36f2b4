public import Switchyard
public import SwitchyardMock
public import Testing

/// The project of one test: a backend of its own, which ends with the test.
///
/// ```swift
/// @Test(.backend(.mock(rules: .domain, signedInAs: "ada")))
/// func `A contact that was added is listed`() async throws {
///     let backend = try TestProject.current.backend
///     try await backend.contacts.add(ContactModel(id: "bob", name: "Bob"))
///     #expect(try await backend.contacts.contacts().map(\.name) == ["Bob"])
/// }
/// ```
public struct TestProject: Sendable {
    /// The clients of the test's first device.
    public let backend: Infrastructure
    /// The mock's project; `nil` for another provider's.
    public let mock: MockBackend?
    let end: @Sendable () async -> Void

    /// - Parameters:
    ///   - backend: Shut down after the test.
    ///   - mock: The mock's project, if it is one.
    ///   - end: Called after the test, however it ended, when the clients are shut down: stops a local server.
    public init(
        _ backend: Infrastructure, mock: MockBackend? = nil, end: @escaping @Sendable () async -> Void = {}
    ) {
        self.backend = backend
        self.mock = mock
        self.end = end
    }

    /// The project of the running test.
    ///
    /// - Throws: If neither the test nor its suite has the trait `.backend(…)`.
    public static var current: TestProject {
        get throws {
            guard let running else { throw MissingProject() }
            return running
        }
    }

    @TaskLocal static var running: TestProject?
}

/// A test that has no project.
struct MissingProject: Error, CustomStringConvertible {
    var description: String {
        "This test has no project. Add the trait to it or to its suite: @Test(.backend(.mock())). Tasks that are detached do not "
            + "find it, so pass them the backend."
    }
}

/// How the project of a test is made: a new one for each test, and for each of its arguments.
public struct ProjectSource: Sendable {
    let make: @Sendable () async throws -> TestProject

    /// A project of another provider, such as one on a local server.
    ///
    /// ```swift
    /// extension ProjectSource {
    ///     static let localSupabase = ProjectSource {
    ///         let supabase = try await server.value.makeProject()
    ///         let backend = try await Infrastructure(
    ///             .supabase(url: supabase.url.absoluteString, key: Secret(supabase.anonKey)))
    ///         return TestProject(backend) { await supabase.stop() }
    ///     }
    ///     private static let server = Task { try await LocalSupabase() }
    /// }
    /// ```
    public init(_ make: @escaping @Sendable () async throws -> TestProject) { self.make = make }

    /// A mock in memory.
    ///
    /// - Parameters:
    ///   - rules: Who may read and write what; `nil` allows everything.
    ///   - userID: The user who is signed in; `nil` for no one.
    ///   - hasSample: Whether it begins with the people of `MockSample`.
    public static func mock(
        rules: MockRules? = nil, signedInAs userID: AuthUser.ID? = nil, sample hasSample: Bool = false
    ) -> ProjectSource {
        ProjectSource {
            let project = MockBackend(rules: rules)
            if hasSample { try project.addSample() }
            return TestProject(try await project.infrastructure(signedInAs: userID), mock: project)
        }
    }
}

/// Gives each test a project of its own: ``TestProject/current``.
///
/// After the test, a script that the mock was given and that no call has used is a failure of the test.
public struct BackendTrait: TestTrait, SuiteTrait, TestScoping {
    let source: ProjectSource

    /// Every test of a suite has its own project.
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A suite itself needs none; its tests do.
        guard testCase != nil else { return try await function() }
        let project = try await source.make()
        do {
            try await TestProject.$running.withValue(project) { try await function() }
        } catch {
            await finish(project)
            throw error
        }
        for script in project.backend.unusedScripts {
            Issue.record("The script \(script) was not used: no call came that it was meant for.")
        }
        await finish(project)
    }

    private func finish(_ project: TestProject) async {
        await project.backend.shutDown()
        await project.end()
    }
}

extension Trait where Self == BackendTrait {
    /// Gives the test, or each test of the suite, a project of its own: ``TestProject/current``.
    public static func backend(_ source: ProjectSource = .mock()) -> BackendTrait { BackendTrait(source: source) }
}

extension Infrastructure {
    /// What its mocks were told to do and did not.
    fileprivate var unusedScripts: [String] {
        (auth.mock?.controls.unused ?? []) + (storage.mock?.controls.unused ?? []) + (files.mock?.controls.unused ?? [])
            + (messaging.mock?.controls.unused ?? [])
    }
}

extension UnsetClients {
    /// Clients that record a failure of the test for each call, and refuse it: for `StubUserClient` and its siblings.
    ///
    /// ```swift
    /// let users = StubUserClient(over: UnsetClients.failingTest.users) { $0.currentUser = { ada } }
    /// ```
    public static var failingTest: UnsetClients { .stubs { Issue.record("\($0)") } }
}
