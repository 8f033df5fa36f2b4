import SwitchyardBytes
import SwitchyardServerKit

/// How ID tokens are protected against forgery.
enum LocalTokenSigner: Sendable {
    /// Not at all: tokens have no signature, like those of the vendor's emulator, which the vendor's programs require.
    case unsigned
    /// As in production, with a key whose public half is published.
    case signed(RSAPrivateKey)

    var publicKeys: [RSAPublicKey] {
        switch self {
        case .unsigned: []
        case .signed(let key): [key.publicKey]
        }
    }

    /// The header of a token.
    var header: JSONObject {
        switch self {
        case .unsigned: ["alg": "none", "typ": "JWT"]
        case .signed(let key): ["alg": "RS256", "kid": .string(key.publicKey.id), "typ": "JWT"]
        }
    }

    func signature(of text: String) -> String {
        switch self {
        case .unsigned: ""
        case .signed(let key): Base64.encode(key.signature(of: text), alphabet: .url)
        }
    }

    func accepts(_ signature: Substring, of text: Substring, _ header: JSONObject) -> Bool {
        switch self {
        case .unsigned: header["alg"]?.string == "none" && signature.isEmpty
        case .signed(let key):
            header["alg"]?.string == "RS256"
                && Base64.decode(signature, alphabet: .url).map { key.publicKey.verifies($0, of: text) } ?? false
        }
    }
}
