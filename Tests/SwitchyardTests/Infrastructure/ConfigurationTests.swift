import Foundation
import Testing

@testable import Switchyard

/// A provider with settings of every kind, and no client.
struct AcmeModule: InfrastructureModule {
    static let provider: InfrastructureProvider = "acme"
    let configuration: AcmeConfiguration
    init(_ configuration: AcmeConfiguration) { self.configuration = configuration }

    func validate() throws(InfrastructureError) {
        if configuration.retries < 0 {
            throw InfrastructureError(.invalidConfiguration, "“retries” of acme cannot be negative.")
        }
    }
}

struct AcmeConfiguration: Codable, Sendable, Equatable {
    struct Limits: Codable, Sendable, Equatable {
        var uploads: Int
        var ratio: Double?
    }

    var project: String
    var apiKey: Secret
    var server: URL?
    var retries: Int
    var limits: Limits?
    var regions: [String]?

    init(project: String, apiKey: Secret, retries: Int = 3) {
        self.project = project
        self.apiKey = apiKey
        self.retries = retries
    }
}

@Suite struct ConfigurationTests {
    static let environment = ["ACME_KEY": "s3cret", "REGION": "eu"]

    private func module(_ json: String, _ factory: InfrastructureFactory) throws -> AcmeModule {
        let configuration = try InfrastructureConfiguration(json: Data(json.utf8), environment: Self.environment)
        try factory.checkSettings(configuration)
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
        ("", ["no JSON", "byte 0"]),
        ("[]", ["the top level", "an array", "an object"]),
        ("{}", ["“default”", "nothing"]),
        (#"{"default": 5}"#, ["“default”", "a whole number", "a string"]),
        (#"{"default": "acme", "client": {}}"#, ["“client”", "unknown key", "Did you mean “clients”?"]),
        (#"{"default": "acme", "clients": {"storrage": "acme"}}"#, ["“clients.storrage”", "Did you mean “storage”?"]),
        (#"{"default": "acme", "clients": {"auth": "none"}}"#, ["“clients.auth”", "only files and messaging"]),
        (#"{"default": "${NOPE}"}"#, ["“default”", "NOPE is not"]),
        (#"{"default": "acmee"}"#, ["no module “acmee”", "acme", "Did you mean “acme”?"]),
        (#"{"default": "acme", "providers": {"acmé": {}}}"#, ["“providers.acmé”", "one of acme"]),
        (#"{"default": "acme", "providers": {"acme": 1}}"#, ["“providers.acme”", "a whole number", "an object"]),
        (#"{"default": "acme"}"#, ["“providers.acme.project”", "nothing", "required setting “project”"]),
        (
            #"{"default": "acme", "providers": {"acme": {"proj": "x", "apiKey": "k", "retries": 1}}}"#,
            ["providers.acme", "“project”"]
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
            ["“providers.acme.apiKey”", "NOPE is not set"]
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

    @Test func `A variable that is almost one of ours is pointed out`() {
        let error = #expect(throws: InfrastructureError.self) {
            try InfrastructureConfiguration(environment: ["SWITCHYARD_DEFAULT": "acme", "SWITCHYARD_STORGE": "acme"])
        }
        #expect(error?.message.contains("Did you mean “SWITCHYARD_STORAGE”?") == true)
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
            _ = try factory.module("acme", InfrastructureConfiguration(InfrastructureSelection(default: "acme")))
        }
        #expect(error?.message.contains("two modules “acme”") == true)
    }
}
