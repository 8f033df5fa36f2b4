import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardMock
import Testing

/// The suite itself: complete, with names of its own, clean, and honest about failures.
@Suite struct ConformanceSuiteTests {
    @Test func `There are as many checks as promised`() {
        #expect(StorageConformance.all.count >= 150)
        #expect(AuthConformance.all.count >= 45)
        #expect(FileConformance.all.count >= 35)
        #expect(MessagingConformance.all.count >= 15)
        #expect(DomainConformance.all.count >= 30)
        #expect(AdminConformance.all.count >= 100)
        #expect(SwitchingConformance.all.count >= 10)
    }

    @Test func `Every check has a name of its own and an area`() {
        let suites = [
            StorageConformance.all.map { ($0.name, $0.area) }, AuthConformance.all.map { ($0.name, $0.area) },
            FileConformance.all.map { ($0.name, $0.area) }, MessagingConformance.all.map { ($0.name, $0.area) },
            DomainConformance.all.map { ($0.name, $0.area) }, AdminConformance.all.map { ($0.name, $0.area) },
            SwitchingConformance.all.map { ($0.name, $0.area) },
        ]
        for suite in suites {
            let names = suite.map(\.0)
            let repeated = Dictionary(grouping: names, by: { $0 }).filter { $0.value.count > 1 }.keys.sorted()
            #expect(repeated == [])
            #expect(suite.allSatisfy { !$0.1.isEmpty })
        }
    }

    @Test func `Checks leave nothing behind`() async {
        let backend = MockBackend()
        let report = await runConformance([.storage(OneBackend(backend: backend))], filter: ["updates", "streams"])
        #expect(report.failed == 0)
        #expect(report.passed > 40)
        #expect(backend.documentCount == 0)
    }

    @Test func `A client that lies is found out, and the report says where`() async throws {
        let report = await runConformance([.storage(Forgetful())], filter: ["a document that was set is read back"])
        #expect(report.summary == "0 passed, 1 failed, 0 skipped")
        let entry = try #require(report.entries.first)
        #expect(entry.outcome == .failed)
        #expect(entry.detail?.contains("DocumentChecks.swift") == true)
        #expect(report.table.contains("FAILED storage: a document that was set is read back"))
        #expect(report.table.hasSuffix("0 passed, 1 failed, 0 skipped"))
        let json = try #require(try JSONSerialization.jsonObject(with: report.json) as? [String: Any])
        #expect(json["failed"] as? Int == 1)
    }

    @Test func `What a provider lacks is skipped with the reason`() async {
        var capabilities = StorageCapabilities.all
        capabilities.transactions = false
        let report = await runConformance([.storage(MockStorageHarness(capabilities))], filter: ["transactions"])
        #expect(report.failed == 0)
        #expect(report.skipped > 15)
        #expect(report.entries.contains { $0.outcome == .skipped && $0.detail == "without transactions" })
        #expect(report.table.contains("  skipped without transactions: \(report.skipped)"))
        #expect(report.entries.contains { $0.outcome == .passed && $0.area == "refusals" })
    }

    @Test func `Each group of skipped checks says what would enable it`() async {
        var features = MessagingFeatures(MessagingCapabilities())
        features.playsServer = false
        let report = await runConformance([.messaging(Deaf(features: features))])
        #expect(report.failed == 0)
        let skipped = report.entries.filter { $0.outcome == .skipped }
        #expect(skipped.allSatisfy { $0.remedy?.isEmpty == false })
        #expect(skipped.count { $0.detail == "without push or live messages" } == 7)
        #expect(report.table.contains("without push or live messages: 7, needs a device whose platform"))
        #expect(report.entries.allSatisfy { ($0.outcome == .skipped) == ($0.remedy != nil) })
    }

    /// A client on a platform without a push service.
    private struct Deaf: MessagingHarness {
        let features: MessagingFeatures
        private let backend = MockBackend()

        init(features: MessagingFeatures) { self.features = features }

        func makeMessagingClient() async throws -> any MessagingClient {
            MockMessagingClient(backend, capabilities: features.capabilities)
        }
        func payload(_ message: RemoteMessage) throws -> RemotePayload { backend.messages.payload(of: message) }
    }

    @Test func `A client without a cache that answers for one all the same is found out`() async {
        let report = await runConformance([.storage(Pretender())], filter: ["cache"])
        let failed = Set(report.entries.filter { $0.outcome == .failed }.map(\.name))
        #expect(
            failed == [
                "reading from a cache is refused where there is none",
                "reading several documents from a cache is refused where there is none",
                "querying a cache is refused where there is none",
                "a stream of a document from a cache is refused where there is none",
                "a live query over a cache is refused where there is none",
            ])
    }

    private struct OneBackend: StorageHarness {
        let features = StorageFeatures(.all)
        let backend: MockBackend
        func makeStorageClient() async throws -> any StorageClient { MockStorageClient(backend) }
    }

    /// Declares no cache, and asks the server whatever source is asked for.
    private struct Pretender: StorageHarness {
        private static let capabilities: StorageCapabilities = {
            var capabilities = StorageCapabilities.all
            capabilities.offline = false
            return capabilities
        }()

        let features = StorageFeatures(capabilities)
        private let backend = MockBackend()

        func makeStorageClient() async throws -> any StorageClient {
            Layer(base: MockStorageClient(backend, capabilities: Self.capabilities))
        }

        struct Layer: StorageClientWrapper {
            let base: any StorageClient

            func document(
                _ path: StoragePath, from source: ReadSource
            ) async throws(StorageError) -> DocumentSnapshot { try await base.document(path, from: .standard) }

            func documents(
                _ paths: [StoragePath], from source: ReadSource
            ) async throws(StorageError) -> [DocumentSnapshot] { try await base.documents(paths, from: .standard) }

            func documents(_ query: Query, from source: ReadSource) async throws(StorageError) -> QuerySnapshot {
                try await base.documents(query, from: .standard)
            }

            func snapshots(
                of path: StoragePath, options: ListenOptions
            ) -> SnapshotStream<DocumentSnapshot, StorageError> { base.snapshots(of: path, options: ListenOptions()) }

            func snapshots(
                of query: Query, options: ListenOptions
            ) -> SnapshotStream<QuerySnapshot, StorageError> { base.snapshots(of: query, options: ListenOptions()) }
        }
    }

    /// Reads something else than what was written.
    private struct Forgetful: StorageHarness {
        let features = StorageFeatures(.all)
        private let backend = MockBackend()
        func makeStorageClient() async throws -> any StorageClient { Layer(base: MockStorageClient(backend)) }

        struct Layer: StorageClientWrapper {
            let base: any StorageClient
            func document(
                _ path: StoragePath, from source: ReadSource
            ) async throws(StorageError) -> DocumentSnapshot { .existing(path, ["text": "something else"]) }
        }
    }
}
