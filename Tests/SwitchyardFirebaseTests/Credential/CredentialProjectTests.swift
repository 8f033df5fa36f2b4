import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// Of which project a credential is, where the settings name one and where they name none.
@Suite struct CredentialProjectTests {
    private static let tokens = FirebaseCredential.tokens { _ in .init("t", expiresAt: .distantFuture) }
    /// A key file that names no project.
    private static let person = JSON.object([
        "type": "authorized_user", "client_id": "i", "client_secret": "s3cr3t", "refresh_token": "r",
    ]).text()

    private static func module(
        _ configuration: FirebaseConfiguration, _ environment: [String: String] = [:]
    ) -> FirebaseModule {
        FirebaseModule(configuration, environment: environment) { ScriptedTransport() }
    }

    private static func project(
        _ configuration: FirebaseConfiguration, _ environment: [String: String] = [:]
    ) throws -> String {
        let context = try module(configuration, environment).clientContext(ModuleContext())
        #expect(context.tokens.project == context.configuration.project)
        return context.configuration.project
    }

    private static func refusal(
        _ configuration: FirebaseConfiguration, _ environment: [String: String] = [:]
    ) -> InfrastructureError? {
        #expect(throws: InfrastructureError.self) { try module(configuration, environment).validate() }
    }

    @Test(arguments: [
        (["GOOGLE_CLOUD_PROJECT": "new", "GCLOUD_PROJECT": "old"], "new"),
        (["GOOGLE_CLOUD_PROJECT": "", "GCLOUD_PROJECT": "old"], "old"),
    ])
    func `A credential that names no project takes it from the environment`(
        _ environment: [String: String], _ name: String
    ) throws {
        for credential in [Self.tokens, .keyFile(text: Secret(Self.person))] {
            #expect(try Self.project(FirebaseConfiguration(credential: credential), environment) == name)
        }
        let named = FirebaseConfiguration(project: "demo", credential: Self.tokens)
        #expect(try Self.project(named, environment) == "demo", "what is set counts")
    }

    @Test func `Without any project the error says where to set it`() {
        let error = Self.refusal(FirebaseConfiguration(credential: Self.tokens))
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("Set project in Firebase's configuration") == true)
        // The environment's is for servers; an app says whose it is.
        let app = Self.refusal(FirebaseConfiguration(project: "", apiKey: "k"), ["GOOGLE_CLOUD_PROJECT": "demo"])
        #expect(app?.code == .invalidConfiguration)
    }

    @Test func `What the environment names must be an ID as well`() {
        let error = Self.refusal(FirebaseConfiguration(credential: Self.tokens), ["GCLOUD_PROJECT": "a/b"])
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("must be an ID, not “a/b”") == true)
    }

    @Test(.enabled(if: OutsideTool.openssl.isInstalled, "openssl is not installed"))
    func `A key file names its project, and the environment does not count then`() throws {
        let text = CredentialBed.serviceAccount(try OpenSSLKey(.rsa).pem).text()
        let configuration = FirebaseConfiguration(credential: .keyFile(text: Secret(text)))
        #expect(try Self.project(configuration, ["GOOGLE_CLOUD_PROJECT": "other"]) == "demo")
        // It may have been given a role in another one.
        let elsewhere = FirebaseConfiguration(project: "mine", credential: .keyFile(text: Secret(text)))
        #expect(try Self.project(elsewhere) == "mine")
        // The same from a file of settings, which names nothing but a variable.
        let json = #"{ "default": "firebase", "providers": { "firebase": { "credential": "${SERVICE_ACCOUNT}" } } }"#
        let file = try InfrastructureConfiguration(json: Data(json.utf8), environment: ["SERVICE_ACCOUNT": text])
        let settings = try #require(try file.settings(of: FirebaseModule.self))
        #expect(try Self.project(settings) == "demo")
    }

    @Test func `A file of settings takes the credential from a variable, and never shows it`() throws {
        func read(_ value: String) throws -> FirebaseConfiguration? {
            let json = """
                { "default": "firebase", "providers": { "firebase": {
                    "project": "demo", "credential": "${FIREBASE_SERVICE_ACCOUNT}" } } }
                """
            let configuration = try InfrastructureConfiguration(
                json: Data(json.utf8), environment: ["FIREBASE_SERVICE_ACCOUNT": value])
            let shown = "\(configuration) \(String(decoding: configuration.json(), as: UTF8.self))"
            #expect(!shown.contains("s3cr3t") && shown.contains("${FIREBASE_SERVICE_ACCOUNT}"))
            return try configuration.settings(of: FirebaseModule.self)
        }
        let text = try #require(try read(Self.person))
        #expect(text.credential == .keyFile(text: Secret(Self.person)) && text.project == "demo")
        #expect(text.apiKey.isEmpty)
        try Self.module(text).validate()
        #expect(try read("/etc/key.json")?.credential == .keyFile("/etc/key.json"))
        #expect(try read("applicationDefault")?.credential == .applicationDefault)
        let unset = #expect(throws: InfrastructureError.self) { try read("") }
        #expect(unset?.message.contains("FIREBASE_SERVICE_ACCOUNT") == true)
    }

    @Test func `Settings name the project or a credential, and keep what they name`() throws {
        let alone = try JSONDecoder().decode(
            FirebaseConfiguration.self, from: Data(#"{"credential":"/etc/key.json"}"#.utf8))
        #expect(alone == FirebaseConfiguration(credential: .keyFile("/etc/key.json")))
        #expect(try JSON(parsing: Array(try JSONEncoder().encode(alone)))["project"] == nil)
        for text in [#"{"apiKey":"k"}"#, #"{"apiKey":"k","credential":null}"#] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(FirebaseConfiguration.self, from: Data(text.utf8))
            }
        }
    }
}
