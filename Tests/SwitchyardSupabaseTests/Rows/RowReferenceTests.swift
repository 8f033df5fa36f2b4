import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// Foreign keys that are read and written as references.
struct RowReferenceTests {
    static let mappings: [SupabaseTableMapping] = {
        var mappings = TablesSite.mappings
        mappings[1].references = ["list": "lists"]
        mappings[1].fields["price"] = "price"
        mappings[1].columnTypes["price"] = .numeric
        return mappings
    }()

    private static let list = UUID()

    private static func shape() throws -> RowShape {
        let tables = try TableMappings(mappings, usesDocuments: false)
        return RowShape(try #require(try tables.place(of: CollectionPath("todos"))).table)
    }

    @Test func `A foreign key is a reference to a document of its collection, both ways`() throws {
        let kind = try Self.shape().kind(of: "list")
        let key = Self.list.uuidString.lowercased()
        let reference = StoragePath(unchecked: "lists/\(key)").documentValue
        #expect(try kind.value(IndexedJSON(parsing: Array("\"\(key)\"".utf8)), at: 0) == reference)
        #expect(try kind.value(IndexedJSON(parsing: Array("null".utf8)), at: 0) == nil)
        #expect(kind.json(reference) == .string(key))
        #expect(kind.operand(reference) == key)
        #expect(kind.json(StoragePath(unchecked: "todos/\(key)").documentValue) == nil)
        #expect(kind.json(.string(key)) == nil)
        #expect(
            try ColumnKind.reference("lists", key: .integer(.max)).value(
                IndexedJSON(parsing: [UInt8(ascii: "7")]), at: 0)
                == StoragePath("lists/7").documentValue)
        #expect(ColumnKind.reference("lists", key: .integer(.max)).json(StoragePath("lists/x").documentValue) == nil)
    }

    @Test func `A column whose type is declared as uuid needs no second mention`() throws {
        var mapping = SupabaseTableMapping(collection: "notes", table: "notes", columns: ["owner", "readers", "text"])
        mapping.columnTypes = ["id": .uuid, "owner": .uuid, "readers": .array(of: .uuid), "text": .text]
        let tables = try TableMappings([mapping], usesDocuments: false)
        let name = UUID().uuidString
        #expect(tables.canonical(StoragePath(unchecked: "notes/\(name)")).id == name.lowercased())
        #expect(tables.newDocument(in: "notes")?.id.utf8.count == 36)
        let write = tables.canonical(
            DocumentWrite(
                path: StoragePath(unchecked: "notes/\(name)"),
                operation: .set(["owner": .string(name), "readers": [.string(name)], "text": .string(name)])))
        #expect(
            write.operation
                == .set([
                    "owner": .string(name.lowercased()), "readers": [.string(name.lowercased())], "text": .string(name),
                ]))
    }

    @Test(arguments: [["lst": "lists"], ["list": "lists/{id}/x"], ["list": "lists/a"]])
    func `A reference of no field, or to no collection, is a mistake of the mapping`(_ references: [String: String]) {
        var mapping = TablesSite.mappings[1]
        mapping.references = references
        let mistake = #expect(throws: InfrastructureError.self) { try TableMappings([mapping]) }
        #expect(mistake?.message.contains("reference") == true)
    }

    private struct Todo: Codable, Equatable {
        @DocumentID var id: UUID
        var list: StoragePath?
        var title: String
        var price: Decimal?
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `References and exact decimal numbers go into the table and come back`() async throws {
        let site = try await TablesSite.shared.value
        let storage = try await site.storage(Self.mappings)
        let list = StoragePath(unchecked: "lists/\(Self.list.uuidString)")
        try await storage.setDocument(list, ["owner": .string(TablesSite.alice), "name": "Home"]).acknowledged()
        let todos = storage.collection("todos", of: Todo.self)
        let price = try #require(Decimal(string: "123456789012345678.123456789012"))
        var todo = Todo(id: DocumentID(UUID()), list: list, title: "Milk", price: price)
        try await todos.document(todo.id).set(todo).acknowledged()
        todo.list = StoragePath(unchecked: "lists/\(Self.list.uuidString.lowercased())")
        #expect(try await todos.document(todo.id).get(from: .server) == todo)
        #expect(try await todos.where(\.list, .equal, list).documents(from: .server).map { $0 } == [todo])
        #expect(
            try await site.text("select price::text from public.todos where list = '\(Self.list)'")
                == "123456789012345678.123456789012")
        await storage.shutDown()
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `What a column cannot hold is refused before it is queued, also offline`() async throws {
        let site = try await TablesSite.shared.value
        let storage = try await site.storage(Self.mappings)
        _ = try await storage.documents(Query(in: "todos"), from: .server)
        try await storage.disableNetwork()
        for (fields, words) in [
            (["n": "many"], ["“n”", "a string", "bigint"]), (["titel": "A"], ["“titel”", "Did you mean “title”?"]),
            (["price": "19 EUR"], ["“price”", "numeric"]), (["list": "lists"], ["“list”", "refers to “lists”"]),
        ] as [(FieldUpdates, [String])] {
            let refusal = await #expect(throws: StorageError.self) {
                try await storage.updateDocument(StoragePath(unchecked: "todos/\(UUID())"), fields)
            }
            #expect(refusal?.code == .invalidArgument)
            for word in words { #expect(refusal?.message.contains(word) == true, "\(refusal?.message ?? "")") }
        }
        let nameless = await #expect(throws: StorageError.self) {
            try await storage.setDocument("todos/milk", ["title": "Milk"])
        }
        #expect(nameless?.code == .invalidArgument && nameless?.message.contains("uuid") == true)
        #expect(try await storage.pendingWrites().first { _ in true }?.isEmpty == true)
        await storage.shutDown()
    }
}
