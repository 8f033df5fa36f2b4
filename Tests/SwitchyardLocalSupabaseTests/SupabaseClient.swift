import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire

@testable import SwitchyardLocalSupabase

/// A local Supabase with a plain HTTP client in front of it.
struct SupabaseClient: Sendable {
    let supabase: LocalSupabase
    let transport = CurlTransport()

    /// One for all suites that keep to names of their own; its processes end with this one.
    static let shared = Task { try await SupabaseClient() }

    init(_ options: LocalSupabaseOptions = LocalSupabaseOptions()) async throws {
        supabase = try await LocalSupabase(options)
    }

    func stop() async {
        await transport.shutDown()
        await supabase.stop()
    }

    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
        var json: JSON { (try? JSON(parsing: body)) ?? .null }
        /// What is meant, wherever it stands.
        var meant: Int { json["statusCode"]?.string.flatMap { Int($0) } ?? status }
        var code: String? { json["code"]?.string }
    }

    /// Whose requests they are.
    enum Caller: Sendable {
        case user(String)
        case service
        case anonymous
        case unauthenticated
        case token(String)
    }

    func token(of caller: Caller) -> String? {
        switch caller {
        case .user(let name): supabase.accessToken(for: name)
        case .service: supabase.serviceKey
        case .anonymous: supabase.anonKey
        case .unauthenticated: nil
        case .token(let text): text
        }
    }

    @discardableResult
    func send(
        _ method: HTTPMethod, _ path: String, _ body: [UInt8]? = nil, as caller: Caller, _ headers: HTTPHeaders = [:]
    ) async throws -> Answer {
        var request = HTTPRequest(method, path.hasPrefix("http") ? path : supabase.server.url + path, headers: headers)
        if let token = token(of: caller) {
            request.headers["Authorization"] = "Bearer \(token)"
            if !headers.contains("apikey") { request.headers["apikey"] = supabase.anonKey }
        }
        request.body = body ?? []
        let response = try await transport.send(request)
        return Answer(status: response.status, headers: response.head.headers, body: response.body)
    }

    @discardableResult
    func json(
        _ method: HTTPMethod, _ path: String, _ body: JSON, as caller: Caller, _ headers: HTTPHeaders = [:]
    ) async throws -> Answer {
        var headers = headers
        headers["Content-Type"] = "application/json"
        return try await send(method, path, body.bytes(), as: caller, headers)
    }

    func sql(_ text: String, _ parameters: [String?] = []) async throws -> String? {
        try await supabase.database.run([PostgresStatement(text, parameters)])[0].text
    }
}
