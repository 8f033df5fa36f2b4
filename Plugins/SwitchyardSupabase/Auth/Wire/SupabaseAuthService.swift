import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire

/// The calls of Supabase's auth service. Every request and answer goes through here.
struct SupabaseAuthService: Sendable {
    static let deadline = Duration.seconds(30)

    /// Without a trailing slash, such as `https://demo.supabase.co/auth/v1`.
    let address: String
    let apiKey: Secret
    let transport: any Transport
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp
    /// A host in a private network to which secrets may be sent in plain HTTP.
    var plainHost: String?
    /// The largest accepted answer, in bytes.
    var maximumAnswer = 1 << 20

    /// - Parameters:
    ///   - path: The path after the address, including any query.
    ///   - bearer: The user's token. Without one, the header is omitted, since current keys are not tokens.
    func call(
        _ method: HTTPMethod, _ path: String, _ body: JSONObject? = nil, as bearer: Secret? = nil
    ) async throws(SupabaseAuthFailure) -> JSON {
        guard isSafe else { throw SupabaseAuthFailure(.unsafeAddress) }
        var request = HTTPRequest(method, address + path, body: body.map { JSON.object($0).bytes() } ?? [])
        request.headers["apikey"] = apiKey.reveal()
        request.headers["X-Supabase-Api-Version"] = "2024-01-01"
        request.headers.nameClient()
        if body != nil { request.headers["Content-Type"] = "application/json" }
        if let bearer { request.headers["Authorization"] = "Bearer \(bearer.reveal())" }
        request.redirects = .surface
        request.maximumBodySize = maximumAnswer
        return try await Patience(clock: clock).outlasting(\.pauseBeforeRepetition) {
            () throws(SupabaseAuthFailure) in try await send(request)
        }
    }

    private func send(_ request: HTTPRequest) async throws(SupabaseAuthFailure) -> JSON {
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await transport.send(request, within: Self.deadline, clock: clock)
        } catch {
            throw SupabaseAuthFailure(.unanswered(error, status: nil))
        }
        guard response.isSuccess else { throw SupabaseAuthFailure(response, now: now().seconds) }
        if response.body.isEmpty { return [:] }
        guard let answer = try? JSON(parsing: response.body, options: JSONParsingOptions(loneSurrogates: .replace)),
            answer.object != nil
        else { throw SupabaseAuthFailure(.unanswered(nil, status: response.status)) }
        return answer
    }

    func token(
        _ grant: String, _ body: JSONObject, as bearer: Secret? = nil
    ) async throws(SupabaseAuthFailure) -> SupabaseGrant {
        try SupabaseGrant(session: try await call(.post, "/token?grant_type=\(grant)", body, as: bearer), at: now())
    }

    /// Whether secrets may be sent to the address.
    private var isSafe: Bool {
        (try? URLParts(validating: address))?.mayCarrySecrets(plainTo: plainHost) ?? false
    }
}
