import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// What edge functions answer, and calls of functions in the database, on a scripted server.
@Suite struct SupabaseFunctionsTests {
    private static let root = "https://demo.supabase.co/functions/v1"
    private static let token = FixedAuthClient.token(["sub": "alice", "role": "authenticated"])

    private func functions(
        _ script: [ScriptedExchange], auth: (any AuthClient)? = nil
    ) throws -> (ScriptedTransport, SupabaseFunctions) {
        let transport = ScriptedTransport(script)
        let module = SupabaseModule(
            SupabaseConfiguration(url: "https://demo.supabase.co", key: "sb_publishable_1"), transport: { transport })
        return (
            transport,
            SupabaseFunctions(try module.clientContext(ModuleContext(auth: auth, clock: ImpatientClock())))
        )
    }

    @Test func `A call carries its value, its region and the session`() async throws {
        let (transport, functions) = try functions(
            [
                .on(
                    .post, "\(Self.root)/hello/deep%20path?a=b%2Bc&forceFunctionRegion=eu-west-1",
                    check: { recorded in
                        let headers = recorded.request.headers
                        guard headers["x-region"] == "eu-west-1", headers["Content-Type"] == "application/json",
                            headers["Authorization"] == "Bearer \(Self.token)", headers["apikey"] == "sb_publishable_1",
                            headers["X-Own"] == "1"
                        else { return "the headers are others" }
                        return recorded.body == Array(#"{"n":1}"#.utf8) ? nil : "the body is another one"
                    }, .json(#"{"sum":2}"#))
            ], auth: FixedAuthClient { _ in Self.token })
        var call = try SupabaseFunctionCall("hello/deep path", json: ["n": 1])
        call.region = "eu-west-1"
        call.query = [(name: "a", value: "b+c")]
        call.headers["X-Own"] = "1"
        let answer = try await functions.call(call)
        #expect(try answer.decoded(as: [String: Int].self) == ["sum": 2])
        #expect(answer.contentType == "application/json")
        try transport.verify()
    }

    @Test func `Signed out, a key of the current form is no token`() async throws {
        let (transport, functions) = try functions([.on(.post, "\(Self.root)/hello", .json("{}"))])
        _ = try await functions.call(SupabaseFunctionCall("hello"))
        #expect(transport.requests[0].request.headers["Authorization"] == nil)
    }

    @Test(
        arguments: [
            (SupabaseFunctionCall.Body.none, nil), (.json(Data("1".utf8)), "application/json"),
            (.text("a"), "text/plain"),
            (.bytes(Data([1])), "application/octet-stream"),
        ] as [(SupabaseFunctionCall.Body, String?)])
    func `A body says what it is, unless the caller does`(
        _ body: SupabaseFunctionCall.Body, _ type: String?
    ) async throws {
        let (transport, functions) = try functions([
            .on(.put, "\(Self.root)/f", .json("{}")), .on(.put, "\(Self.root)/f", .json("{}")),
        ])
        var call = SupabaseFunctionCall("f", method: .put, body: body)
        _ = try await functions.call(call)
        call.headers["content-TYPE"] = "image/png"
        _ = try await functions.call(call)
        #expect(transport.requests[0].request.headers.values(for: "Content-Type") == (type.map { [$0] } ?? []))
        #expect(transport.requests[1].request.headers.values(for: "Content-Type") == ["image/png"])
    }

    @Test(arguments: ["", "a//b", "../auth/v1/user", "a/./b", "/a"])
    func `A name that leads elsewhere is refused before anything is sent`(_ name: String) async throws {
        let (transport, functions) = try functions([])
        #expect(await functions.failure(of: SupabaseFunctionCall(name))?.code == .invalidArgument)
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: ["Authorization", "APIKEY"])
    func `The session's header fields are no one else's`(_ name: String) async throws {
        let (_, functions) = try functions([])
        var call = SupabaseFunctionCall("f")
        call.headers[name] = "x"
        #expect(await functions.failure(of: call)?.code == .invalidArgument)
    }

    // MARK: Failures

    @Test(
        arguments: [
            (200, ["x-relay-error": "true"], .relay, true), (500, ["x-relay-error": "TRUE"], .relay, true),
            (500, ["sb-error-code": "EDGE_FUNCTION_ERROR"], .failed, false),
            (503, ["sb-error-code": "BOOT_ERROR"], .relay, true),
            (504, ["sb-error-code": "IDLE_TIMEOUT"], .deadlineExceeded, true),
            (546, ["sb-error-code": "WORKER_RESOURCE_LIMIT"], .resourceExhausted, false),
            (546, [:], .resourceExhausted, false), (404, ["sb-error-code": "NOT_FOUND"], .notFound, false),
            (404, [:], .function, false), (401, [:], .function, false), (500, [:], .function, false),
            (418, [:], .function, false),
        ] as [(Int, [String: String], SupabaseFunctionError.Code, Bool)])
    func `The platform's failures are distinguished from the function's own`(
        _ status: Int, _ fields: [String: String], _ code: SupabaseFunctionError.Code, _ isRetryable: Bool
    ) async throws {
        var headers = HTTPHeaders()
        for (name, value) in fields { headers[name] = value }
        let (transport, functions) = try functions([
            .on(.post, "\(Self.root)/f", .json(#"{"own":"words"}"#, status: status, headers: headers))
        ])
        let error = await functions.failure(of: SupabaseFunctionCall("f"))
        #expect(error?.code == code)
        #expect(error?.isRetryable == isRetryable)
        #expect(error?.answer?.status == status)
        #expect(error?.answer?.text == #"{"own":"words"}"#)
        #expect(error?.description.contains("words") == false)
        #expect(transport.requests.count == 1, "a call with effects is made once")
    }

    @Test func `A token that the platform refuses is replaced once`() async throws {
        let auth = FixedAuthClient { _ in Self.token }
        let refusal = ScriptedExchange.on(
            .post, "\(Self.root)/f", .json(#"{"code":401,"message":"Invalid JWT"}"#, status: 401))
        let (transport, functions) = try functions([refusal, .on(.post, "\(Self.root)/f", .json("{}"))], auth: auth)
        #expect(await functions.failure(of: SupabaseFunctionCall("f")) == nil)
        #expect(auth.requests == [false, true])
        transport.expect(refusal, refusal)
        #expect(await functions.failure(of: SupabaseFunctionCall("f"))?.code == .unauthenticated)
        try transport.verify()
    }

    @Test func `What may be repeated is, a few times, when the function was not run`() async throws {
        let relay = ScriptedExchange.on(
            .get, "\(Self.root)/f", .json("{}", status: 500, headers: ["x-relay-error": "true"]))
        let (transport, functions) = try functions([relay, relay, .on(.get, "\(Self.root)/f", .json("{}"))])
        #expect(await functions.failure(of: SupabaseFunctionCall("f", method: .get)) == nil)
        transport.expect(relay, relay, relay)
        #expect(await functions.failure(of: SupabaseFunctionCall("f", method: .get))?.code == .relay)
        try transport.verify()
    }

    @Test func `A stream comes piece by piece, and a failure before its first`() async throws {
        let (transport, functions) = try functions([
            .on(
                .post, "\(Self.root)/events", .json("data: 1\n\n", headers: ["Content-Type": "Text/Event-Stream; x=1"])),
            .on(.post, "\(Self.root)/events", .json("{}", status: 500, headers: ["x-relay-error": "true"])),
        ])
        let stream = try await functions.stream(SupabaseFunctionCall("events"))
        #expect(stream.head.contentType == "text/event-stream")
        var all = Data()
        for try await piece in stream { all.append(piece) }
        #expect(String(decoding: all, as: UTF8.self) == "data: 1\n\n")
        let error = await #expect(throws: SupabaseFunctionError.self) {
            () async throws -> Void in _ = try await functions.stream(SupabaseFunctionCall("events"))
        }
        #expect(error?.code == .relay)
        try transport.verify()
    }

    @Test func `An answer of another form is said to be one`() async throws {
        let (_, functions) = try functions([.on(.post, "\(Self.root)/f", .json("<html>"))])
        let answer = try await functions.call(SupabaseFunctionCall("f"))
        let error = #expect(throws: SupabaseFunctionError.self) { _ = try answer.decoded(as: Int.self) }
        #expect(error?.code == .invalidAnswer)
        var dumped = ""
        dump(answer, to: &dumped)
        #expect(!dumped.contains("html"))
    }

    // MARK: In the database

    private static let rpc = "https://demo.supabase.co/rest/v1/rpc"

    @Test func `A function of the database takes arguments by name, in a schema that may be another`() async throws {
        let (transport, functions) = try functions([
            .on(
                .post, "\(Self.rpc)/total",
                check: { recorded in
                    guard recorded.request.headers["Content-Profile"] == "stats" else { return "another schema" }
                    return recorded.body == Array(#"{"of":"points"}"#.utf8) ? nil : "the body is another one"
                }, .json("9223372036854775807")),
            .on(.post, "\(Self.rpc)/reset", .status(204)),
            .on(.post, "\(Self.rpc)/gone", .json(#"{"code":"PGRST202","message":"no"}"#, status: 404)),
        ])
        let total: Int64 = try await functions.callDatabase("total", ["of": "points"], schema: "stats")
        #expect(total == .max)
        try await functions.callDatabase("reset")
        let error = await #expect(throws: StorageError.self) { try await functions.callDatabase("gone") }
        #expect(error?.code == .unsupported)
        await #expect(throws: StorageError.self) { try await functions.callDatabase("total", [1, 2]) }
        try transport.verify()
    }
}
