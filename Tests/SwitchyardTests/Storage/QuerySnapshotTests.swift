import Switchyard
import Testing

@Suite struct QuerySnapshotTests {
    @Test func `A snapshot is the collection of its documents`() async throws {
        let storage = ToyStorage()
        for name in ["a", "b", "c"] { try await storage.setDocument(StoragePath("todos", name), ["title": .of(name)]) }
        let found = try await storage.documents(Query(in: "todos"))
        #expect(found.count == 3 && !found.isEmpty)
        #expect(found.first?.id == "a" && found.last?.id == "c" && found[1].id == "b")
        #expect(found.map(\.id) == ["a", "b", "c"])
        #expect(found.reversed().map(\.id) == ["c", "b", "a"])
        #expect(found.prefix(2).map(\.id) == ["a", "b"])
        #expect(Array(found) == Array(found.documents))
        var seen: [String] = []
        for document in found { seen.append(document.id) }
        #expect(seen == ["a", "b", "c"])
        let none = try await storage.documents(Query(in: "none"))
        #expect(none.isEmpty && none.first == nil && none.map(\.id) == [])
    }
}
