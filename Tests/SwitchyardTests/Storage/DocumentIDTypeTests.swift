import Foundation
import Switchyard
import Testing

/// Documents whose names are UUIDs or numbers.
@Suite struct DocumentIDTypeTests {
    struct Device: Codable, Equatable, Sendable {
        @DocumentID var id: UUID
        var name: String
    }

    struct Row: Codable, Equatable, Sendable {
        @DocumentID var id: Int64
        var number: Int
    }

    struct Part: Codable, Equatable, Sendable {
        @DocumentID var id: Int?
        @DocumentID var serial: UUID?
        var name: String
    }

    /// Names new documents by numbers.
    private struct Numbering: StorageClientWrapper {
        let base: any StorageClient

        func newDocument(in collection: CollectionPath) -> StoragePath { collection.document("7") }
    }

    /// Forwards everything.
    private struct Plain: StorageClientWrapper {
        let base: any StorageClient
    }

    @Test func `A UUID is a document's name, in handles, values and conditions`() async throws {
        let storage = ToyStorage()
        let devices = storage.collection("devices", of: Device.self)
        let (first, second) = (UUID(), UUID())
        try await devices.document(first).set(Device(name: "one"))
        try await devices.document(second).set(Device(name: "two"))
        #expect(try await devices.document(first).get() == Device(id: DocumentID(first), name: "one"))
        #expect(try await storage.collection("devices").document(second).get()["name"] == "two")
        #expect(try await devices.where(\.id, .equal, second).documents().map(\.name) == ["two"])
        #expect(try await devices.where(\.id, .in, [first]).documents().map(\.id) == [first])
        #expect(Device(name: "new").id.uuidString.allSatisfy { $0 == "0" || $0 == "-" })
    }

    @Test func `A whole number is a document's name, in handles, values and conditions`() async throws {
        let storage = ToyStorage()
        let rows = storage.collection("rows", of: Row.self)
        try await rows.document(9_007_199_254_740_993).set(Row(number: 1))
        try await rows.document(-5).set(Row(number: 2))
        #expect(try await rows.document("9007199254740993").get()?.id == 9_007_199_254_740_993)
        #expect(try await storage.collection("rows").document(-5).get()["number"] == 2)
        #expect(try await rows.where(\.id, .equal, -5).documents().map(\.number) == [2])
        #expect(try await rows.where(\.id, .in, [-5, 6]).documents().map(\.number) == [2])
        #expect(Row(number: 1).id == 0)
    }

    @Test func `A name that does not fit the type is a mismatch that names the document and the property`() async throws
    {
        let storage = ToyStorage()
        try await storage.setDocument("devices/kitchen", ["name": "k"])
        let failure = await #expect(throws: StorageError.self) {
            try await storage.collection("devices", of: Device.self).document("kitchen").get()
        }
        #expect(failure?.code == .codingFailed)
        #expect(failure?.message.contains("“id” of “devices/kitchen”") == true)
        #expect(failure?.message.contains("not a UUID") == true)
        for name in ["007", "1e3", "99999999999999999999"] {
            try await storage.setDocument(StoragePath("rows", name), ["number": 1])
            let failure = await #expect(throws: StorageError.self) {
                try await storage.collection("rows", of: Row.self).document(name).get()
            }
            #expect(failure?.code == .codingFailed && failure?.message.contains("Int64") == true)
        }
    }

    @Test func `Optional names are nil until they come from a document`() {
        #expect(Part(name: "x").id == nil && Part(name: "x").serial == nil)
    }

    @Test func `New names are the client's, also behind layers`() async throws {
        let storage = Plain(base: Numbering(base: ToyStorage()))
        #expect(storage.collection("rows").newDocument().path == "rows/7")
        #expect(try await storage.collection("rows").add(["number": 1]).path == "rows/7")
        let row = try await storage.collection("typed", of: Row.self).add(Row(number: 3))
        #expect(try await row.get()?.id == 7)
        #expect(try await storage.addDocument(to: "other", ["number": 1]) == "other/7")
    }
}
