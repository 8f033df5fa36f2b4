import Foundation
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@testable import Switchyard

@Suite struct ConfigurationTests {
    static let environment = ["ACME_KEY": "s3cret", "REGION": "eu", "EMPTY": "", "WHO": "acme"]

    private func module(_ json: String, _ factory: InfrastructureFactory) throws -> AcmeModule {
        let configuration = try InfrastructureConfiguration(json: Data(json.utf8), environment: Self.environment)
        try factory.check(configuration)
        return try #require(try factory.module(configuration.selection.default, configuration) as? AcmeModule)
    }

    @Test func `A file sets a module up, with secrets and text out of the environment`() throws {
        let module = try module(
            """
            { "default": "acme", "providers": { "acme": {
                "project": "demo", "apiKey": "${ACME_KEY}", "server": "https://acme.example", "retries": 5,
                "limits": { "uploads": 2, "ratio": 0.5 }, "regions": ["${REGION}", "us"] } } }
            """, InfrastructureFactory(configurable: [AcmeModule.self]))
        #expect(module.configuration.apiKey.reveal() == "s3cret")
        #expect(module.configuration.apiKey.name == "ACME_KEY")
        #expect(module.configuration.server?.absoluteString == "https://acme.example")
        #expect(module.configuration.limits == .init(uploads: 2, ratio: 0.5))
        #expect(module.configuration.regions == ["eu", "us"])
    }

