import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

/// Transactions that lock on the server: whatever becomes of them, the locks are given back.
@Suite struct FirestoreLockingTests {
    private static let begun = FirestoreBed.call("beginTransaction", #"{"transaction":"dA=="}"#)
    private static let rolledBack = FirestoreBed.call("rollback", "{}")

    private struct Doubt: Error {}

    private func bed(_ script: ScriptedExchange...) throws -> (FirestoreBed, SyncedStorageClient) {
        let bed = try FirestoreBed(locksInTransactions: true)
        for exchange in script { bed.transport.expect(exchange) }
        return (bed, SyncedStorageClient(driver: bed.driver))
    }

    @Test func `Reads and the commit name the transaction`() async throws {
        let (bed, client) = try bed(Self.begun, FirestoreBed.found("a/b"), FirestoreBed.committed(1))
        try await client.transaction { transaction in
            _ = try await transaction.document("a/b")
            try await transaction.set("a/b", ["n": 2])
        }
        #expect(bed.body(1)["transaction"] == "dA==")
        #expect(bed.body(2)["transaction"] == "dA==")
        try bed.transport.verify()
    }

    @Test func `A body that throws gives the locks back`() async throws {
        let (bed, client) = try bed(Self.begun, FirestoreBed.found("a/b"), Self.rolledBack)
        await #expect(throws: StorageError.self) {
            try await client.transaction { transaction in
                _ = try await transaction.document("a/b")
                throw Doubt()
            }
        }
        #expect(bed.body(2)["transaction"] == "dA==")
        try bed.transport.verify()
    }

    @Test func `A commit that is refused gives the locks back`() async throws {
        let (bed, client) = try bed(
            Self.begun, FirestoreBed.found("a/b"),
            FirestoreBed.refusal("commit", "PERMISSION_DENIED", status: 403), Self.rolledBack)
        await #expect(throws: StorageError.self) {
            try await client.transaction { transaction in
                _ = try await transaction.document("a/b")
                try await transaction.set("a/b", ["n": 2])
            }
        }
        #expect(bed.body(3)["transaction"] == "dA==")
        try bed.transport.verify()
    }

    @Test func `A caller that is cancelled gives the locks back`() async throws {
        let gate = Gate()
        let held = ScriptedExchange.matching("batchGet", { $0.request.url.hasSuffix("/documents:batchGet") }) { _ in
            ScriptedReply.json("[]").delayed(until: gate)
        }
        let (bed, client) = try bed(Self.begun, held, Self.rolledBack)
        let caller = Task { try await client.transaction { try await $0.document("a/b").exists } }
        try await eventually("the document is asked for") { gate.waiting == 1 }
        caller.cancel()
        await #expect(throws: StorageError.self) { try await caller.value }
        #expect(bed.body(2)["transaction"] == "dA==")
        try bed.transport.verify()
    }

    @Test(arguments: [false, true]) func `A transaction commits nothing in the name of whoever signed in meanwhile`(
        locks: Bool
    ) async throws {
        let user = Mutex("alice")
        let auth = FixedAuthClient(provider: "firebase", user: user.withLock { $0 }) { _ throws(AuthError) in "any" }
        let bed = try FirestoreBed(auth: auth, locksInTransactions: locks)
        if locks { bed.transport.expect(Self.begun) }
        bed.transport.expect(FirestoreBed.found("a/b"))
        let client = SyncedStorageClient(driver: bed.driver)
        let error = await bed.error { () async throws(StorageError) in
            try await client.transaction { transaction in
                _ = try await transaction.document("a/b")
                user.withLock { $0 = "bob" }
                try await transaction.set("a/b", ["n": 2])
            }
        }
        #expect(error?.code == .sessionChanged && error?.isRetryable == false)
        try bed.transport.verify()
    }
}
