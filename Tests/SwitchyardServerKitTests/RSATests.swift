import Foundation
import SwitchyardBytes
import Testing

@testable import SwitchyardServerKit

@Suite struct `Signatures with RSA` {
    /// Made by OpenSSL, of the text "header.claims".
    private static let modulus =
        "1NmC8SI9nJbpRGj4EiLWw4Sf-Wq7Z0aQpzHhgrQbipF1QEUUgOthAHjnkGrjbIZKan5fDUuws1sYV0DOdRBvAK2dBPwPlFqJemxW"
        + "d4vw7bBl_UGSbEDP39VaXjyewhjy9l57KFY12MBH5IdGTaHZcKisw0unb9E7ZSYcuA4Y4auh-D_0_Y9wc1sZ0lu2QNtcDvxk0oi8"
        + "PvaU9Ldvjw4YZFovY9Q6QLojmcUZNCRMILHwTX7s9RgDtvl89cklPvNw60e8o890G8F5J_A3XGy0OC39w0HhIMQ21Rq9EVjrvUTw"
        + "g8IplM8JrhQ-80u6lnikaRQzkePXInvtOx-WsdCfjQ"
    private static let signature =
        "i7RC1xFKeECPBaeh49pfmBDT6wtSKdlyKcfCR75bKVFAqVRBgbd2Rqlcnhlngu7z2hxrxGoS6ocjaI9gCJzZo_faV3mwMaEFCWLt"
        + "4PC2cO8Ir-yD3cOuXe9LbkmtVaHqKOoW5SNYZBf4UXQsDeO-hUiXsX1kHqb2YsgOfm-4HF2IbEBBgwNsGkEpxoIcqRJx8xgEAb5t"
        + "hg4sbkxWt50Cu_qXLvUJN-0rUfM42YHtxBRpE5oWHiSA1Qu_EzBO-2FKWLY9yNzCrlJ3mPL1sFpV-aS-Ilev6sFHNsFuEcKsPUJ4"
        + "_K0skJaN43t_KnS9LIu7mkMN81dSuk5A1adXjm7h-w"

    private static let foreign: JSON = ["kty": "RSA", "kid": "k1", "n": .string(modulus), "e": "AQAB"]

    @Test func `A signature of another program is believed, and of no other text`() throws {
        let key = try #require(RSAPublicKey(Self.foreign))
        let signature = try #require(Base64.decode(Self.signature, alphabet: .url))
        #expect(key.id == "k1")
        #expect(key.verifies(signature, of: "header.claims"))
        #expect(!key.verifies(signature, of: "header.claimz"))
        #expect(!key.verifies(Array(signature.dropLast()), of: "header.claims"))
        #expect(!key.verifies([UInt8](repeating: 0xff, count: signature.count), of: "header.claims"))
        #expect(!key.verifies([], of: "header.claims"))
    }

    @Test func `A new key signs what its public half believes, also when it was saved and read again`() throws {
        let key = try #require(RSAPrivateKey())
        let signature = key.signature(of: "a.b")
        #expect(signature.count == 256)
        let published = try #require(RSAPublicKey(key.publicKey.json))
        #expect(published == key.publicKey)
        #expect(published.verifies(signature, of: "a.b") && !published.verifies(signature, of: "a.c"))
        let kept = try JSONDecoder().decode(RSAPrivateKey.self, from: JSONEncoder().encode(key))
        #expect(kept.publicKey == key.publicKey && kept.signature(of: "a.b") == signature)
        var other = signature
        other[100] ^= 1
        #expect(!published.verifies(other, of: "a.b"))
    }

    @Test func `Keys that protect nothing are none`() {
        let short = String(Self.modulus.prefix(170))
        let even = String(Self.modulus.dropLast(2)) + "AA"
        for entry: JSON in [
            ["kty": "EC", "kid": "k", "n": .string(Self.modulus), "e": "AQAB"],
            ["kty": "RSA", "kid": "k", "n": .string(short), "e": "AQAB"],
            ["kty": "RSA", "kid": "k", "n": .string(even), "e": "AQAB"],
            ["kty": "RSA", "n": .string(Self.modulus), "e": "AQAB"],
            ["kty": "RSA", "kid": "k", "n": .string(Self.modulus), "e": ""],
        ] {
            #expect(RSAPublicKey(entry) == nil)
        }
    }
}
