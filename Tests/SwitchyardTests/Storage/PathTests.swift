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
        #expect(path.collection.document(path.id) == path)
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
        #expect(deep.collection("c").mistake?.code == .invalidArgument)
        #expect(CollectionPath("users").document("a/b").mistake?.code == .invalidArgument)
        #expect(StoragePath("users/a").collection("").mistake?.code == .invalidArgument)
        let contacts = StoragePath("users/alice").collection("contacts")
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
            _ = Query(group: text).mistake
        }
    }
}

@Suite struct InterpolatedPathTests {
    static let wrong = [
        "", "/", "a/b", "/a", "a/", "../victim", "victim/todos/1", ".", "..", "__x__", "\u{0}", "a\u{0}b", "a/\u{301}",
        String(repeating: "x", count: 1501),
    ]

    @Test func `A value in a path is one segment, or a part of one`() throws {
        let (id, number) = ("al ice%2F..", 7)
        #expect(("users/\(id)" as StoragePath) == (try StoragePath(validating: "users/al ice%2F..")))
        #expect(("users/\(id)/todos" as CollectionPath).segments == ["users", "al ice%2F..", "todos"])
        #expect(("users/u\(number)" as StoragePath).rawValue == "users/u7")
        #expect(("photos/\(id)/\(number).png" as FilePath).rawValue == "photos/al ice%2F../7.png")
        #expect(StoragePath("users", id) == "users/\(id)")
        #expect(CollectionPath("users", id, "todos") == "users/\(id)/todos")
        #expect(FilePath("photos", id) == "photos/\(id)")
        let path: StoragePath = "users/\(id)"
        #expect(path.isValid && path.mistake == nil && path.description == "users/al ice%2F..")
        #expect(("\(path)/todos" as CollectionPath) == path.collection("todos"))
        #expect(("\(path.collection("todos"))/1" as StoragePath) == path.collection("todos").document("1"))
    }

    @Test(arguments: wrong)
    func `A value that is no segment makes an invalid path, never another one`(value: String) throws {
        let attempts: [StoragePath] = [
            "users/\(value)", StoragePath("users", value), StoragePath(segments: ["users", value]),
            CollectionPath("users").document(value), "users/\(value)/todos/1",
            CollectionPath("users", value, "todos").document("1"),
            StoragePath("users", value).collection("todos").document("1"),
            "\(StoragePath("users", value))/todos/1",
        ]
        for (index, path) in attempts.enumerated() {
            #expect(!path.isValid, "attempt \(index)")
            #expect(path.mistake?.code == .invalidArgument && path.mistake?.isRetryable == false)
            #expect(throws: StorageError.self) { try path.checked() }
            #expect(throws: StorageError.self) { try StoragePath(validating: path.rawValue) }
            #expect(path.description.hasPrefix("users/"), "it shows what was asked for")
            let shown = path.description.utf8.count > 300 ? path.description.prefix(200) : path.description[...]
            #expect(path.mistake?.message.contains("“\(shown)") == true)
            #expect(!path.collection.isValid && !path.collection("x").isValid && !path.collection.newDocument().isValid)
            #expect(path.parent?.isValid != true)
            #expect(throws: (any Error).self) { try DocumentWrite.set(path, ["a": 1]) }
            #expect(throws: (any Error).self) { try WriteBatch([.delete(path)]).checked() }
            #expect(throws: (any Error).self) { try DocumentWrite.set("a/b", ["a": .value(path.documentValue)]) }
        }
        #expect(!("users/\(value)/todos" as CollectionPath).isValid)
        #expect(CollectionPath("users", value, "todos").mistake?.message.contains("is not a collection path") == true)
    }

    @Test(arguments: ["", "/", "a/b", "../victim", ".", "..", "a\u{0}b", "a\nb", String(repeating: "x", count: 1025)])
    func `A value that is no segment makes an invalid path of a file`(value: String) throws {
        let attempts: [FilePath] = ["photos/\(value)", FilePath("photos", value), "\(FilePath("photos", value))/x.png"]
        for path in attempts {
            #expect(!path.isValid && path.mistake?.code == .invalidArgument)
            #expect(path.folder?.isValid != true && !path.appending("x").isValid)
            #expect(path.description.hasPrefix("photos/"))
        }
    }

    @Test func `What is wrong with the text around the values is said as well`() {
        let id = "a"
        for path: StoragePath in [
            "users//\(id)", "users/\(id)/", "/users/\(id)", "users/\(id)/todos", "x\("y/z" as StoragePath)",
        ] {
            #expect(!path.isValid)
        }
        #expect(("users/\(id)/todos" as StoragePath).mistake?.message.contains("even number") == true)
        #expect(StoragePath("users", id, "todos").mistake?.message.contains("even number") == true)
        #expect(CollectionPath("users", id).mistake?.message.contains("odd number") == true)
    }

    @Test func `An endless value is not shown in full`() {
        let path: StoragePath = "users/\(String(repeating: "x", count: 1_000_000))"
        #expect((path.mistake?.message.utf8.count ?? 0) < 1000)
    }

    @Test func `No operation takes an invalid path to a client`() async throws {
        let toy = ToyStorage(["users/victim": ["a": 1]])
        let client: any StorageClient = Routed(Route(to: toy as any StorageClient))
        let path = CollectionPath("users").document("x/../victim")
        let attempts: [@Sendable () async throws -> Void] = [
            { _ = try await client.document(path) }, { _ = try await client.documents([path]) },
            { for try await _ in client.snapshots(of: path) {} }, { try await client.deleteDocument(path) },
            { try await client.setDocument(path, ["a": 2]) },
            { _ = try await client.transaction { try await $0.document(path) } },
            { _ = try await client.transaction { try await $0.delete(path) } },
            { _ = try await client.collections(under: path) }, { _ = try await client.deleteRecursively(path) },
            { _ = try await client.deleteRecursively(path.collection("x")) },
        ]
        for (index, attempt) in attempts.enumerated() {
            let error = await #expect(throws: StorageError.self, "attempt \(index)") { try await attempt() }
            #expect(error?.code == .invalidArgument, "attempt \(index)")
            #expect(error?.message.contains("users/x/../victim") == true, "attempt \(index)")
        }
        #expect(toy.data("users/victim") == ["a": 1] && toy.commits.isEmpty)
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

    @Test(arguments: [
        ("report.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("2026/sums.XLSX", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("talk.pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
        ("old.doc", "application/msword"), ("letter.odt", "application/vnd.oasis.opendocument.text"),
        ("photo.jpg", "image/jpeg"), ("archive.unknown", "application/octet-stream"),
        ("none", "application/octet-stream"),
    ])
    func `A file's path says what is in it`(path: String, type: String) throws {
        #expect(try FilePath(validating: path).contentType == type)
    }
}
