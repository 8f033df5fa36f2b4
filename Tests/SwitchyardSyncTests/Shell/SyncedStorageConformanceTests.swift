import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardSync
import SwitchyardTestSupport
import Testing

/// Every device of the harness is a client over the reference driver, all on one model server.
struct ModelHarness: StorageHarness {
    let features: StorageFeatures
    private let server = ModelServer()
    private let folder: URL?

    init(folder: URL? = nil) {
        self.folder = folder
        features = StorageFeatures(ModelDriver(server).capabilities)
    }

    func makeStorageClient() async throws -> any StorageClient {
        let storage = folder.map { SyncStorage.folder($0.appendingPathComponent(UUID().uuidString)) } ?? .memory
        return SyncedStorageClient(driver: ModelDriver(server), storage: storage)
    }
}

@Suite struct SyncedStorageConformanceTests {
    static let memory = ModelHarness()
    static let tally = ConformanceTally("synced storage", StorageConformance.all, for: memory.features)

    @Test(arguments: StorageConformance.checks(for: memory.features))
    func `Storage over the engine and the reference driver`(_ check: StorageCheck) async throws {
        try await Self.tally.run(check, on: Self.memory)
    }

    static let files = ModelHarness(
        folder: ScratchSpace.url.appendingPathComponent("synced-\(UUID().uuidString)"))
    static let fileTally = ConformanceTally("synced storage in files", StorageConformance.all, for: files.features)

    @Test(arguments: StorageConformance.checks(for: files.features))
    func `Storage over the engine in a file`(_ check: StorageCheck) async throws {
        try await Self.fileTally.run(check, on: Self.files)
    }

    static let tiny = TinyHarness()
    static let tinyTally = ConformanceTally("tiny driver", StorageConformance.all, for: tiny.features)

    @Test(arguments: StorageConformance.checks(for: tiny.features))
    func `Storage over a driver that uses nothing but what is public`(_ check: StorageCheck) async throws {
        try await Self.tinyTally.run(check, on: Self.tiny)
    }
}

/// Every device of the harness is a client over the tiny driver.
struct TinyHarness: StorageHarness {
    private let server = TinyServer()
    var features: StorageFeatures { StorageFeatures(TinyDriver(server: server).capabilities) }

    func makeStorageClient() async throws -> any StorageClient {
        SyncedStorageClient(driver: TinyDriver(server: server))
    }
}
