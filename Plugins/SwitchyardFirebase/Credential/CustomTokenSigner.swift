import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP

/// Signs custom tokens in the name of a service account.
protocol CustomTokenSigner: Sendable {
    /// The account's address, which is written to the tokens.
    func account() async throws(AuthError) -> String

    func token(_ claims: JSONObject) async throws(AuthError) -> Secret
}

/// An emulator accepts unsigned tokens.
struct EmulatorSigner: CustomTokenSigner {
    func account() -> String { "firebase-auth-emulator@example.com" }

    func token(_ claims: JSONObject) -> Secret { Secret(UnsignedToken.text(claims, algorithm: "none") + ".") }
}

/// Signs with the key of a key file.
struct KeyFileSigner: CustomTokenSigner {
    let key: GoogleKeyFile.ServiceAccount

    func account() -> String { key.email }

    func token(_ claims: JSONObject) throws(AuthError) -> Secret {
        guard let token = key.signer.token(claims, keyID: key.keyID) else {
            throw AuthError(
                .internal,
                "The custom token could not be signed with the service account's key. Create a new key in the Google Cloud "
                    + "console: IAM & Admin, Service Accounts.")
        }
        return token
    }
}

/// The part of a token that is signed.
enum UnsignedToken {
    static func text(_ claims: JSONObject, algorithm: String) -> String {
        let header: JSONObject = ["alg": .string(algorithm), "typ": "JWT"]
        return [header, claims].map { Base64.encode(JSON.object($0).bytes(), alphabet: .url) }.joined(separator: ".")
    }
}

extension FirebaseContext {
    /// Signs custom tokens; `nil` if there is neither a key nor an account for which Google can sign.
    func customTokenSigner(_ tokens: ProjectTokens) -> (any CustomTokenSigner)? {
        if endpoints.identityToolkit.isEmulator { return EmulatorSigner() }
        if let key = tokens.account { return KeyFileSigner(key: key) }
        guard configuration.serviceAccount != nil || tokens.knowsAccount else { return nil }
        return GoogleSigner(self, tokens)
    }
}
