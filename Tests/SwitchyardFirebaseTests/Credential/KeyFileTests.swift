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
        ("{", "it is no JSON"), ("{}", "its type “none” is not supported"),
        (#"{"type":"impersonated"}"#, "its type “impersonated” is not supported"),
        (#"{"type":"service_account"}"#, "it lacks “private_key”"),
        (#"{"type":"service_account","private_key":"no","client_email":"e"}"#, "is no RSA key in PKCS #8"),
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
