import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardSync
import SwitchyardTestRuns
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
    static let memoryRun = ConformanceRun("synced storage", StorageConformance.all, for: memory.features) { memory }

    @Test(.beside(memoryRun), arguments: memoryRun.checks)
    func `Storage over the engine and the reference driver`(_ check: StorageCheck) async throws {
        try await Self.memoryRun.outcome(of: check)
    }

    static let files = ModelHarness(
        folder: ScratchSpace.url.appendingPathComponent("synced-\(UUID().uuidString)"))
    static let fileRun = ConformanceRun(
        "synced storage in files", StorageConformance.all, for: files.features, part: 4
    ) { files }

    @Test(.beside(fileRun), arguments: fileRun.checks)
    func `Storage over the engine in a file`(_ check: StorageCheck) async throws {
        try await Self.fileRun.outcome(of: check)
    }

    static let tiny = TinyHarness()
    static let tinyRun = ConformanceRun("tiny driver", StorageConformance.all, for: tiny.features, part: 4) { tiny }

    @Test(.beside(tinyRun), arguments: tinyRun.checks)
    func `Storage over a driver that uses nothing but what is public`(_ check: StorageCheck) async throws {
        try await Self.tinyRun.outcome(of: check)
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
