import Switchyard
import SwitchyardConformance
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

@testable import SwitchyardFirebase

/// Devices of one project on the real Firestore emulator.
struct FirestoreHarness: StorageHarness {
    static let features: StorageFeatures = {
        var capabilities = StorageCapabilities.all
        capabilities.listCollections = false
        capabilities.recursiveDelete = false
        // Of 1 483 plain queries beside a writer, sent without any client of ours, 15 saw half of its last batch.
        return StorageFeatures(capabilities, hasForbiddenDocument: true, queriesSeeWholeBatches: false)
    }()

    let site: FirestoreSite
    var features: StorageFeatures { Self.features }

    func makeStorageClient() async throws -> any StorageClient { try await site.client() }

    func forbiddenDocument(in namespace: ConformanceNamespace) async throws -> StoragePath {
        try await site.setRules(
            """
            match /conformance/{name}/items/{id} { allow read, write: if true; }
            match /ledger/{batch} { allow create, get: if true; }
            """)
        return try StoragePath(validating: "forbidden/\(namespace)")
    }
}

@Suite(.enabled(if: FirestoreEmulator.isInstalled, "the Firestore emulator is not installed"))
struct FirestoreConformanceTests {
    static let run = ConformanceRun(
        "firestore emulator", StorageConformance.all, for: FirestoreHarness.features, part: 2
    ) {
        FirestoreHarness(site: try await FirestoreSite())
    }

    @Test(.beside(run), arguments: run.checks)
    func `Firestore's storage`(_ check: StorageCheck) async throws {
        try await Self.run.outcome(of: check)
    }

    @Test func `The adapter declares what the checks are chosen by`() async throws {
        let client = try await FirestoreSite().client()
        #expect(client.capabilities == FirestoreHarness.features.capabilities)
        await client.shutDown()
    }

    @Test func `What Firestore is spared`() {
        #expect(
            StorageConformance.leftOut(for: FirestoreHarness.features) == [
                "everything below a document goes with it", "the collections below a document are listed by name",
                "a document without collections lists none", "the collections at the top are listed",
                "a batch above the bound is refused and leaves nothing", "no one sees half of a batch",
            ])
    }
}
