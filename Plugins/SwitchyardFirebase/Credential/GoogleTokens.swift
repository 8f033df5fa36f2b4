import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire

/// Fetches tokens for Google's services with a key file or from the machine.
struct GoogleTokens: Sendable {
    enum Source: Sendable {
        case keyFile(GoogleKeyFile)
        /// The metadata server of a machine at Google.
        case machine(host: String)
        case closure(@Sendable (_ isRefused: Bool) async throws -> FirebaseCredential.Token)

        /// The project that it belongs to, if a file names it.
        var project: String? { if case .keyFile(let file) = self { file.project } else { nil } }

        /// Whether it belongs to a service account whose address can be determined.
        var hasAccount: Bool {
            switch self {
            case .machine, .keyFile(.serviceAccount): true
            case .keyFile(.workload(let workload)): workload.account != nil
            case .keyFile(.user), .closure: false
            }
        }
    }

    let source: Source
    let transport: any Transport
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp

    private static let deadline = Duration.seconds(30)
    private static let scopes = [
        "https://www.googleapis.com/auth/cloud-platform", "https://www.googleapis.com/auth/firebase.messaging",
        "https://www.googleapis.com/auth/identitytoolkit", "https://www.googleapis.com/auth/userinfo.email",
    ].joined(separator: " ")

    func fetch(isRefused: Bool) async throws(AuthError) -> FirebaseCredential.Token {
        switch source {
        case .closure(let source):
            do { return try await source(isRefused) } catch {
                throw AuthError(
                    .unavailable, "The function that supplies the project's tokens failed.", underlying: error)
            }
        case .machine(let host): return try await machineToken(host)
        case .keyFile(.serviceAccount(let account)):
            return try await token(
                form: [
                    ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                    ("assertion", try assertion(of: account).reveal()),
                ], from: account.tokenAddress)
        case .keyFile(.user(let clientID, let clientSecret, let refreshToken)):
            return try await token(
                form: [
                    ("grant_type", "refresh_token"), ("client_id", clientID), ("client_secret", clientSecret.reveal()),
                    ("refresh_token", refreshToken.reveal()),
                ], from: GoogleKeyFile.usualTokenAddress)
        case .keyFile(.workload(let workload)): return try await token(of: workload)
        }
    }

    // MARK: Sources

    private func assertion(of account: GoogleKeyFile.ServiceAccount) throws(AuthError) -> Secret {
        let start = now().seconds
        let claims: JSONObject = [
            "iss": .string(account.email), "scope": .string(Self.scopes), "aud": .string(account.tokenAddress),
            "iat": .integer(start), "exp": .integer(start + 3600),
        ]
        guard let token = account.signer.token(claims, keyID: account.keyID) else {
            throw AuthError(.internal, "The service account's key could not sign.")
        }
        return token
    }

    private func machineToken(_ host: String) async throws(AuthError) -> FirebaseCredential.Token {
        let query = FormCoding.encode([
            (name: "scopes", value: Self.scopes.split(separator: " ").joined(separator: ","))
        ])
        var request = HTTPRequest(
            .get, "http://\(host)/computeMetadata/v1/instance/service-accounts/default/token?\(query)",
            isIdempotent: true)
        request.headers["Metadata-Flavor"] = "Google"
        do throws(AuthError) {
            return try self.token(in: try await send(request))
        } catch {
            guard error.code == .unavailable else { throw error }
            throw error.saying(
                "\(error.message) Outside of Google's machines set GOOGLE_APPLICATION_CREDENTIALS to the path of a key file, "
                    + "or run gcloud auth application-default login.")
        }
    }

    private func token(of workload: GoogleKeyFile.Workload) async throws(AuthError) -> FirebaseCredential.Token {
        let subject = try await subjectToken(of: workload)
        let token = try await token(
            form: [
                ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"), ("audience", workload.audience),
                ("scope", Self.scopes), ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
                ("subject_token", subject.reveal()), ("subject_token_type", workload.tokenType),
            ], from: workload.tokenAddress)
        guard let address = workload.impersonationAddress else { return token }
        let scopes = Self.scopes.split(separator: " ").map { JSON.string(String($0)) }
        var request = HTTPRequest(
            .post, address, body: JSON.object(["scope": .array(scopes), "lifetime": "3600s"]).bytes())
        request.headers["Content-Type"] = "application/json"
        request.headers["Authorization"] = "Bearer \(token.value.reveal())"
        let answer = try await send(request)
        guard let value = answer["accessToken"]?.string, let end = answer["expireTime"]?.string,
            let moment = RFC3339.parse(end)
        else { throw Self.unreadable }
        return FirebaseCredential.Token(
            Secret(value), expiresAt: Date(timeIntervalSince1970: Double(moment.seconds)))
    }

