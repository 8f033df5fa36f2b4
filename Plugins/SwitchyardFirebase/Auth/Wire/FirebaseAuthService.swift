import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire
import Synchronization

/// The calls of Firebase's auth service. Every request and answer goes through here.
struct FirebaseAuthService: Sendable {
    /// The same as in the vendor's clients.
    static let deadline = Duration.seconds(30)

    let endpoints: FirebaseEndpoints
    let headers: [(String, String)]
    let transport: any Transport
    let appCheck: FirebaseAppCheck?
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp
    /// The largest accepted answer, in bytes. Answers about one account are small.
    var maximumAnswer = 1 << 20
    /// The language of emails and text messages, as a BCP 47 tag.
    let language = LanguageBox()

    final class LanguageBox: Sendable {
        private let name = Mutex<String?>(nil)
        var value: String? {
            get { name.withLock { $0 } }
            set { name.withLock { $0 = newValue } }
        }
    }

    init(_ context: FirebaseContext) {
        endpoints = context.endpoints
        headers = context.appHeaders
        transport = context.transport
        appCheck = context.tokens.appCheck
        clock = context.module.clock
        now = context.module.now
    }

    /// - Parameter path: The path after the host, such as `/v1/accounts:lookup`.
    func post(_ path: String, _ body: JSONObject) async throws(FirebaseAuthFailure) -> JSON {
        var request = HTTPRequest(.post, endpoints.identityToolkit.address + path, body: JSON.object(body).bytes())
        request.headers["Content-Type"] = "application/json"
        if let language = language.value { request.headers["X-Firebase-Locale"] = language }
        return try await send(request, to: endpoints.identityToolkit)
    }

    /// `POST /v1/token`: takes a form, and its answer uses different names than all others.
    func refresh(_ token: Secret) async throws(FirebaseAuthFailure) -> FirebaseGrant {
        let form = [(name: "grant_type", value: "refresh_token"), (name: "refresh_token", value: token.reveal())]
        var request = HTTPRequest(
            .post, endpoints.secureToken.address + "/v1/token", body: Array(FormCoding.encode(form).utf8))
        request.headers["Content-Type"] = "application/x-www-form-urlencoded"
        return try FirebaseGrant(refreshed: try await send(request, to: endpoints.secureToken), at: now())
    }

    /// Sends with the current App Check token, and once more with a new one if it is refused. A refused request has not been
    /// carried out.
    func send(
        _ request: HTTPRequest, to endpoint: FirebaseEndpoint
    ) async throws(FirebaseAuthFailure) -> JSON {
        // Every call contains a password, a code or a token.
        guard endpoint.mayCarryTokens else { throw FirebaseAuthFailure(.unsafeAddress) }
        var complete = request
        complete.redirects = .surface
        complete.maximumBodySize = maximumAnswer
        for (name, value) in headers { complete.headers[name] = value }
        guard let appCheck else { return try await exchange(complete) }
        var isRefused = false
        while true {
            do {
                complete.headers["X-Firebase-AppCheck"] = try await appCheck.token(isRefused).reveal()
            } catch {
                throw FirebaseAuthFailure(.appCheck(error))
            }
            do throws(FirebaseAuthFailure) {
                return try await exchange(complete)
            } catch {
                guard !isRefused, error.code == FirebaseAuthFailure.appCheckRefusal else { throw error }
            }
            isRefused = true
        }
    }

    private func exchange(_ request: HTTPRequest) async throws(FirebaseAuthFailure) -> JSON {
        try await Patience(clock: clock).outlasting(\.pauseBeforeRepetition) { () throws(FirebaseAuthFailure) in
            try await exchangeOnce(request)
        }
    }

    private func exchangeOnce(_ request: HTTPRequest) async throws(FirebaseAuthFailure) -> JSON {
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await transport.send(request, within: Self.deadline, clock: clock)
        } catch {
            throw FirebaseAuthFailure(.unanswered(error, status: nil))
        }
        guard response.isSuccess else { throw FirebaseAuthFailure(response, now: now().seconds) }
        guard let answer = try? JSON(parsing: response.body, options: JSONParsingOptions(loneSurrogates: .replace)),
            answer.object != nil
        else { throw FirebaseAuthFailure(.unanswered(nil, status: response.status)) }
        return answer
    }
}

/// The calls about accounts that are made in the project's name, each with its token.
struct FirebaseAdminService: Sendable {
    /// A page has up to 1000 accounts, each of which may well be larger than a kilobyte.
    static let maximumAnswer = 64 << 20

    private let service: FirebaseAuthService
    private let tokens: ProjectTokens
    private let endpoint: FirebaseEndpoint
    private let project: String

    var isEmulator: Bool { endpoint.isEmulator }

    init(_ context: FirebaseContext, _ tokens: ProjectTokens) {
        var service = FirebaseAuthService(context)
        service.maximumAnswer = Self.maximumAnswer
        self.service = service
        endpoint = context.endpoints.identityToolkit
        project = context.configuration.project
        self.tokens = tokens
    }

    /// - Parameter call: Such as `accounts:lookup`.
    func post(_ call: String, _ body: JSONObject) async throws(AuthError) -> JSON {
        var request = HTTPRequest(.post, address(call), body: JSON.object(body).bytes())
        request.headers["Content-Type"] = "application/json"
        return try await send(request)
    }

    func get(_ call: String, _ query: [(name: String, value: String)]) async throws(AuthError) -> JSON {
        try await send(HTTPRequest(.get, "\(address(call))?\(FormCoding.encode(query, space: .percent))"))
    }

    private func address(_ call: String) -> String {
        "\(endpoint.address)/v1/projects/\(PercentCoding.encode(project))/\(call)"
    }

    /// Sends the request, and repeats it once with a new token if the first one is refused.
    private func send(_ request: HTTPRequest) async throws(AuthError) -> JSON {
        var refused: Secret?
        while true {
            let token = try await tokens.token(for: endpoint, replacing: refused)
            var request = request
            for (name, value) in tokens.headers(with: token, for: project) { request.headers[name] = value }
            do throws(FirebaseAuthFailure) {
                return try await service.send(request, to: endpoint)
            } catch {
                guard refused == nil, case .refused(_, 401) = error.kind else { throw AuthError(error, in: .project) }
            }
            refused = token
        }
    }
}

/// A link in one of Firebase's emails.
struct FirebaseActionLink: Sendable {
    let mode: String
    let code: String

    /// `nil` for any other link. Links that open apps may wrap another link.
    init?(_ url: URL) {
        var text = url.absoluteString
        for _ in 0..<3 {
            let query = text.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
            guard let items = FormCoding.decode(query) else { return nil }
            func item(_ name: String) -> String? { items.first { $0.name == name && !$0.value.isEmpty }?.value }
            if let mode = item("mode"), let code = item("oobCode"), item("apiKey") != nil {
                guard Self.modes.contains(mode) else { return nil }
                self.mode = mode
                self.code = code
                return
            }
            guard let inner = item("link") ?? item("deep_link_id") else { return nil }
            text = inner
        }
        return nil
    }

    private static let modes: Set = [
        "signIn", "resetPassword", "verifyEmail", "recoverEmail", "verifyAndChangeEmail", "revertSecondFactorAddition",
    ]
}
