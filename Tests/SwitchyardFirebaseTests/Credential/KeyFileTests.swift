import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardTestSupport
import Testing

@testable import SwitchyardFirebase

/// Key files as they are found, and how a configuration names them.
@Suite struct KeyFileTests {
    private static func refusal(_ credential: FirebaseCredential) -> InfrastructureError? {
        #expect(throws: InfrastructureError.self) {
            try FirebaseModule(FirebaseConfiguration(project: "demo", credential: credential)).validate()
        }
    }

    @Test(arguments: [
        ("{", "it is not JSON"), ("{}", "it has no type. Use service_account"),
        (#"{"type":"impersonated"}"#, "its type, “impersonated”, is not supported"),
        (#"{"type":"service_account"}"#, "it lacks “private_key”"),
        (#"{"type":"service_account","private_key":"no","client_email":"e"}"#, "is not an RSA key in PKCS #8"),
        (#"{"type":"authorized_user","client_id":"i","client_secret":"s"}"#, "it lacks “refresh_token”"),
        (
            #"{"type":"external_account","audience":"a","subject_token_type":"t","token_url":"http://example.com","credential_source":{"file":"f"}}"#,
            "its “token_url” is not an https address"
        ),
        (
            #"{"type":"external_account","audience":"a","subject_token_type":"t","token_url":"https://example.com","credential_source":{"executable":{}}}"#,
            "has neither “file” nor “url”"
        ),
    ])
    func `What is wrong with a key file is said before any client is made`(_ text: String, _ words: String) {
        let error = Self.refusal(.keyFile(text: Secret(text)))
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains(words) == true, "\(error as Any)")
    }

    @Test func `A file that is not there is named`() {
        let error = Self.refusal(.keyFile("/nowhere/key.json"))
        #expect(error?.message.contains("“/nowhere/key.json”, cannot be read") == true)
    }

    @Test func `A configuration names a file, a text or the default`() throws {
        func read(_ value: JSON) throws -> FirebaseConfiguration {
            let file: JSON = ["project": "demo", "credential": value]
            return try JSONDecoder().decode(FirebaseConfiguration.self, from: Data(file.bytes()))
        }
        #expect(try read("applicationDefault").credential == .applicationDefault)
        #expect(try read("/etc/key.json").credential == .keyFile("/etc/key.json"))
        #expect(try read(#" {"type":"x"}"#).credential == .keyFile(text: #" {"type":"x"}"#))
        #expect(throws: DecodingError.self) { try read("  ") }
        // Without a credential the API key is asked for, as ever.
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(FirebaseConfiguration.self, from: Data(#"{"project":"demo"}"#.utf8))
        }
        let kept = try JSON(parsing: Array(try JSONEncoder().encode(try read("/etc/key.json"))))
        #expect(kept["credential"] == "/etc/key.json")
        let own = FirebaseConfiguration(
            project: "demo", credential: .tokens { _ in .init("t", expiresAt: .distantFuture) })
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(own) }
        #expect(own == own && own.credential != .tokens { _ in .init("t", expiresAt: .distantFuture) })
    }

    @Test func `Nothing of a key is printed`() {
        let configuration = FirebaseConfiguration(
            project: "demo", credential: .keyFile(text: #"{"private_key":"s3cr3t"}"#))
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!"\(configuration) \(String(reflecting: configuration)) \(dumped)".contains("s3cr3t"))
    }

    /// A key as it stands in variables: encoded, quoted, with a byte order mark, in pieces, or the private part alone.
    private static let misplaced: [String] = {
        let pem =
            "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----\n"
        let file = JSON.object(["type": "service_account", "private_key": .string(pem)]).text()
        return [
            Base64.encode(Array(file.utf8)), Base64.encode(Array(file.utf8), alphabet: .url), "\"" + file + "\"",
            "'" + file + "'", JSON.string(file).text(), pem, String(file.dropFirst()), "/" + file, "./" + file,
            "=" + Base64.encode(Array(file.utf8)), "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7.json",
        ]
    }()

    @Test(arguments: misplaced)
    func `A key that was put where a path belongs is refused without a word of it`(_ value: String) throws {
        func check(_ credential: FirebaseCredential, _ environment: [String: String] = [:]) throws {
            let configuration = FirebaseConfiguration(project: "demo", credential: credential)
            let error = #expect(throws: InfrastructureError.self) {
                try FirebaseModule(configuration, environment: environment) { ScriptedTransport() }.validate()
            }
            #expect(error?.message.contains("looks like a key instead of a path") == true, "\(error as Any)")
            var dumped = "\(error as Any) \(configuration) \(String(reflecting: configuration)) \(credential)"
            dump(error, to: &dumped)
            dump(configuration, to: &dumped)
            dumped += String(decoding: try JSONEncoder().encode(configuration), as: UTF8.self)
            for start in stride(from: 0, to: value.count - 12, by: 12) {
                let piece = String(value.dropFirst(start).prefix(12))
                #expect(!dumped.contains(piece), "“\(piece)” is in \(dumped)")
            }
        }
        let json =
            #"{ "default": "firebase", "providers": { "firebase": { "project": "demo", "credential": "${KEY}" } } }"#
        let file = try InfrastructureConfiguration(json: Data(json.utf8), environment: ["KEY": value])
        let settings = try #require(try file.settings(of: FirebaseModule.self)?.credential)
        try check(settings)
        try check(.keyFile(value))
        try check(.applicationDefault, ["GOOGLE_APPLICATION_CREDENTIALS": value])
    }

    @Test func `A path from a variable is not shown, but the variable is`() throws {
        let json =
            #"{ "default": "firebase", "providers": { "firebase": { "project": "demo", "credential": "${KEY}" } } }"#
        let file = try InfrastructureConfiguration(json: Data(json.utf8), environment: ["KEY": "/nowhere/k.json"])
        let credential = try #require(try file.settings(of: FirebaseModule.self)?.credential)
        let error = Self.refusal(credential)
        #expect(
            error?.message.contains("the file that the variable KEY names, cannot be read. Is the path right?") == true)
        #expect(!"\(error as Any) \(credential)".contains("nowhere"))
        let kept = String(decoding: try JSONEncoder().encode(credential), as: UTF8.self)
        #expect(kept == #""${KEY}""#, "it is written as it was read")
    }

    @Test func `A key file may begin with a byte order mark`() throws {
        let text = "\u{FEFF}" + #"{"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r"}"#
        let json: JSON = ["project": "demo", "credential": .string(text)]
        let configuration = try JSONDecoder().decode(FirebaseConfiguration.self, from: Data(json.bytes()))
        try FirebaseModule(configuration, environment: [:]) { ScriptedTransport() }.validate()
    }

    @Test(.enabled(if: OutsideTool.openssl.isInstalled, "openssl is not installed"))
    func `Both kinds of keys sign what openssl and the checker believe`() throws {
        for kind in [OpenSSLKey.Kind.rsa, .curve] {
            let key = try OpenSSLKey(kind)
            let signer = try #require(TokenSigner(pem: Secret(key.pem)))
            let token = try JSONWebToken(try #require(signer.token(["sub": "alice"], keyID: "k")))
            #expect(token.algorithm == (kind == .rsa ? "RS256" : "ES256"))
            if kind == .rsa {
                #expect(try key.verifies(token.signature, of: token.signed))
                #expect(try !key.verifies(token.signature, of: token.signed + [0]))
            } else {
                #expect(token.signature.count == 64)
                #expect(try key.verifies(Self.der(token.signature), of: token.signed))
            }
        }
        #expect(TokenSigner(pem: "no key") == nil)
        let cut = Secret(String(try OpenSSLKey(.rsa).pem.prefix(700)))
        #expect(TokenSigner(pem: cut) == nil)
    }

    private static func der(_ signature: [UInt8]) -> [UInt8] {
        func number(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            let digits = Array(bytes.drop { $0 == 0 })
            let signed = (digits.first ?? 0) >= 0x80 ? [0] + digits : digits
            return [0x02, UInt8(signed.count)] + signed
        }
        let numbers = number(signature[..<32]) + number(signature[32...])
        return [0x30, UInt8(numbers.count)] + numbers
    }
}
