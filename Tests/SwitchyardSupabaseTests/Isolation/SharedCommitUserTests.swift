import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// Batches that share a call when somebody else signs in on the device.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SharedCommitUserTests {
    @Test(.timeLimit(.minutes(2)), arguments: [true, false])
    func `Each user's batches are theirs and count once, also if the user changes during a shared call`(
        _ isCarriedOut: Bool
    ) async throws {
        let site = try await SupabaseSite()
        let module = IsolationSite.module(site.supabase)
        let auth = try await module.makeAuthClient(ModuleContext())
        let storage = try await module.makeStorageClient(ModuleContext(auth: auth))
        let name = RandomID.make(length: 8).lowercased()
        let notes = try CollectionPath(validating: "shared-\(name)")
        func email(_ person: String) -> String { "\(person)-\(name)@example.com" }
        for person in ["ben", "ann"] { try await auth.signUp(email: email(person), password: "secret") }

        let gate = Gate()
        let rule = site.supabase.faults.add(isCarriedOut ? .holdAnswer(gate) : .holdRequest(gate)) {
            $0.rawPath.contains("switchyard_commit_many")
        }
        /// Queued by whoever is signed in, to be sent together.
        func queue(by person: String) async throws -> [WriteReceipt] {
            try await storage.disableNetwork()
            var receipts: [WriteReceipt] = []
            for _ in 0..<10 {
                receipts.append(try await storage.mergeDocument(notes.document(person), ["n": .increment(1)]))
            }
            try await storage.enableNetwork()
            return receipts
        }
        let anns = try await queue(by: "ann")
        try await eventually("the shared call is under way") { site.supabase.faults.strikes(of: rule) == 1 }
        try await auth.signIn(email: email("ben"), password: "secret")
        let bens = try await queue(by: "ben")
        gate.open()
        for receipt in bens { try await receipt.acknowledged() }
        #expect(try await storage.document(notes.document("ben"), from: .server)["n"] == 10)
        #expect(try await !storage.document(notes.document("ann"), from: .server).exists)
        try await auth.signIn(email: email("ann"), password: "secret")
        for receipt in anns { try await receipt.acknowledged() }
        // The time of a read is that of the oldest transaction on the server, which may be another test's. Until that has ended, the
        // document counts as missing, as he was told.
        var hers: DocumentValue?
        try await eventually("she sees hers") {
            hers = try await storage.document(notes.document("ann"), from: .server)["n"]
            return hers != nil
        }
        #expect(hers == 10)
        await storage.shutDown()
        await auth.shutDown()
        await site.stop()
    }
}
