import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire

/// Signs with a key stored at Google, for servers without a key file, such as machines at Google.
struct GoogleSigner: CustomTokenSigner {
    private let tokens: ProjectTokens
    /// The account that the configuration names.
    private let given: String?
    private let endpoint: FirebaseEndpoint
    private let project: String
    private let transport: any Transport
    private let module: ModuleContext

    private static let deadline = Duration.seconds(30)

    init(_ context: FirebaseContext, _ tokens: ProjectTokens) {
        self.tokens = tokens
        given = context.configuration.serviceAccount
        endpoint = context.endpoints.accountCredentials
        project = context.configuration.project
        transport = context.transport
        module = context.module
    }

    func account() async throws(AuthError) -> String {
        if let given { return given }
        return try await tokens.accountName()
    }

    func token(_ claims: JSONObject) async throws(AuthError) -> Secret {
        let account = try await account()
        let text = UnsignedToken.text(claims, algorithm: "RS256")
        let answer = try await sign(Array(text.utf8), as: account)
        guard let signature = answer["signedBlob"]?.string.flatMap({ Base64.decode($0) }), !signature.isEmpty else {
            throw AuthError(
                .unavailable, "\(Self.operation(account)) failed: Google's answer has no signature in it. Try again.",
                isRetryable: true)
        }
        return Secret("\(text).\(Base64.encode(signature, alphabet: .url))")
    }

    /// Signs, and repeats the call once with a new token if the first one is refused.
    private func sign(_ bytes: [UInt8], as account: String) async throws(AuthError) -> JSON {
        let body: JSON = ["payload": .string(Base64.encode(bytes))]
        var request = HTTPRequest(
            .post, "\(endpoint.address)/v1/projects/-/serviceAccounts/\(account):signBlob", body: body.bytes(),
            isIdempotent: true)
        request.redirects = .surface
        request.maximumBodySize = 1 << 20
        var refused: Secret?
        while true {
            let token = try await tokens.token(for: endpoint, replacing: refused)
            request.headers = ["Content-Type": "application/json"]
            for (name, value) in tokens.headers(with: token, for: project) { request.headers[name] = value }
            let response: HTTPResponse
            do throws(TransportError) {
                response = try await transport.send(request, within: Self.deadline, clock: module.clock)
            } catch {
                throw AuthError(error)
            }
            if response.isSuccess { return (try? JSON(parsing: response.body)) ?? .null }
            guard response.status == 401, refused == nil else { throw Self.failure(response, account, module.now()) }
            refused = token
        }
    }

    // MARK: Failures

    private static func operation(_ account: String) -> String { "Signing a custom token as “\(account)”" }

    private static func failure(_ response: HTTPResponse, _ account: String, _ now: Timestamp) -> AuthError {
        let details = (try? JSON(parsing: response.body))?["error"]?["details"]?.array ?? []
        let reason = details.compactMap { $0["reason"]?.string }.first
        let (code, text): (ErrorCode, String) =
            switch (response.status, reason) {
            case (_, "SERVICE_DISABLED"?):
                (
                    .failedPrecondition,
                    "the project's IAM Service Account Credentials API is switched off. Switch it on in the Google Cloud "
                        + "console: APIs & Services, Library."
                )
            case (401, _):
                (
                    .unauthenticated,
                    "Google does not accept the credential's token. Was its key deleted, or is this machine's clock off?"
                )
            case (403, _):
                (
                    .unauthorized,
                    "Firebase's credential may not sign in its name. Grant the credential's account the role Service "
                        + "Account Token Creator on this account, also where it is the account itself: Google Cloud console, "
                        + "IAM & Admin, Service Accounts, Permissions."
                )
            case (404, _):
                (
                    .failedPrecondition,
                    "there is no such account. Check serviceAccount in Firebase's configuration."
                )
            case (429, _): (.rateLimited, "there were too many requests. Try again later.")
            case (408, _), (500..., _): (.unavailable, "Google does not sign at the moment. Try again.")
            default:
                (
                    .internal,
                    "Google answered with status \(response.status). Check serviceAccount in Firebase's configuration."
                )
            }
        let wait = response.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: now.seconds) }
        return AuthError(code, "\(operation(account)) failed: \(text)", retryAfter: wait)
    }
}

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
