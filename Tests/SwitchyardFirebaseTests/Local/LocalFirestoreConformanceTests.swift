import Switchyard
import SwitchyardConformance
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestRuns
import Testing

@testable import SwitchyardFirebase

/// Devices of one project on a local Firebase.
private struct LocalFirestoreHarness: StorageHarness {
    static let features: StorageFeatures = {
        var features = FirestoreHarness.features
        features.queriesSeeWholeBatches = true
        return features
    }()

    let site: LocalSite
    var features: StorageFeatures { Self.features }

    func makeStorageClient() async throws -> any StorageClient { try await site.client() }

    func forbiddenDocument(in namespace: ConformanceNamespace) async throws -> StoragePath {
        site.firebase.allowsEverything = false
        return try StoragePath(validating: "users/somebody-else/forbidden/\(namespace)")
    }
}

/// The same suite as on the vendor's own emulator, and what that leaves undone.
@Suite struct LocalFirestoreConformanceTests {
    static let run = ConformanceRun(
        "local firestore", StorageConformance.all, for: LocalFirestoreHarness.features, part: 3
    ) { check in
        let site = try LocalSite()
        try await check(LocalFirestoreHarness(site: site))
        await site.firebase.stop()
    }

    @Test(.beside(run), arguments: run.checks)
    func `A local Firestore's storage`(_ check: StorageCheck) async throws {
        try await Self.run.outcome(of: check)
    }
}
