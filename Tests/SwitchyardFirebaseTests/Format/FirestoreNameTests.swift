import Switchyard
import Testing

@testable import SwitchyardFirestoreFormat

@Suite struct FirestoreNameTests {
    @Test func `Names of documents become paths and go back`() throws {
        let path = try database.path(ofName: root + "/users/alice/notes/é 1")
        #expect(path == "users/alice/notes/é 1")
        #expect(database.resourceName(of: path) == root + "/users/alice/notes/é 1")
        #expect(try database.parent(ofName: root) == nil)
        #expect(try database.parent(ofName: root + "/users/alice") == "users/alice")
    }

    @Test(arguments: [
        "projects/p/databases/d/documents", "projects/p/databases/d/documents/",
        "projects/p/databases/d/documents/users",
        "projects/p/databases/d/documents/users/", "projects/p/databases/d/documents//users/a",
        "projects/p/databases/d/documentsX/a/b", "projects/q/databases/d/documents/a/b", "a/b", "",
    ])
    func `Other names are no documents of this database`(name: String) {
        #expect(throws: FirestoreFormatError.self) { try database.path(ofName: name) }
    }

    @Test(arguments: [
        (["a"], "a"), (["a", "b_1", "_c"], "a.b_1._c"), (["1a"], "`1a`"), (["a.b", "c"], "`a.b`.c"),
        (["é"], "`é`"), (["bak`tik"], "`bak\\`tik`"), (["back\\slash"], "`back\\\\slash`"), (["x-y"], "`x-y`"),
        ([" "], "` `"),
    ])
    func `Field paths are quoted where they must be`(components: [String], text: String) throws {
        let field = try FieldPath(components: components)
        #expect(field.description == text)
        #expect(try FieldPath(firestore: text) == field)
    }

    @Test(arguments: ["a b", "a-b", "1a", "é", "a.b c", " a", "a..b", "", "`a", "a.`b` "])
    func `Without quotes a name is an identifier`(text: String) {
        #expect(throws: FirestoreFormatError.self) { try FieldPath(firestore: text) }
    }
}
