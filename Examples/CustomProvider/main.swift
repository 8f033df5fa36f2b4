// A custom provider: made by the factory and checked like any other.
import Foundation
import Switchyard
import SwitchyardConformance

let factory = InfrastructureFactory(FileCabinetModule(FileCabinetConfiguration()))
let storage = try await factory.createStorageClient(provider: .fileCabinet)
try await storage.setDocument("drawers/1", ["label": "A–K", "folders": 12])
print("drawer 1: \(try await storage.document("drawers/1")["label"]?.stringValue ?? "missing")")

do throws(StorageError) {
    try await storage.transaction { _ in }
} catch {
    print("as declared: \(error.message)")
}

/// What the conformance checks need to know: two clients on one cabinet are two devices.
struct FileCabinetHarness: StorageHarness {
    let features = StorageFeatures(FileCabinetClient.capabilities)
    private let cabinet = FileCabinet(now: { Timestamp(Date()) })
    func makeStorageClient() async throws -> any StorageClient { FileCabinetClient(cabinet: cabinet) }
}

let report = await runConformance([.storage(FileCabinetHarness())])
print(report.table)
exit(report.failed == 0 ? 0 : 1)