    private func subjectToken(of workload: GoogleKeyFile.Workload) async throws(AuthError) -> Secret {
        let bytes: [UInt8]
        switch workload.source {
        case .file(let path):
            // The issuer replaces the file now and then.
            guard let data = FileManager.default.contents(atPath: path) else {
                throw AuthError(
                    .unavailable, "The token of this machine's identity, \(KeyFilePath(path).shown), cannot be read.",
                    isRetryable: true)
            }
            bytes = Array(data)
        case .address(let address, let headers):
            var request = HTTPRequest(.get, address, isIdempotent: true)
            for (name, value) in headers { request.headers[name] = value }
            bytes = try await body(request)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let member = workload.member else { return Secret(text.trimmed) }
        guard let token = (try? JSON(parsing: bytes))?[member]?.string else {
            throw AuthError(.unauthenticated, "The token of this machine's identity lacks \(Secret.shown(member)).")
        }
        return Secret(token)
    }

    // MARK: Service account

    /// The address of the service account.
    func accountName() async throws(AuthError) -> String {
        switch source {
        case .keyFile(.serviceAccount(let account)): return account.email
        case .keyFile(.workload(let workload)): if let account = workload.account { return account }
        case .machine(let host): return try await machineAccount(host)
        case .keyFile(.user), .closure: break
        }
        throw AuthError(
            .failedPrecondition,
            "Firebase's credential does not say in whose name it may sign. Set serviceAccount in Firebase's configuration to the "
                + "address of a service account.")
    }

    private func machineAccount(_ host: String) async throws(AuthError) -> String {
        var request = HTTPRequest(
            .get, "http://\(host)/computeMetadata/v1/instance/service-accounts/default/email", isIdempotent: true)
        request.headers["Metadata-Flavor"] = "Google"
        let text: String
        do throws(AuthError) {
            text = String(decoding: try await body(request), as: UTF8.self)
        } catch {
            // The server exists, but has no service account.
            guard error.code == .unauthenticated else { throw error }
            throw Self.namelessMachine
        }
        let name = text.trimmed
        guard GoogleKeyFile.isAccountName(name) else { throw Self.namelessMachine }
        return name
    }

    private static let namelessMachine = AuthError(
        .failedPrecondition,
        "The metadata server does not name the service account of this machine. Set serviceAccount in Firebase's configuration to "
            + "its address.")

    // MARK: Requests

    private func token(
        form: [(name: String, value: String)], from address: String
    ) async throws(AuthError) -> FirebaseCredential.Token {
        var request = HTTPRequest(.post, address, body: Array(FormCoding.encode(form).utf8), isIdempotent: true)
        request.headers["Content-Type"] = "application/x-www-form-urlencoded"
        return try token(in: try await send(request))
    }

    private func token(in answer: JSON) throws(AuthError) -> FirebaseCredential.Token {
        guard let value = answer["access_token"]?.string, !value.isEmpty,
            let seconds = answer["expires_in"]?.int64 ?? answer["expires_in"]?.string.flatMap({ Int64($0) })
        else { throw Self.unreadable }
        return FirebaseCredential.Token(
            Secret(value), expiresAt: now().date.addingTimeInterval(Double(min(max(seconds, 0), 86_400))))
    }

    private static let unreadable = AuthError(.unavailable, "Google's answer contains no token.", isRetryable: true)

    private func send(_ request: HTTPRequest) async throws(AuthError) -> JSON {
        let bytes = try await body(request)
        guard let answer = try? JSON(parsing: bytes), answer.object != nil else { throw Self.unreadable }
        return answer
    }

    private func body(_ request: HTTPRequest) async throws(AuthError) -> [UInt8] {
        var request = request
        request.redirects = .surface
        request.maximumBodySize = 1 << 20
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await transport.send(request, within: Self.deadline, clock: clock)
        } catch {
            throw AuthError(error)
        }
        if response.isSuccess { return response.body }
        let name = (try? JSON(parsing: response.body))?["error"]
        let code = name?.string ?? name?["status"]?.string ?? "HTTP \(response.status)"
        if response.status == 429 || response.status >= 500 {
            throw AuthError(
                .unavailable, "Google does not issue a token for the project at the moment (\(code)).",
                isRetryable: true)
        }
        throw AuthError(
            .unauthenticated,
            "Google does not accept Firebase's credential (\(code)). Was its key deleted, or is this machine's clock off?"
        )
    }
}
