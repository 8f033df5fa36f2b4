import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardProviderKit
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Edge functions of a local project, called by the client that apps call them by.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LocalFunctionsTests {
    private struct Site {
        let supabase: LocalSupabase

        /// - Parameter token: Whose functions they are; no one's without one.
        func functions(
            token: (@Sendable (_ refreshing: Bool) -> String)? = nil
        ) throws -> SupabaseFunctions {
            let module = SupabaseModule(
                SupabaseConfiguration(url: supabase.server.url, key: Secret(supabase.anonKey)))
            let auth = token.map { token in FixedAuthClient { refreshing throws(AuthError) in token(refreshing) } }
            return SupabaseFunctions(try module.clientContext(ModuleContext(auth: auth, clock: ImpatientClock())))
        }

        func send(_ method: HTTPMethod, _ name: String, _ headers: HTTPHeaders = [:]) async throws -> HTTPResponse {
            let transport = CurlTransport()
            let response = try await transport.send(
                HTTPRequest(method, supabase.server.url("/functions/v1/\(name)"), headers: headers))
            await transport.shutDown()
            return response
        }
    }

    private func withSite(
        _ functions: [String: LocalFunction], _ body: (Site) async throws -> Void
    ) async throws {
        var options = LocalSupabaseOptions()
        options.functions = functions
        let supabase = try await LocalSupabase.onSharedPostgres(options)
        do {
            try await body(Site(supabase: supabase))
        } catch {
            await supabase.stop()
            throw error
        }
        await supabase.stop()
    }

    private struct Echo: Codable, Equatable {
        var who: String
        var method: String
        var path: String
        var query: String
        var body: String
    }

    /// Returns what it received.
    private static let echo: LocalFunction.Handler = { call in
        let echoed = Echo(
            who: call.token.map { $0.claims["sub"]?.string ?? $0.role } ?? "-", method: call.request.method.rawValue,
            path: call.path, query: call.request.query("q") ?? "",
            body: String(decoding: try await call.request.body.collect(), as: UTF8.self))
        return .json(try JSONBytesEncoder().encode(echoed))
    }

    @Test func `A function receives who calls, how, behind which path and with what`() async throws {
        try await withSite(["echo": LocalFunction(Self.echo)]) { site in
            let functions = try site.functions { _ in site.supabase.accessToken(for: "ann") }
            for method in SupabaseFunctionCall.Method.allCases {
                var call = SupabaseFunctionCall("echo/deep path/7", method: method)
                call.query = [(name: "q", value: "a+b")]
                if [.post, .put, .patch].contains(method) { call.body = .text("words") }
                let echoed = try await functions.call(call).decoded(as: Echo.self)
                #expect(
                    echoed
                        == Echo(
                            // A request for options is not checked.
                            who: method == .options ? "-" : "ann", method: method.rawValue, path: "/deep path/7",
                            query: "a+b", body: call.body == .none ? "" : "words"))
            }
            let signedOut = try await site.functions().call(SupabaseFunctionCall("echo")).decoded(as: Echo.self)
            #expect((signedOut.who, signedOut.path) == ("anon", ""))
            #expect(try await site.send(.head, "echo").status == 405)
        }
    }

    @Test func `A token is checked unless the function needs none; a refused one is replaced`() async throws {
        let functions = ["closed": LocalFunction(Self.echo), "open": LocalFunction(verifiesToken: false, Self.echo)]
        try await withSite(functions) { site in
            let good = site.supabase.accessToken(for: "ann")
            let bad = FixedAuthClient.token(["sub": "ann", "role": "authenticated"])
            let refused = try site.functions { _ in bad }
            #expect(await refused.failure(of: SupabaseFunctionCall("closed"))?.code == .unauthenticated)
            #expect(try await refused.call(SupabaseFunctionCall("open")).decoded(as: Echo.self).who == "-")
            let refreshing = try site.functions { refreshing in refreshing ? good : bad }
            #expect(try await refreshing.call(SupabaseFunctionCall("closed")).decoded(as: Echo.self).who == "ann")

            // The project's key proves nothing where no token stands beside it.
            let keyOnly = try await site.send(.post, "closed", ["apikey": site.supabase.anonKey])
            #expect(keyOnly.status == 401)
            #expect(try JSON(parsing: keyOnly.body)["code"] == 401)
        }
    }

    @Test func `What browsers ask of other origins, the function answers itself`() async throws {
        let asked: HTTPHeaders = ["Origin": "http://localhost:5173", "Access-Control-Request-Method": "POST"]
        let polite = LocalFunction { call in
            guard call.request.method == .options else { return .text("done") }
            return ServerResponse(status: 200, headers: ["Access-Control-Allow-Origin": "http://localhost:5173"])
        }
        try await withSite(["polite": polite, "silent": LocalFunction(Self.echo)]) { site in
            let answer = try await site.send(.options, "polite", asked)
            #expect((answer.status, answer.headers["Access-Control-Allow-Origin"]) == (200, "http://localhost:5173"))
            #expect(try await site.send(.options, "silent", asked).headers["Access-Control-Allow-Origin"] == nil)
            let called = try await site.send(
                .get, "silent",
                ["Origin": "http://localhost:5173", "Authorization": "Bearer \(site.supabase.accessToken(for: "ann"))"])
            #expect((called.status, called.headers["Access-Control-Allow-Origin"]) == (200, nil))
        }
    }

    @Test func `What keeps a function from answering is distinguished from what it answers`() async throws {
        var functions = ["refusing": LocalFunction { _ in .text("not yours", status: 401) }]
        functions["missing"] = LocalFunction { _ in .text("no such thing", status: 404) }
        functions["throwing"] = LocalFunction { _ in throw CancellationError() }
        for failure in LocalFunctionFailure.allCases { functions["\(failure)"] = LocalFunction { _ in throw failure } }
        let codes: [(String, SupabaseFunctionError.Code)] = [
            ("nowhere", .notFound), ("refusing", .function), ("missing", .function), ("throwing", .failed),
            ("notRun", .relay), ("notStarted", .relay), ("failed", .failed), ("silent", .deadlineExceeded),
            ("overLimit", .resourceExhausted),
        ]
        try await withSite(functions) { site in
            let client = try site.functions { _ in site.supabase.accessToken(for: "ann") }
            for (name, code) in codes {
                #expect(await client.failure(of: SupabaseFunctionCall(name))?.code == code, "\(name)")
            }
            #expect(await client.failure(of: SupabaseFunctionCall("refusing"))?.answer?.text == "not yours")
        }
    }

    private struct Greeting: Codable {
        var text: String
    }

    @Test func `The page's calls are answered`() async throws {
        var deployed = ["report": LocalFunction { _ in .text("all is well") }]
        deployed["welcome"] = LocalFunction { call in
            let language = call.request.headers["x-language"] ?? "-"
            return .json(try JSONBytesEncoder().encode(Greeting(text: language)))
        }
        try await withSite(deployed) { site in
            let connection = try await site.supabase.database.connect()
            try await connection.run(
                script: "create function public.total(\"of\" text) returns int language sql as $$ select 7 $$")
            connection.close()
            let backend = try await Infrastructure(
                .supabase(url: site.supabase.server.url, key: Secret(site.supabase.anonKey)))
            try await backend.auth.signUp(email: "\(UUID().uuidString)@example.com", password: "a long secret")
            var text = ""
            func consume(_ piece: Data) { text += String(decoding: piece, as: UTF8.self) }

            guard let functions = backend.storage.unwrapped(as: SupabaseStorageAdapter.self)?.functions else { return }
            var call = try SupabaseFunctionCall("welcome", json: ["name": "Alice"])
            call.headers["x-language"] = "de"
            let greeting = try await functions.call(call).decoded(as: Greeting.self)
            let stream = try await functions.stream(SupabaseFunctionCall("report", method: .get))
            for try await piece in stream { consume(piece) }
            let total: Int = try await functions.callDatabase("total", ["of": "points"])
            #expect((greeting.text, text, total) == ("de", "all is well", 7))
            await backend.shutDown()
        }
    }

    @Test func `Every piece of Swift in the page stands above, line for line`() throws {
        let page = try Article("Plugins/SwitchyardSupabase/Documentation.docc/EdgeFunctions.md")
        let missing = try page.missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }

    @Test func `Bodies go through piece by piece, both ways`() async throws {
        let gate = Gate()
        let pieces = LocalFunction { call in
            var count = 0
            for try await piece in call.request.body { count += piece.count }
            let total = count
            return .stream(headers: ["Content-Type": "text/event-stream"]) { writer in
                try await writer.write("data: \(total)\n\n")
                await gate.wait()
                try await writer.write("data: end\n\n")
            }
        }
        let cut = LocalFunction { _ in
            .stream { writer in
                try await writer.write("half")
                throw CancellationError()
            }
        }
        try await withSite(["pieces": pieces, "cut": cut]) { site in
            let functions = try site.functions { _ in site.supabase.accessToken(for: "ann") }
            var call = SupabaseFunctionCall("pieces")
            call.body = .bytes(Data(count: 3 << 20))
            let stream = try await functions.stream(call)
            #expect(stream.head.contentType == "text/event-stream")
            var text = ""
            for try await piece in stream {
                text += String(decoding: piece, as: UTF8.self)
                // The end is written only once the beginning has arrived.
                if text == "data: \(3 << 20)\n\n" { gate.open() }
            }
            #expect(text == "data: \(3 << 20)\n\ndata: end\n\n")
            let broken = await functions.failure(of: SupabaseFunctionCall("cut"))
            #expect(broken?.code == .unavailable, "\(String(describing: broken))")
        }
    }
}
