import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardMock
import SwitchyardServerKit
import SwitchyardSupabase
import SwitchyardTestSupport
import SwitchyardText
import Testing

@testable import SwitchyardCLI

/// Types for a backend's documents: what they are, that they compile, and that documents survive them.
@Suite struct TypesTests {
    /// A file that the tests of this target are compiled with.
    private func made(_ name: String) throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        return try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }

    // MARK: Tables

    private static let sql = """
        create type public.mood as enum ('happy', 'sad day', 'default');
        create table public.madetasks (
          id uuid primary key, list_id int8 not null, title text not null, done bool not null default false, due timestamptz,
          mood public.mood not null, moods text[], price numeric, rating float8, photo bytea, info jsonb, owner uuid not null,
          note text);
        grant all on public.madetasks to authenticated, service_role, anon;
        """

    private static func json(_ supabase: LocalSupabase, key: String) -> String {
        """
        {"default":"supabase","clients":{"files":"none","messaging":"none"},"providers":{"supabase":{"url":"\(supabase.server.url)",
         "key":"\(supabase.anonKey)"\(key),"usesDocumentTable":false,"realtime":{"mode":"off"},"tables":[
          {"collection":"lists/{list_id}/madeTasks","table":"madetasks","uuidColumns":["id","owner"],
           "fields":{"title":"title","done":"done","due":"due","mood":"mood","moods":"moods","price":"price","rating":"rating",
            "photo":"photo","info":"info","owner":"owner","remark":"note"}}]}}}
        """
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `A mapped table has its columns, what may be null, and its enumerations; its rows survive the type`()
        async throws
    {
        let server = try await PostgresServer()
        var options = LocalSupabaseOptions()
        options.database = server.place
        options.scripts = [Self.sql]
        let supabase = try await LocalSupabase(options)
        let folder = try ToolFolder(Self.json(supabase, key: #","serviceKey":"\#(supabase.serviceKey)""#))
        let run = try await folder.run("types", "--from", "supabase")
        #expect(try await run.status() == 0 && run.errors.isEmpty, "\(run.errors)")
        let file = try made("MadeTableTypes.swift")
        #expect(run.output == file)

        // Through the client, as an app has it.
        let backend = try await Infrastructure(
            contentsOf: URL(fileURLWithPath: folder.config), modules: [.supabase])
        let tasks = backend.storage.collection("lists/7/madeTasks", of: MadeTask.self)
        let task = MadeTask(
            done: true, due: try Timestamp(validatingSeconds: 1_777_628_460, nanoseconds: 123_456_000),
            info: ["a": [1, "x"]], mood: .sadDay, moods: ["x"], owner: UUID(), photo: Data([1, 2]),
            price: Decimal(string: "12345678901234567890.25"), rating: 0.1, remark: nil, title: "Milk")
        let id = UUID()
        try await tasks.document(id.uuidString).set(task)
        try await backend.storage.waitForPendingWrites(within: .seconds(10))
        let read = try #require(try await tasks.document(id.uuidString).get(from: .server))
        var expected = task
        expected.id = id
        #expect(read == expected)
        await backend.shutDown()

        let bare = try ToolFolder(Self.json(supabase, key: ""))
        let described = try await bare.run("types", "--from", "supabase", "lists/{list_id}/madeTasks")
        #expect(try await described.status() == 2 || described.output.contains("struct MadeTask"))
        let unknown = try await folder.run("types", "--from", "supabase", "lists")
        #expect(try await unknown.status() == 2 && unknown.errors.contains("there is no mapped collection “lists”"))
        await supabase.stop()
        server.stop()
    }

    @Test func `Without a description, the mapping alone gives the types, and that is said`() {
        var mapping = SupabaseTableMapping(collection: "todos", table: "todos", columns: ["title", "due", "count"])
        mapping.columnTypes = ["due": .timestamptz, "count": .int8, "id": .int8]
        let result = TableTypes.types(of: [mapping], [:])
        #expect(result.remarks.count == 1 && result.remarks[0].contains("not described to this key"))
        #expect(result.types[0].id == "Int" && result.types[0].name == "Todo")
        #expect(result.types[0].members.allSatisfy { $0.isOptional })
        #expect(result.types[0].members.map(\.type) == [.named("Int"), .named("Timestamp"), .named("String")])
    }

    // MARK: Samples

    private static let samples = [
        #"{"age":36,"class":true,"first name":"A","home":{"city":"Ulm","geo":{"geoPoint":{"latitude":48.4,"longitude":10}}},"tags":["a"]}"#,
        #"{"age":3.5,"class":false,"first name":"B","home":{"city":"Bern"},"tags":[],"born":{"timestamp":"1990-01-02T03:04:05.678Z"}}"#,
        #"{"age":1,"class":true,"first name":"C","home":{"city":"Ulm"},"tags":["b"],"photo":{"bytes":"AQI="},"mixed":1,"list":[{"a":1},{"a":2}]}"#,
        #"{"age":2.5,"class":true,"first name":"D","home":{"city":"X"},"tags":["c"],"friend":{"reference":"madePersons/a"},"mixed":"x","v":{"vector":[1,2]},"holes":[1,null]}"#,
    ]

    @Test func `Sampled documents have a type with their fields, and survive it`() async throws {
        let firebase = try LocalFirebase()
        let folder = try ToolFolder(
            """
            {"default":"firebase","clients":{"files":"none","messaging":"none"},"providers":{"firebase":{"project":"demo-switchyard",
             "apiKey":"any","emulators":{"auth":"\(firebase.host)","firestore":"\(firebase.host)"}}}}
            """)
        let state = ["--state", folder.path("state")]
        #expect(try await folder.start(["sign-in", "--anonymous"] + state).status() == 0)
        for (index, json) in Self.samples.enumerated() {
            #expect(try await folder.start(["set", "madePersons/\(index)", json] + state).status() == 0)
        }
        let run = try folder.start(["types", "--from", "firebase", "madePersons"] + state)
        #expect(try await run.status() == 0, "\(run.errors)")
        let file = try made("MadeSampledTypes.swift")
        #expect(run.output == file)

        for json in Self.samples {
            let fields = try DocumentJSON.value(JSON(parsing: json))
            let data = try #require(fields.mapValue)
            let snapshot = DocumentSnapshot.existing("madePersons/x", data)
            let person = try #require(try DocumentCoder().decode(MadePerson.self, from: snapshot))
            // Whole numbers among doubles come back as doubles.
            var expected = data
            expected["age"] = .double(data["age"]?.doubleValue ?? 0)
            let written = try DocumentCoder().encode(person)
            #expect(written == WriteFields(expected))
        }
        let empty = try folder.start(["types", "--from", "firebase", "nothing"] + state)
        #expect(try await empty.status() == 1 && empty.errors.contains("no documents to sample"))
        await firebase.stop()
    }

    // MARK: Compiling

    private static let compiler =
        ["/usr/bin/swiftc", "/usr/local/bin/swiftc"].first(
            where: FileManager.default.isExecutableFile)
        ?? ProcessInfo.processInfo.environment["PATH"]?
        .split(separator: ":").map { "\($0)/swiftc" }.first(where: FileManager.default.isExecutableFile)

    /// Random documents with names that are hard to write in Swift.
    private func hostile(_ generator: inout SeededGenerator, depth: Int = 0) -> DocumentData {
        let names = [
            "a", "id", "init", "self", "Type", "first name", "5th", "größe", "a-b", "a_b", "a b", "", "\"", "\\", "\n",
            "default",
            "String", "CodingKeys", "Int", "hashValue", "description", "user", "User", "Timestamp", "DocumentValue",
            "_", "$x", "Self",
        ].filter { !$0.isEmpty }
        var data = DocumentData()
        for _ in 0..<generator.int(1..<6) {
            data[generator.pick(names)] = value(&generator, depth)
        }
        return data
    }

    private func value(_ generator: inout SeededGenerator, _ depth: Int) -> DocumentValue {
        switch generator.int(0..<(depth > 2 ? 9 : 11)) {
        case 0: .null
        case 1: .bool(true)
        case 2: .integer(5)
        case 3: .double(0.5)
        case 4: .string("x")
        case 5: .timestamp(Timestamp(microseconds: 5))
        case 6: .bytes(Data([1]))
        case 7: .reference(DocumentReference("a/b"))
        case 8: .vector([1])
        case 9: .array((0..<generator.int(0..<3)).map { _ in value(&generator, 9) })
        default: .map(hostile(&generator, depth: depth + 1))
        }
    }

    @Test(.enabled(if: compiler != nil, "there is no compiler")) func `Whatever fields are called, the types compile`()
        async throws
    {
        var generator = SeededGenerator(seed: 5)
        let folder = try ToolFolder()
        var files: [String] = []
        for number in 0..<RunSize.full(40, part: 8) {
            let documents = (0..<generator.int(1..<5)).map { _ in hostile(&generator) }
            var type = SampledTypes.type(of: "things", documents)
            type.name += "\(number)"
            let path = folder.path("Thing\(number).swift")
            try Data(SwiftWriter(isPublic: number % 2 == 0, source: "types").file([type]).utf8)
                .write(to: URL(fileURLWithPath: path))
            files.append(path)
        }
        let mapped = SwiftStruct(
            name: "Mapped", summary: "", id: "UUID",
            members: [
                .init(
                    field: "mood",
                    type: .enumeration("Mood", ["happy", "sad day", "default", "", "5", "a b", "a-b", "\""]),
                    isOptional: true),
                .init(field: "Mood", type: .enumeration("Mood", ["x"]), isOptional: false),
                .init(field: "price", type: .named("Decimal"), isOptional: true),
            ])
        let path = folder.path("Mapped.swift")
        try Data(SwiftWriter(isPublic: true, source: "types").file([mapped]).utf8).write(to: URL(fileURLWithPath: path))
        let (status, words) = try Self.typecheck(files + [path])
        #expect(status == 0, "\(words.prefix(4000))")
    }

    /// As `.ci/snippets` does: against the modules that the build has made.
    private static func typecheck(_ files: [String]) throws -> (Int32, String) {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let build = URL(fileURLWithPath: tests).deletingLastPathComponent()
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
            .standardized
        var flags = [
            "-typecheck", "-swift-version", "6", "-parse-as-library", "-I",
            build.appendingPathComponent("Modules").path,
        ]
        let sources = root.appendingPathComponent("Sources")
        for name in try FileManager.default.contentsOfDirectory(atPath: sources.path)
        where name.hasPrefix("CSwitchyard") {
            flags += ["-Xcc", "-I\(sources.appendingPathComponent("\(name)/include").path)"]
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: build.path) where name.hasSuffix(".build") {
            let map = build.appendingPathComponent("\(name)/module.modulemap").path
            if FileManager.default.fileExists(atPath: map) { flags += ["-Xcc", "-fmodule-map-file=\(map)"] }
        }
        let compiled = try TestProgram.run([compiler ?? ""] + flags + files)
        return (compiled.status, compiled.errors)
    }

    @Test func `Names are made as Swift has them`() {
        let singulars = [
            "users": "user", "checkIns": "checkIn", "boxes": "box", "cities": "city", "status": "status",
            "class": "class", "news": "news", "matches": "match",
        ]
        for (many, one) in singulars { #expect(SwiftName.singular(many) == one) }
        #expect(
            SwiftName.type("check_ins") == "CheckIns" && SwiftName.type("5th") == "_5th"
                && SwiftName.type("ß") == "Value")
        #expect(
            SwiftName.property("first name") == "firstName" && SwiftName.property("5") == "_5"
                && SwiftName.property("\"") == "field")
        #expect(SwiftName.distinct(["a", "a", "b", "a"]) == ["a", "a2", "b", "a3"])
    }
}