    @Test func `A file overrides single settings of a module that code has set up, and keeps its secret`() throws {
        let factory = InfrastructureFactory(AcmeModule(AcmeConfiguration(project: "code", apiKey: "from code")))
        let module = try module(#"{ "default": "acme", "providers": { "acme": { "retries": 9 } } }"#, factory)
        #expect(module.configuration.project == "code")
        #expect(module.configuration.retries == 9)
        #expect(module.configuration.apiKey.reveal() == "from code")
    }

    /// What is wrong with a file, and what the error says about it.
    static let mistakes: [(json: String, says: [String])] = [
        ("", ["not valid JSON at line 1, column 1"]),
        ("{\n  \"default\": \"acme\",\n}", ["line 3, column 1", "an unexpected character"]),
        ("[]", ["the top level", "an array", "an object"]),
        ("{}", ["“default”", "nothing"]),
        (#"{"default": 5}"#, ["“default”", "a whole number", "a string"]),
        (#"{"default": "acme", "client": {}}"#, ["“client”", "unknown key", "Did you mean “clients”?"]),
        (#"{"default": "acme", "clients": {"storrage": "acme"}}"#, ["“clients.storrage”", "Did you mean “storage”?"]),
        (#"{"default": "acme", "clients": {"auth": "none"}}"#, ["“clients.auth”", "only files and messaging"]),
        (#"{"default": "${NOPE}"}"#, ["“default”", "NOPE is not"]),
        (#"{"default": "acmee"}"#, ["“default”", "“acmee”", "one of acme", "Did you mean “acme”?"]),
        (#"{"default": "acme", "providers": {"acmé": {}}}"#, ["“providers.acmé”", "one of acme"]),
        (#"{"default": "acme", "providers": {"acme": 1}}"#, ["“providers.acme”", "a whole number", "an object"]),
        (#"{"default": "acme"}"#, ["“providers.acme.project”", "nothing", "required setting “project”"]),
        (
            #"{"default": "acme", "providers": {"acme": {"proj": "x", "apiKey": "k", "retries": 1}}}"#,
            ["“providers.acme.proj”", "an unknown key", "“project” is missing", "Did you mean “project”?"]
        ),
        (
            #"{"default": "acme", "providers": {"acme": {"colour": "red"}}}"#,
            ["“providers.acme.colour”", "an unknown key", "one of apiKey, ", "setting “project” is missing"]
        ),
        (
            #"{"default":"acme","providers":{"acme":{"project":"p","apiKey":"k","retries":1,"limits":{},"colour":1}}}"#,
            ["“providers.acme.colour”", "an unknown key", "setting “limits.uploads” is missing"]
        ),
        (
            #"{"default": "acme", "providers": {"acme": {"project": "${NOPE}", "colour": 1}}}"#,
            ["“providers.acme.project”", "NOPE is not"]
        ),
        (
            #"{"default": "acme", "providers": {"acme": {"project": 1, "apiKey": "k", "retries": 1}}}"#,
            ["“providers.acme.project”", "a whole number", "a string"]
        ),
        (
            #"{"default": "acme", "providers": {"acme": {"project": "p", "apiKey": "k", "retries": 1.5}}}"#,
            ["“providers.acme.retries”", "a number", "a whole number"]
        ),
        (
            #"{"default": "acme", "providers": {"acme": {"project": "p", "apiKey": "${NOPE}", "retries": 1}}}"#,
            ["“providers.acme.apiKey”", "“${NOPE}”", "NOPE is not"]
        ),
        (
            #"{"default": "acme", "providers": {"acme": {"project": "p", "apiKey": 7, "retries": 1}}}"#,
            ["“providers.acme.apiKey”", "a whole number", "${NAME}"]
        ),
        (
            #"{"default":"acme","providers":{"acme":{"project":"p","apiKey":"k","retries":1,"limits":{"uplods":1}}}}"#,
            ["providers.acme.limits", "“uploads”"]
        ),
        (
            #"{"default":"acme","providers":{"acme":{"project":"p","apiKey":"k","retries":1,"Server":"x"}}}"#,
            ["“providers.acme.Server”", "unknown key", "Did you mean “server”?"]
        ),
        (
            #"{"default":"acme","providers":{"acme":{"project":"p","apiKey":"k","retries":1,"regions":["a",2]}}}"#,
            ["“providers.acme.regions.1”", "a whole number", "a string"]
        ),
        (
            #"{"default":"acme","providers":{"acme":{"project":"p","apiKey":"k","retries":-1}}}"#,
            ["“retries” of acme cannot be negative"]
        ),
        (#"{"default":"acme","default":"acme"}"#, ["a key that occurs twice"]),
        (
            #"{"default": "acme", "clients": {"storage": "amce"}}"#,
            ["“clients.storage”", "“amce”", "Did you mean “acme”?"]
        ),
        (
            #"{"default": "globex"}"#,
            [
                "“default”", "found the unknown provider “globex”", "one of acme",
                "Add the module of “globex” to those that the factory is given.",
            ]
        ),
        (
            #"{"default": "acme", "clients": {"storage": "globex"}}"#,
            ["“clients.storage”", "the unknown provider “globex”", "Add the module of “globex”"]
        ),
        (
            #"{"default": "acme", "providers": {"acme": {"project": "p", "apiKey": "${EMPTY}", "retries": 1}}}"#,
            ["“providers.acme.apiKey”", "EMPTY is not"]
        ),
        (
            #"{"default":"acme","providers":{"acme":{"project":"p","apiKey":"k","retries":1,"server":"${NOPE}"}}}"#,
            ["“providers.acme.server”", "NOPE is not"]
        ),
        (
            #"{"default":"acme","providers":{"acme":{"project":"p","apiKey":"k","retries":1,"server":"acme"}}}"#,
            ["“providers.acme.server”", "an address"]
        ),
        (#"{"default": "acme", "retry": {"max": 3}}"#, ["“retry.max”", "Did you mean “maximumAttempts”?"]),
        (#"{"default": "acme", "retry": 3}"#, ["“retry”", "a whole number", "an object"]),
        (#"{"default": "acme", "retry": {"attempts": 3}}"#, ["“retry.attempts”", "unknown key", "maximumAttempts"]),
        (#"{"default": "acme", "retry": {"maximumAttempts": 0}}"#, ["“retry.maximumAttempts”", "1 to 100"]),
        (#"{"default": "acme", "retry": {"initialPause": -1}}"#, ["“retry.initialPause”", "0 to 3600 seconds"]),
        (#"{"default": "acme", "stateFolder": 1}"#, ["“stateFolder”", "a whole number", "a string"]),
        (#"{"default": "acme", "clients": []}"#, ["“clients”", "an array", "an object"]),
    ]

    @Test(arguments: mistakes)
    func `Every mistake is one error that says where, what was found and what was expected`(
        _ mistake: (json: String, says: [String])
    ) throws {
        let error = try #require(throws: InfrastructureError.self) {
            _ = try module(mistake.json, InfrastructureFactory(configurable: [AcmeModule.self]))
        }
        #expect(error.code == .invalidConfiguration || error.code == .unknownProvider)
        for words in mistake.says { #expect(error.message.contains(words), "\(error.message)") }
        #expect(!error.message.contains("s3cret"))
    }

    @Test func `A file that is not JSON is named, with the place`() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).json")
        try Data("{ \"default\" }".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let error = #expect(throws: InfrastructureError.self) {
            try InfrastructureConfiguration(contentsOf: file, environment: [:])
        }
        let start = "The configuration file “\(file.path)” is not valid JSON at line 1, column 13"
        #expect(error?.message.hasPrefix(start) == true, "\(error?.message ?? "")")
    }

    @Test func `A configuration of ten megabytes is refused before it is read`() {
        let error = #expect(throws: InfrastructureError.self) {
            try InfrastructureConfiguration(json: Data(repeating: UInt8(ascii: " "), count: 10 << 20), environment: [:])
        }
        #expect(error?.message.contains("1048576") == true)
    }

    @Test func `Variables alone are a configuration too`() throws {
        let configuration = try InfrastructureConfiguration(environment: [
            "SWITCHYARD_DEFAULT": "acme", "SWITCHYARD_CHECK_INS": "globex", "SWITCHYARD_MESSAGING": "none",
            "SWITCHYARD_ACME": #"{"project": "p", "apiKey": "${K}", "retries": 1}"#, "K": "v",
        ])
        #expect(configuration.selection.checkIns == "globex")
        #expect(configuration.selection.provider(for: .messaging) == nil)
        #expect(configuration.selection.provider(for: .users) == "acme")
        let factory = InfrastructureFactory(configurable: [AcmeModule.self])
        let module = try #require(try factory.module("acme", configuration) as? AcmeModule)
        #expect(module.configuration.apiKey.reveal() == "v")
    }

    @Test(
        arguments: [
            (["SWITCHYARD_DEFAULT": "amce"], ["“SWITCHYARD_DEFAULT”", "Did you mean “acme”?"]),
            (["SWITCHYARD_STORAGE": "amce"], ["“SWITCHYARD_STORAGE”", "Did you mean “acme”?"]),
            (["SWITCHYARD_CHECK_INS": "amce"], ["“SWITCHYARD_CHECK_INS”"]),
            (["SWITCHYARD_FILES": "NONE"], ["“SWITCHYARD_FILES”", "Did you mean “none”?"]),
            (["SWITCHYARD_ACME": "p"], ["“SWITCHYARD_ACME”", "not valid JSON at line 1, column 1", "a JSON object"]),
            (["SWITCHYARD_ACME": #"{"project":"p""#], ["“SWITCHYARD_ACME”", "not valid JSON at line 1, column 15"]),
            (["SWITCHYARD_RETRY": "3"], ["“SWITCHYARD_RETRY”", "found a whole number, expected an object"]),
            (["SWITCHYARD_ACME": #"{"project":"p","apiKey":7}"#], ["“SWITCHYARD_ACME.apiKey”", "a whole number"]),
            (["SWITCHYARD_RETRY": #"{"max":3}"#], ["“SWITCHYARD_RETRY.max”", "Did you mean “maximumAttempts”?"]),
            (["SWITCHYARD_STATE_FOLDER": ""], ["“SWITCHYARD_STATE_FOLDER”", "an empty text", "the path of a folder"]),
            (
                ["SWITCHYARD_FILES": "none", "SWITCHYARD_MESSAGING": "none"],
                ["“SWITCHYARD_DEFAULT”", "which has no client for storage", "at “SWITCHYARD_STORAGE”"]
            ),
        ] as [([String: String], [String])])
    func `A mistake in a variable is reported by the variable's name`(
        _ variables: [String: String], _ words: [String]
    ) async throws {
        let environment = [
            "SWITCHYARD_DEFAULT": "acme", "SWITCHYARD_ACME": #"{"project":"p","apiKey":"k","retries":1}"#,
            "SWITCHYARD_AUTH": "mock",
        ].merging(variables) { _, new in new }
        let factory = InfrastructureFactory(MockModule(), configurable: [AcmeModule.self])
        let error = await #expect(throws: InfrastructureError.self) {
            _ = try await factory.make(InfrastructureConfiguration(environment: environment))
        }
        for words in words { #expect(error?.message.contains(words) == true, "\(error?.message ?? "")") }
        for words in ["clients.", "providers.", "stateFolder"] { #expect(error?.message.contains(words) == false) }
    }

    @Test(arguments: ["", " "]) func `An empty state folder is refused, and does not mean the current one`(
        _ text: String
    ) {
        let json = #"{"default":"acme","stateFolder":"\#(text)"}"#
        let error = #expect(throws: InfrastructureError.self) {
            try InfrastructureConfiguration(json: Data(json.utf8), environment: [:])
        }
        #expect(
            error?.message
                == "Configuration, at “stateFolder”: found an empty text, expected the path of a folder, or nothing "
                + "at all to keep everything in memory.")
    }

    @Test func `A state folder that cannot be made is named, with the system's reason`() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let error = #expect(throws: InfrastructureError.self) {
            try ModuleContext(stateFolder: file).folder("documents")
        }
        #expect(error?.code == .localStore)
        #expect(error?.message.contains("“\(file.path)/documents” cannot be created: Not a directory.") == true)
        #expect(error?.message.contains("set another stateFolder") == true)
    }

    @Test func `A variable that is almost one of ours is pointed out`() {
        let error = #expect(throws: InfrastructureError.self) {
            try InfrastructureConfiguration(environment: ["SWITCHYARD_DEFAULT": "acme", "SWITCHYARD_STORGE": "acme"])
        }
        #expect(error?.message.contains("Did you mean “SWITCHYARD_STORAGE”?") == true)
    }

    @Test func `A misspelled name of the default is pointed out, and an empty one is none`() {
        let misspelled = #expect(throws: InfrastructureError.self) {
            try InfrastructureConfiguration(environment: ["SWITCHYARD_DEFALT": "acme", "SWITCHYARD_STORAGE": "acme"])
        }
        #expect(misspelled?.message.contains("at “SWITCHYARD_DEFALT”") == true)
        #expect(misspelled?.message.contains("Did you mean “SWITCHYARD_DEFAULT”?") == true)
        let empty = #expect(throws: InfrastructureError.self) {
            try InfrastructureConfiguration(environment: ["SWITCHYARD_DEFAULT": ""])
        }
        #expect(empty?.message.contains("found nothing, expected the name of a provider") == true)
    }

    @Test func `Files that are left out in the wrong place are sent to the right one`() {
        let error = #expect(throws: InfrastructureError.self) {
            try InfrastructureConfiguration(
                json: Data(#"{"default":"acme","providers":{"files":"none"}}"#.utf8), environment: [:])
        }
        #expect(error?.message.contains("stands under “clients”") == true)
    }

    @Test func `Variables of other programs that begin the same way are left alone`() throws {
        let configuration = try InfrastructureConfiguration(environment: [
            "SWITCHYARD_DEFAULT": "acme", "SWITCHYARD_GLOBEX_URL": "https://globex.example", "SWITCHYARD_STRICT": "1",
        ])
        #expect(configuration.selection.default == "acme")
        #expect(throws: InfrastructureError.self) {
            try InfrastructureConfiguration(environment: ["SWITCHYARD_DEFAULT": "acme", "SWITCHYARD_ACME": "{oops"])
        }
    }

    @Test func `A configuration is written back as it was, without the values of its secrets`() throws {
        let text = #"{"default":"acme","clients":{"files":"none"},"providers":{"acme":{"apiKey":"${ACME_KEY}"}}}"#
        let configuration = try InfrastructureConfiguration(json: Data(text.utf8), environment: Self.environment)
        let written = configuration.json()
        let again = try InfrastructureConfiguration(json: written, environment: Self.environment)
        #expect(again.selection == configuration.selection)
        #expect(String(decoding: written, as: UTF8.self).contains("${ACME_KEY}"))
        #expect(!String(decoding: written, as: UTF8.self).contains("s3cret"))
    }

    /// A configuration in which every part is there.
    static let complete = """
        { "default": "${WHO}", "clients": { "files": "none", "storage": "acme" },
          "providers": { "acme": { "project": "p", "apiKey": "${ACME_KEY}", "retries": 1, "regions": ["${REGION}"] } },
          "stateFolder": "/tmp/state", "retry": { "maximumAttempts": 7, "initialPause": 0.5, "maximumPause": 9 } }
        """

    @Test func `Any coder reads and writes it, settings and names of variables included`() throws {
        let configuration = try InfrastructureConfiguration(
            json: Data(Self.complete.utf8), environment: Self.environment)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let written = try encoder.encode(configuration)
        let text = String(decoding: written, as: UTF8.self)
        #expect(text.contains(#""default":"${WHO}""#) && text.contains("${ACME_KEY}") && text.contains("${REGION}"))
        #expect(!text.contains("s3cret"))

        let decoder = JSONDecoder()
        decoder.userInfo[Secret.environmentKey] = Self.environment
        let again = try decoder.decode(InfrastructureConfiguration.self, from: written)
        #expect(again == configuration)
        #expect(again.retry == RetryPolicy(maximumAttempts: 7, initialPause: .seconds(0.5), maximumPause: .seconds(9)))
        #expect(try again.settings(of: AcmeModule.self)?.apiKey.reveal() == "s3cret")
        #expect(try encoder.encode(again) == written)
        #expect(try InfrastructureConfiguration(json: again.json(), environment: Self.environment) == again)
    }

    @Test func `Inside of a larger document, a mistake is reported by its whole path`() throws {
        struct Settings: Decodable { let backend: InfrastructureConfiguration }
        let error = #expect(throws: InfrastructureError.self) {
            try JSONDecoder().decode(Settings.self, from: Data(#"{"backend": {"default": "a", "client": {}}}"#.utf8))
        }
        #expect(error?.message.contains("“backend.client”") == true)
        #expect(error?.message.contains("Did you mean “clients”?") == true)
    }

    @Test func `A value that a variable gave is written as that variable only while it is that value`() throws {
        var configuration = try InfrastructureConfiguration(
            json: Data(Self.complete.utf8), environment: Self.environment)
        configuration.selection.default = "globex"
        let text = String(decoding: configuration.json(), as: UTF8.self)
        #expect(text.contains("globex") && !text.contains("${WHO}"))
    }

    @Test func `A provider set up in code is written like one of a file, its secrets by name`() throws {
        var configuration = InfrastructureConfiguration(InfrastructureSelection(default: "acme"))
        #expect(try configuration.settings(of: AcmeModule.self) == nil)
        let settings = AcmeConfiguration(project: "p", apiKey: "s3cret")
        try configuration.setUp(AcmeModule.self, with: settings)
        #expect(configuration.environment == ["ACME_API_KEY": "s3cret"])
        #expect(try configuration.settings(of: AcmeModule.self) == settings)
        let text = String(decoding: configuration.json(), as: UTF8.self)
        #expect(text.contains("${ACME_API_KEY}") && !text.contains("s3cret"))
        let again = try InfrastructureConfiguration(json: configuration.json(), environment: configuration.environment)
        let module = try InfrastructureFactory(configurable: [AcmeModule.self]).module("acme", again)
        #expect((module as? AcmeModule)?.configuration == settings)
    }

    @Test func `No description of it holds settings or variables`() throws {
        let text = #"{"default":"acme","providers":{"acme":{"project":"p","apiKey":"pl4in","retries":1}}}"#
        let configuration = try InfrastructureConfiguration(json: Data(text.utf8), environment: Self.environment)
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped] {
            #expect(!text.contains("s3cret") && !text.contains("pl4in"), "\(text)")
        }
        #expect("\(configuration)" == "InfrastructureConfiguration(default: acme, settings of acme)")
    }

    @Test func `Settings of a provider that is not chosen are checked too`() async throws {
        let text = #"{"default":"mock","providers":{"acme":{"project":"p","apiKey":"k","retries":1,"colour":1}}}"#
        let configuration = try InfrastructureConfiguration(json: Data(text.utf8), environment: [:])
        let factory = InfrastructureFactory(MockModule(), configurable: [AcmeModule.self])
        let error = await #expect(throws: InfrastructureError.self) { _ = try await factory.make(configuration) }
        #expect(error?.message.contains("“providers.acme.colour”") == true)
    }

    @Test(
        arguments: [
            ([:], "“default”", "at “clients.storage”"),
            ([InfrastructureService.storage: "mock"], "“default”", "or “none” at “clients.files”"),
            ([.storage: "mock", .files: "acme"], "“clients.files”", "or “none”"),
            ([.storage: "mock", .files: "mock", .users: "acme"], "“clients.users”", "no client for storage"),
        ] as [([InfrastructureService: InfrastructureProvider], String, String)])
    func `A client that its provider lacks is reported by the place that asked for it, and nothing is left`(
        chosen: [InfrastructureService: InfrastructureProvider], place: String, says: String
    ) async throws {
        var selection = InfrastructureSelection(default: "acme")
        selection.auth = "mock"
        selection.omit(.messaging)
        for (service, provider) in chosen { selection[service] = provider }
        let factory = InfrastructureFactory(
            MockModule(), AcmeModule(AcmeConfiguration(project: "p", apiKey: "k")))
        let final = selection
        let error = await #expect(throws: InfrastructureError.self) { _ = try await factory.make(final) }
        #expect(error?.code == .unsupported)
        for words in [place, says, "“acme”"] { #expect(error?.message.contains(words) == true, "\(error!)") }
    }

    @Test func `A key of a megabyte is reported in a line`() throws {
        let text = #"{"default": "a", "\#(String(repeating: "k", count: 1_000_000))": 1}"#
        let error = #expect(throws: InfrastructureError.self) {
            try InfrastructureConfiguration(json: Data(text.utf8), environment: [:])
        }
        #expect((error?.message.count ?? .max) < 300)
    }

    @Test func `Random documents are read or refused, and those that are read come back the same`() throws {
        var generator = SeededGenerator(seed: 20)
        let words = [
            "default", "clients", "providers", "stateFolder", "retry", "acme", "storage", "none", "${WHO}", "",
        ]
        func json(_ depth: Int) -> String {
            switch Int.random(in: 0..<(depth > 3 ? 5 : 8), using: &generator) {
            case 0: return "null"
            case 1: return "true"
            case 2: return "\(Int.random(in: -9...9, using: &generator))"
            case 3, 4: return "\"\(words.randomElement(using: &generator)!)\""
            case 5:
                return
                    "[\((0..<Int.random(in: 0..<3, using: &generator)).map { _ in json(depth + 1) }.joined(separator: ","))]"
            default:
                var keys = words.shuffled(using: &generator)
                keys.removeLast(Int.random(in: 6...10, using: &generator))
                return "{\(keys.map { "\"\($0)\":\(json(depth + 1))" }.joined(separator: ","))}"
            }
        }
        var read = 0
        func object(_ keys: [String], _ value: () -> String) -> String {
            let chosen = keys.filter { _ in Bool.random(using: &generator) }
            return "{\(chosen.map { "\"\($0)\":\(value())" }.joined(separator: ","))}"
        }
        func name() -> String { "\"\(["acme", "none", "${WHO}", "${NO}"].randomElement(using: &generator)!)\"" }
        for round in 0..<2000 {
            let clients = object(["files", "messaging", "storage", "users"]) { name() }
            let providers = object(["acme", "globex"]) { object(["a", "b"]) { json(1) } }
            let text =
                round.isMultiple(of: 2)
                ? json(0) : #"{"default":\#(name()),"clients":\#(clients),"providers":\#(providers)}"#
            guard
                let configuration = try? InfrastructureConfiguration(
                    json: Data(text.utf8), environment: Self.environment)
            else { continue }
            read += 1
            #expect(
                try InfrastructureConfiguration(json: configuration.json(), environment: Self.environment)
                    == configuration, "\(text)")
        }
        #expect(read > 50)
    }

    @Test func `A secret shows itself in no description, dump or encoding`() throws {
        let secret = Secret("s3cret", name: "KEY")
        let holder = AcmeConfiguration(project: "p", apiKey: secret)
        var dumped = ""
        dump(holder, to: &dumped)
        let encoded = String(decoding: try JSONEncoder().encode(holder), as: UTF8.self)
        for text in ["\(secret)", "\(holder)", String(reflecting: holder), dumped, encoded] {
            #expect(!text.contains("s3cret"))
        }
        #expect(encoded.contains("${KEY}"))
    }

    @Test func `Two modules of one name are a mistake`() {
        let module = AcmeModule(AcmeConfiguration(project: "p", apiKey: "k"))
        let factory = InfrastructureFactory(module, module)
        let error = #expect(throws: InfrastructureError.self) {
            try factory.check(InfrastructureConfiguration(InfrastructureSelection(default: "acme")))
        }
        #expect(error?.message.contains("two modules “acme”") == true)
    }
}
