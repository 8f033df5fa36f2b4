import Switchyard
import SwitchyardTestSupport
import Testing

@testable import SwitchyardFirebase

@Suite(.enabled(if: FirestoreEmulator.isInstalled, "the Firestore emulator is not installed"))
struct FirestoreEndToEndTests {
    @Test func `A document that one device writes reaches the live query of another, and comes back changed`()
        async throws
    {
        let site = try await FirestoreSite()
        let alice = try await site.client()
        let bob = try await site.client()
        let query = Query(in: "cities").where("pop", .greaterThan, 100).ordered(by: "pop")

        let receipt = try await alice.setDocument("cities/ulm", ["pop": 126, "name": "Ulm 🎭"])
        try await receipt.acknowledged()
        #expect(try await bob.document("cities/ulm", from: .server)["name"] == "Ulm 🎭")

        var step = 0
        for try await snapshot in bob.snapshots(of: query) where !snapshot.metadata.isFromCache {
            step += 1
            if step == 1 {
                #expect(snapshot.documents.map(\.id) == ["ulm"])
                try await alice.updateDocument("cities/ulm", ["pop": .increment(1)])
                try await alice.setDocument("cities/köln", ["pop": 1087])
            } else if snapshot.documents.map(\.id) == ["ulm", "köln"], snapshot.documents[0]["pop"] == 127 {
                break
            }
        }
        await alice.shutDown()
        await bob.shutDown()
    }

    @Test func `What is written without a network is there at once, and on the server later`() async throws {
        let site = try await FirestoreSite()
        let alice = try await site.client()
        try await alice.disableNetwork()
        let receipt = try await alice.setDocument("notes/a", ["text": "in the tunnel"])
        let local = try await alice.document("notes/a", from: .cache)
        #expect(local["text"] == "in the tunnel")
        #expect(local.metadata.hasPendingWrites)
        try await alice.enableNetwork()
        try await receipt.acknowledged()
        let bob = try await site.client()
        #expect(try await bob.document("notes/a", from: .server)["text"] == "in the tunnel")
        await alice.shutDown()
        await bob.shutDown()
    }

    /// The emulator may date an answer later than a write that is not in it, a few times in a thousand.
    @Test func `A query beside a write of one's own always shows it`() async throws {
        let site = try await FirestoreSite()
        let client = try await site.client()
        for number in 0..<100 {
            let collection = CollectionPath(unchecked: "rooms/\(number)/messages")
            try await client.setDocument(collection.document("one"), ["n": .of(number)])
            let seen = try await client.documents(Query(in: collection), from: .server)
            #expect(seen.documents.map(\.id) == ["one"], "in room \(number)")
        }
        await client.shutDown()
    }
}
