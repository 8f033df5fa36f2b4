import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire

@testable import SwitchyardLocalSupabase

/// A local Supabase, a client that says what it is told to, and a clock that a test moves.
final class SupabaseBed: Sendable {
    let supabase: LocalSupabase
    private let transport = CurlTransport()
    private let time = LocalTime()

    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let json: JSON
        let text: String
        /// The code of a refusal, wherever its shape has it.
        var code: String? { json["code"]?.string ?? json["error_code"]?.string ?? json["error"]?.string }
        var token: String { json["access_token"]?.string ?? "" }
        var refreshToken: String { json["refresh_token"]?.string ?? "" }
    }

    init(_ change: (inout LocalSupabaseOptions) -> Void = { _ in }) async throws {
        var options = LocalSupabaseOptions()
        change(&options)
        options.now = { [time] in time.now }
        supabase = try await LocalSupabase.onSharedPostgres(options)
    }

    static func with(
        _ change: (inout LocalSupabaseOptions) -> Void = { _ in }, _ body: (SupabaseBed) async throws -> Void
    ) async throws {
        let bed = try await SupabaseBed(change)
        do {
            try await body(bed)
        } catch {
            await bed.stop()
            throw error
        }
        await bed.stop()
    }

    func stop() async {
        await transport.shutDown()
        await supabase.stop()
    }

    func advance(_ seconds: Int64) { time.advance(by: seconds) }

    // MARK: Requests

    func send(
        _ method: HTTPMethod, _ path: String, _ body: JSON? = nil, as bearer: String? = nil, key: String? = nil,
        _ headers: HTTPHeaders = [:]
    ) async throws -> Answer {
        var fields = headers
        if body != nil, !headers.contains("Content-Type") { fields["Content-Type"] = "application/json" }
        return try await send(method, path, bytes: body.map { $0.bytes() } ?? [], as: bearer, key: key, fields)
    }

    func send(
        _ method: HTTPMethod, _ path: String, bytes: [UInt8], as bearer: String? = nil, key: String? = nil,
        _ headers: HTTPHeaders = [:]
    ) async throws -> Answer {
        var request = HTTPRequest(method, supabase.server.url + path, body: bytes)
        request.headers["apikey"] = key ?? supabase.anonKey
        if let bearer { request.headers["Authorization"] = "Bearer \(bearer)" }
        for field in headers { request.headers[field.name] = field.value }
        request.redirects = .surface
        let answer = try await transport.send(request)
        return Answer(
            status: answer.status, headers: answer.headers, json: (try? JSON(parsing: answer.body)) ?? .null,
            text: String(decoding: answer.body, as: UTF8.self))
    }

    /// The body of a GET as it is.
    func text(_ path: String, accept: String) async throws -> String {
        var request = HTTPRequest(.get, supabase.server.url + path)
        request.headers = [
            "apikey": supabase.anonKey, "Accept": accept,
            "Authorization": "Bearer \(supabase.accessToken(for: "ann"))",
        ]
        return String(decoding: try await transport.send(request).body, as: UTF8.self)
    }

    /// The name of the database, as statements take it.
    func database() async throws -> String { try await value("select quote_ident(current_database())") ?? "" }

    func auth(
        _ method: HTTPMethod, _ path: String, _ body: JSON? = nil, as bearer: String? = nil
    ) async throws -> Answer {
        try await send(
            method, "/auth/v1" + path, body, as: bearer, ["X-Supabase-Api-Version": "2024-01-01"])
    }

    func signUp(_ name: String = "ann") async throws -> Answer {
        try await auth(.post, "/signup", ["email": .string("\(name)@example.com"), "password": "secret"])
    }

    func refresh(_ token: String) async throws -> Answer {
        try await auth(.post, "/token?grant_type=refresh_token", ["refresh_token": .string(token)])
    }

    /// The newest mail or message to a place.
    func mail(to place: String) async throws -> JSON {
        let sent = try await send(
            .get, "/_supabase/sent?to=\(PercentCoding.encode(place))", key: supabase.serviceKey)
        return sent.json["sent"]?.array?.last ?? .null
    }

    func run(_ sql: String...) async throws {
        _ = try await supabase.database.run(sql.map { PostgresStatement($0) })
    }

    func value(_ sql: String) async throws -> String? {
        try await supabase.database.run([PostgresStatement(sql)])[0].text
    }
}
