import Switchyard
import SwitchyardTestSupport
import Testing

@Suite struct PathTests {
    @Test(arguments: [
        "a/b", "a/b/c/d", "users/Ünï", "users/a b", "users/\u{301}x", "users/__id7__", "users/__", "users/..x", "u/😀",
        "a/" + String(repeating: "x", count: 1500), Array(repeating: "s", count: 100).joined(separator: "/"),
    ])
    func `Legal document paths are taken as they are`(text: String) throws {
        let path = try StoragePath(validating: text)
        #expect(path.rawValue == text)
        #expect(path.segments.joined(separator: "/").utf8.elementsEqual(text.utf8))
        #expect(path.segments.count.isMultiple(of: 2))
        #expect(try path.collection.document(path.id) == path)
        #expect(path.isDirectly(in: path.collection) && path.isInCollection(called: path.collection.id))
        #expect(path.parent.map { path.isBelow($0) } ?? true)
    }

    @Test(arguments: [
        "", "a", "a/b/c", "/a/b", "a/b/", "a//b/c", "a/.", "a/..", "./b", "a/__x__", "a/____", "a/b\u{0}", "a/",
        "a/" + String(repeating: "x", count: 1501), Array(repeating: "s", count: 102).joined(separator: "/"),
        "a/__id07__",
    ])
    func `Illegal document paths are refused`(text: String) {
        let error = #expect(throws: StorageError.self) { try StoragePath(validating: text) }
        #expect(error?.code == .invalidArgument)
    }

    @Test func `Children are checked, also for depth, and found again`() throws {
        let deep = try StoragePath(validating: Array(repeating: "s", count: 100).joined(separator: "/"))
        #expect(throws: StorageError.self) { try deep.collection("c") }
        #expect(throws: StorageError.self) { try CollectionPath("users").document("a/b") }
        #expect(throws: StorageError.self) { try StoragePath("users/a").collection("") }
        let contacts = try StoragePath("users/alice").collection("contacts")
        #expect(contacts.id == "contacts" && contacts.parent == "users/alice")
        #expect(CollectionPath("users").parent == nil && StoragePath("users/a").parent == nil)
        #expect(!StoragePath("users/alice2/x/y").isBelow("users/alice"))
        #expect(!StoragePath("users/a/b/c").isDirectly(in: "users"))
        var generator = SeededGenerator(seed: 1)
        let new = CollectionPath("users").newDocument(using: &generator)
        #expect(new.id.utf8.count == 20 && new.isDirectly(in: "users"))
    }

    @Test(arguments: 1...4)
    func `Whatever text is given, constructors answer, and what they take they give back`(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let alphabet: [Character] = [
            "a", "/", ".", "_", "`", "\\", "é", "\u{301}", "😀", "\u{0}", " ", "[", "\r\n", "1",
        ]
        for step in 0..<600 {
            if step.isMultiple(of: 50) { await Task.yield() }
            let text = String((0..<random.int(0..<12)).map { _ in random.pick(alphabet) })
            if let path = try? StoragePath(validating: text) {
                #expect(path.segments.count.isMultiple(of: 2) && path.description == text)
                #expect(try StoragePath(validating: path.segments.joined(separator: "/")) == path)
            }
            if let path = try? CollectionPath(validating: text) { #expect(!path.segments.count.isMultiple(of: 2)) }
            if let field = try? FieldPath(validating: text) {
                #expect(!field.components.contains(""))
                #expect(try FieldPath(validating: field.description) == field)
            }
            if let field = try? FieldPath(components: [text, "x"]) {
                #expect(try FieldPath(validating: field.description).components[0].utf8.elementsEqual(text.utf8))
            }
            _ = try? Query(group: text)
        }
    }
}

@Suite struct FieldPathTests {
    @Test(
        arguments: [
            ("a", ["a"]), ("a.b", ["a", "b"]), ("first-name", ["first-name"]), ("`a.b`.c", ["a.b", "c"]),
            ("`bak\\`tik`", ["bak`tik"]), ("`\\\\`", ["\\"]), ("é.1x", ["é", "1x"]), ("with space", ["with space"]),
        ] as [(String, [String])])
    func `Dotted and quoted text is split into names`(text: String, names: [String]) throws {
        #expect(try FieldPath(validating: text).components == names)
    }

    @Test(arguments: [
        "", ".", "a.", ".a", "a..b", "`a", "`a`b", "a`b", "a*b", "a[0]", "a/b", "~", "``", "`a\\", "__x__", "a.__x__",
        String(repeating: "x", count: 1501),
    ])
    func `Illegal field paths are refused`(text: String) {
        let error = #expect(throws: StorageError.self) { try FieldPath(validating: text) }
        #expect(error?.code == .invalidArgument)
    }

    @Test func `Descriptions quote only what needs it`() throws {
        #expect(try FieldPath(components: ["a", "b_1"]).description == "a.b_1")
        #expect(
            try FieldPath(components: ["a.b", "c`d", "1", "é", "e-f", "g\\"]).description
                == "`a.b`.`c\\`d`.`1`.`é`.`e-f`.`g\\\\`")
        #expect(throws: StorageError.self) { try FieldPath(components: []) }
        #expect(throws: StorageError.self) { try FieldPath(components: ["a", ""]) }
        #expect(FieldPath.documentID.isDocumentID && FieldPath("__name__") == .documentID)
    }
}
