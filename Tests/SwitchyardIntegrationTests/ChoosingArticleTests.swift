import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

/// A provider whose accounts and documents are a mock's.
private protocol MockBacked: InfrastructureModule {
    var mock: MockModule { get }
}

extension MockBacked {
    func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        try await mock.makeAuthClient(context)
    }
    func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        try await mock.makeStorageClient(context)
    }
}

/// The two providers that the articles choose between; each is a mock of its own.
private struct AcmeModule: MockBacked {
    struct Settings: Codable, Sendable {
        var project = "demo"
        var apiKey: Secret = "key"
    }
    static let provider: InfrastructureProvider = "acme"
    let configuration: Settings
    let mock = MockModule(backend: MockBackend())
    init(_ configuration: Settings) { self.configuration = configuration }
}

private struct GlobexModule: MockBacked {
    struct Settings: Codable, Sendable {
        var url = ""
        var key: Secret = "key"
    }
    static let provider: InfrastructureProvider = "globex"
    let configuration: Settings
    let mock = MockModule(backend: MockBackend())
    init(_ configuration: Settings) { self.configuration = configuration }
}

extension InfrastructureProvider {
    fileprivate static let acme: InfrastructureProvider = "acme"
    fileprivate static let globex: InfrastructureProvider = "globex"
}

extension InfrastructureModule where Self == AcmeModule {
    fileprivate static func acme(project: String, apiKey: Secret) -> AcmeModule {
        AcmeModule(AcmeModule.Settings(project: project, apiKey: apiKey))
    }
}

extension ConfigurableModule {
    fileprivate static let acme = ConfigurableModule(AcmeModule.self)
    fileprivate static let globex = ConfigurableModule(GlobexModule.self)
}

private struct MyLimiter: CallInterceptor {}

/// What the first page, and the articles on choosing providers and on configurations say, done.
@Suite struct ChoosingArticleTests {
    struct User: Codable, Sendable {
        var name: String
        var age: Int
    }

    private let key: Secret = "key"
    private let acme = AcmeModule.Settings()
    private let globex = GlobexModule.Settings()

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = ScratchSpace.url.appendingPathComponent("choosing-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    /// The first JSON of a page, in a file.
    private func write(_ page: String, into folder: URL) throws -> URL {
        let article = try Article("Sources/Switchyard/Documentation.docc/\(page).md")
        let json = try #require(article.blocks(of: "json").first)
            .replacing("/var/lib/demo", with: folder.appendingPathComponent("state").path)
            .replacing("${ACME_KEY}", with: "key").replacing("${GLOBEX_KEY}", with: "key")
        let url = folder.appendingPathComponent("\(page).json")
        try Data(json.utf8).write(to: url)
        return url
    }

    @Test func `One line is a backend`() async throws {
        let backend = try await Infrastructure(.mock)
        let users = backend.storage.collection("users", of: User.self)

        try await users.document("alice").set(User(name: "Alice", age: 30))
        let following = Task {
            for try await adults in users.where(\.age, .greaterThan, 17).stream() { print(adults.map(\.name)) }
        }
        #expect(try await users.where(\.age, .greaterThan, 17).documents().map(\.name) == ["Alice"])
        following.cancel()
        _ = await following.result
        await backend.shutDown()
    }

    @Test func `One line with a folder is a backend of any provider`() async throws {
        try await withFolder { folder in
            let backend = try await Infrastructure(.acme(project: "demo", apiKey: key), stateFolder: folder)
            #expect(await backend.selection.provider(for: .storage) == .acme)
            await backend.shutDown()
        }
    }

    @Test func `Each client has its provider, and exchanges it while the program runs`() async throws {
        let factory = InfrastructureFactory(AcmeModule(acme), GlobexModule(globex))
        var selection = InfrastructureSelection(default: .acme)
        selection.storage = .globex
        selection.omit(.messaging)
        selection.omit(.files)
        let backend = try await factory.make(selection)
        #expect(await backend.selection.storage == .globex)

        let report = try await backend.use(.acme, for: .storage)
        #expect("\(report)" == "storage: globex → acme")
        do {
            let report = try await backend.use(.globex, for: .storage)
            #expect("\(report)" == "storage: acme → globex")
        }
        do {
            var selection = await backend.selection
            selection.auth = .acme
            selection.storage = .acme
            try await backend.use(selection)
            #expect(await backend.selection.storage == .acme)
        }
        await backend.shutDown()
    }

    @Test func `Retries, an observer and a layer stand around every call`() async throws {
        let factory = InfrastructureFactory(AcmeModule(acme))
        var selection = InfrastructureSelection(default: .acme)
        selection.omit(.files)
        selection.omit(.messaging)
        var options = InfrastructureOptions(observer: LineObserver())
        options.interceptors = [MyLimiter()]
        var configuration = InfrastructureConfiguration(selection)
        configuration.retry = .standard
        let backend = try await factory.make(configuration, in: options)
        try await backend.storage.setDocument("users/alice", ["name": "Alice"])
        await backend.shutDown()
    }

    @Test func `The articles' files are loaded in both ways`() async throws {
        try await withFolder { folder in
            do {
                let url = try write("ChoosingProviders", into: folder)
                // What these two have none of is left out by the other file.
                let text = try String(contentsOf: url, encoding: .utf8)
                    .replacing("\"messaging\": \"none\"", with: "\"messaging\": \"none\", \"files\": \"none\"")
                try Data(text.utf8).write(to: url)
                let backend = try await Infrastructure(contentsOf: url, modules: [.acme, .globex])
                #expect(await backend.selection.storage == .globex)
                await backend.shutDown()
            }
            let url = try write("Configuration", into: folder)
            let text = try String(contentsOf: url, encoding: .utf8)
                .replacing("\"files\": \"none\"", with: "\"files\": \"none\", \"messaging\": \"none\"")
            try Data(text.utf8).write(to: url)
            let configuration = try InfrastructureConfiguration(contentsOf: url)
            let factory = InfrastructureFactory(configurable: [AcmeModule.self, GlobexModule.self])
            let backend = try await factory.make(configuration)
            #expect(await backend.selection.storage == .globex)
            await backend.shutDown()
        }
    }

    @Test(arguments: [
        "Sources/Switchyard/Documentation.docc/Switchyard.md",
        "Sources/Switchyard/Documentation.docc/ChoosingProviders.md",
        "Sources/Switchyard/Documentation.docc/Configuration.md",
    ])
    func `Every piece of Swift in the article stands above, line for line`(page: String) throws {
        let missing = try Article(page).missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }
}
