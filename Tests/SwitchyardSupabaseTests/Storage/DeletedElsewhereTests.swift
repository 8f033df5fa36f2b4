import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// Documents that are gone while another transaction is under way, so that its effect is unknown.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct DeletedElsewhereTests {
    @Test func `A deletion is believed whatever else is being written`() async throws {
        let site = try await SupabaseSite.shared.value
        let device = SyncedStorageClient(driver: SupabaseDriver(service: try site.service()))
        let other = SyncedStorageClient(driver: SupabaseDriver(service: try site.service()))
        let path = CollectionPath(unchecked: "gone-\(RandomID.make())").document("a")
        let busy = try await site.postgres.connect()
        try await busy.run(script: "begin; select pg_current_xact_id();")
        try await device.setDocument(path, ["n": 1]).acknowledged()
        try await other.deleteDocument(path).acknowledged()
        #expect(try await !device.document(path, from: .server).exists)
        try await busy.run(script: "rollback;")
        busy.close()
        await device.shutDown()
        await other.shutDown()
    }
}
