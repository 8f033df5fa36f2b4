// A provider with accounts and offline support: the session engine and the offline engine do what is hard about both.
import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardSync

let warehouse = Warehouse()
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("warehouse-\(UUID().uuidString)")

/// The app, as it is after each start.
func start() async throws -> Infrastructure {
    var selection = InfrastructureSelection(default: .warehouse)
    selection.omit(.files)
    selection.omit(.messaging)
    return try await InfrastructureFactory(WarehouseModule(warehouse)).make(
        selection, in: InfrastructureOptions(stateFolder: folder))
}

var app = try await start()
try await app.auth.signUp(email: "ada@example.com", password: Secret("a long password"))
try await app.storage.setDocument("shelves/1", ["label": "A–K", "boxes": 12])
print("shelf 1: \(try await app.storage.document("shelves/1")["label"]?.stringValue ?? "missing")")

warehouse.isReachable = false
try await app.storage.updateDocument("shelves/1", ["boxes": 13])
let shelf = try await app.storage.document("shelves/1")
print(
    "without a network: \(shelf["boxes"]?.integerValue ?? 0) boxes, saved on the server: \(!shelf.metadata.hasPendingWrites)"
)
await app.shutDown()

app = try await start()
let unsent = await app.storage.unsentWrites?.count ?? 0
print("after a restart: \(await app.auth.currentUser?.email ?? "signed out"), \(unsent) write to send")
warehouse.isReachable = true
try await app.storage.waitForPendingWrites()
let documents = try warehouse.read(as: try await app.auth.accessToken().value).documents
print("with the network again, the warehouse has \(documents["shelves/1"]?["boxes"]?.integerValue ?? 0) boxes")
await app.shutDown()
try FileManager.default.removeItem(at: folder)

/// What the conformance checks need to know: two clients of one warehouse are two devices.
struct WarehouseHarness: StorageHarness {
    private let driver: WarehouseDriver
    var features: StorageFeatures { StorageFeatures(driver.capabilities) }

    init() async throws {
        let warehouse = Warehouse()
        let auth = try WarehouseAuth(warehouse, ModuleContext())
        _ = try await auth.signUp(email: "checks@example.com", password: Secret("a long password"))
        driver = WarehouseDriver(warehouse: warehouse, auth: auth)
    }

    func makeStorageClient() async throws -> any StorageClient { SyncedStorageClient(driver: driver) }
}

let report = await runConformance([.storage(try await WarehouseHarness())])
print(report.table)
exit(report.failed == 0 ? 0 : 1)
