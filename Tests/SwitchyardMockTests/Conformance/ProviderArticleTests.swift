import Foundation
public import Switchyard
import SwitchyardConformance
import SwitchyardMock
import SwitchyardTestSupport
import Testing

public struct AcmeConfiguration: Codable, Sendable {}

public struct AcmeModule: InfrastructureModule {
    public static let provider: InfrastructureProvider = "acme"
    public let configuration: AcmeConfiguration
    public init(_ configuration: AcmeConfiguration) { self.configuration = configuration }

    public func makeStorageClient(_ context: ModuleContext) async throws(InfrastructureError) -> any StorageClient {
        AcmeStorageAdapter(configuration, auth: context.auth)
    }
}

/// The provider's storage, on a mock.
// swift-format-ignore: AlwaysUseLowerCamelCase
private func AcmeStorageAdapter(_ configuration: AcmeConfiguration, auth: (any AuthClient)?) -> any StorageClient {
    LoggedStorage(base: AcmeStorage(base: MockStorageClient(MockBackend())))
}

/// A server that reads and writes, and knows nothing of transactions.
struct AcmeServer: Sendable {
    let documents: any StorageClient

    func read(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
        try await documents.documents(paths, from: .server)
    }

    func carryOut(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement {
        try await documents.commit(WriteBatch(writes)).acknowledged()
    }
}

struct AcmeStorage: StorageClientWrapper {
    let base: any StorageClient
    var server: AcmeServer { AcmeServer(documents: base) }
    /// The mock can divide its queries by groups; this provider says that it cannot.
    var capabilities: StorageCapabilities {
        var capabilities = base.capabilities
        capabilities.collectionGroups = false
        return capabilities
    }

    func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
        try check(query)
        return try await base.documents(query, from: source)
    }
}

extension AcmeStorage {
    func check(_ query: Query) throws(StorageError) {
        try query.checked()
        if case .group = query.source, !capabilities.collectionGroups {
            throw .unsupported("collection groups", by: provider, instead: "Query one collection.")
        }
    }
}

struct AcmeTransaction: StorageTransactionBackend {
    let server: AcmeServer

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> [DocumentSnapshot] {
        try await server.read(paths)  // what is committed, in this order, and never from a cache
    }

    func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> WriteReceipt.Acknowledgement {
        try await server.carryOut(writes)  // all or none
    }
}

extension AcmeStorage {
    func makeTransaction() async throws(StorageError) -> any StorageTransactionBackend {
        AcmeTransaction(server: server)
    }
}

public struct AcmeSettings: Codable, Sendable {
    public var project: String
    public var apiKey: Secret
    public var attempts = 3

    public init(project: String, apiKey: Secret) {
        self.project = project
        self.apiKey = apiKey
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            project: try values.decode(String.self, forKey: .project),
            apiKey: try values.decode(Secret.self, forKey: .apiKey))
        attempts = try values.decodeIfPresent(Int.self, forKey: .attempts) ?? attempts
        guard (1...9).contains(attempts) else {
            throw DecodingError.dataCorruptedError(forKey: .attempts, in: values, debugDescription: "1 to 9")
        }
    }
}

private struct SettingsModule: InfrastructureModule {
    static let provider: InfrastructureProvider = "acme"
    let configuration: AcmeSettings
    init(_ configuration: AcmeSettings) { self.configuration = configuration }
}

struct LoggedStorage: StorageClientWrapper {
    let base: any StorageClient

    func commit(_ batch: WriteBatch) async throws(StorageError) -> WriteReceipt {
        print("writing \(batch.count) documents")
        return try await base.commit(batch)
    }
}

private struct AcmeHarness: StorageHarness {
    private let backend = MockBackend()
    var features: StorageFeatures { StorageFeatures(AcmeStorage(base: MockStorageClient(backend)).capabilities) }
    func makeStorageClient() async throws -> any StorageClient { AcmeStorage(base: MockStorageClient(backend)) }
}

/// What the article on writing a provider says, done.
@Suite struct ProviderArticleTests {
    @Test func `A transaction of reads and conditional writes passes every check there is`() async throws {
        let report = await runConformance([.storage(AcmeHarness())], filter: ["transaction"])
        print(report.table)
        #expect(report.failed == 0 && report.passed > 10)
    }

    @Test func `What is declared not to be there is refused with what to do instead`() async throws {
        let storage = AcmeStorage(base: MockStorageClient(MockBackend()))
        let refusal = await #expect(throws: StorageError.self) { try await storage.documents(Query(group: "notes")) }
        #expect(refusal?.code == .unsupported && refusal?.message.contains("Query one collection.") == true)
    }

    @Test func `The module makes a client, and a wrapper lets through what it does not change`() async throws {
        let factory = InfrastructureFactory(AcmeModule(AcmeConfiguration()))
        let storage = try await factory.createStorageClient(provider: "acme")
        try await storage.setDocument("notes/1", ["text": "…"])
        #expect(try await storage.document("notes/1")["text"] == "…")
        #expect(storage.unwrapped(as: MockStorageClient.self) != nil)
    }

    @Test func `A setting that is out of bounds is reported with its place and what is expected`() throws {
        let json =
            #"{ "default": "acme", "providers": { "acme": { "project": "demo", "apiKey": "k", "attempts": 12 } } }"#
        let configuration = try InfrastructureConfiguration(json: Data(json.utf8), environment: [:])
        let mistake = #expect(throws: InfrastructureError.self) { try configuration.settings(of: SettingsModule.self) }
        #expect(mistake?.message.contains("providers.acme.attempts") == true)
        #expect(mistake?.message.contains("1 to 9") == true)
    }

    @Test func `Every piece of Swift in the article stands above, line for line`() throws {
        let article = try Article("Sources/Switchyard/Documentation.docc/WritingAProvider.md")
        #expect(try article.missing(in: #filePath).isEmpty)
    }
}
