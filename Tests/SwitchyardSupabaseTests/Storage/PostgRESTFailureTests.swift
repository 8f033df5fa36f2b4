import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// What a refusal of the data service means, and what is done about it.
@Suite struct PostgRESTFailureTests {
    private static let rpc = "https://demo.supabase.co/rest/v1/rpc/switchyard_get"

    private static func failure(_ status: Int, _ code: String, _ message: String = "x") -> PostgRESTFailure {
        PostgRESTFailure(
            status: status, body: Array(#"{"code":"\#(code)","message":"\#(message)","details":null}"#.utf8))
    }

    @Test(
        arguments: [
            (503, "PGRST000", .unavailable, true), (503, "PGRST001", .unavailable, true),
            (503, "PGRST002", .unavailable, true), (504, "PGRST003", .unavailable, true),
            (503, "08006", .unavailable, true), (503, "57P01", .unavailable, true),
            (503, "53300", .resourceExhausted, true), (500, "54000", .resourceExhausted, false),
            (400, "PGRST100", .invalidArgument, false), (400, "PGRST102", .invalidArgument, false),
            (400, "PGRST200", .invalidArgument, false), (400, "PGRST204", .invalidArgument, false),
            (300, "PGRST201", .invalidArgument, false), (300, "PGRST203", .invalidArgument, false),
            (406, "PGRST106", .unsupported, false), (404, "PGRST125", .unsupported, false),
            (404, "PGRST202", .unsupported, false), (404, "PGRST205", .unsupported, false),
            (404, "42P01", .unsupported, false), (500, "PGRST111", .internal, true),
            (401, "PGRST301", .unauthenticated, true), (401, "PGRST302", .unauthenticated, true),
            (401, "PGRST303", .unauthenticated, true), (401, "42501", .unauthenticated, false),
            (401, "22023", .unauthenticated, false), (403, "42501", .unauthorized, false),
            (409, "23505", .alreadyExists, false), (409, "23503", .failedPrecondition, false),
            (400, "23502", .invalidArgument, false), (400, "23514", .invalidArgument, false),
            (400, "22P02", .invalidArgument, false), (400, "22P05", .invalidArgument, false),
            (400, "42703", .invalidArgument, false), (400, "21000", .invalidArgument, false),
            (500, "40001", .aborted, true), (500, "40P01", .aborted, true), (500, "55P03", .unavailable, true),
            (500, "57014", .deadlineExceeded, true), (400, "P0001", .failedPrecondition, false),
            (405, "25006", .unavailable, true),
            (404, "PT404", .notFound, false), (409, "PT409", .alreadyExists, false),
            (412, "PT412", .failedPrecondition, false), (403, "PT403", .unauthorized, false),
            (429, "PT429", .resourceExhausted, true),
            (403, "28000", .unauthenticated, false), (403, "0P000", .unauthenticated, false),
            (500, "XX000", .internal, true),
        ] as [(Int, String, StorageError.Code, Bool)])
    func `Each code of the database and of the service has its meaning`(
        _ status: Int, _ code: String, _ meaning: StorageError.Code, _ isRetryable: Bool
    ) {
        let error = StorageError(Self.failure(status, code))
        #expect(error.code == meaning)
        #expect(error.isRetryable == isRetryable)
    }

    @Test(arguments: [
        (400, "P0001"), (400, "PT400"), (410, "PT410"), (422, "PT422"), (400, "44000"), (400, "23514"), (403, "42501"),
        (409, "23505"), (413, "54000"),
    ])
    func `A write that the database refuses for good leaves the queue`(_ status: Int, _ code: String) {
        #expect(StorageError(Self.failure(status, code)).isRefusal)
    }

    @Test(arguments: [
        (405, "25006"), (500, "40001"), (500, "57014"), (401, "PGRST303"), (503, "PGRST002"), (500, "53300"),
    ])
    func `A write that may succeed later stays in the queue`(_ status: Int, _ code: String) {
        #expect(!StorageError(Self.failure(status, code)).isRefusal)
    }

    /// What becomes of a batch of no one's that is committed against a script.
    private static func commit(_ script: ScriptedExchange..., gate: SchemaCheck? = nil) async throws -> StorageError? {
        let transport = ScriptedTransport(script)
        let service = PostgRESTService(
            project: try SupabaseProject("https://demo.supabase.co"), tokens: SupabaseTokens(key: "key", auth: nil),
            transport: transport, gate: gate)
        var failure: StorageError?
        do throws(StorageError) {
            _ = try await service.call(
                "switchyard_commit", [:], isIdempotent: false,
                for: OutgoingBatch(id: "b", writes: [], mayHaveBeenSent: false))
        } catch {
            failure = error
        }
        try transport.verify()
        return failure
    }

    private static func function(_ name: String, _ reply: ScriptedReply) -> ScriptedExchange {
        .on(.post, "https://demo.supabase.co/rest/v1/rpc/\(name)", reply)
    }

    @Test func `A forbidden write does not wait for a sign-in`() async throws {
        let refusal = ScriptedReply.json(#"{"code":"42501","message":"not allowed"}"#, status: 401)
        let failure = try #require(try await Self.commit(Self.function("switchyard_commit", refusal)))
        #expect(failure.code == .unauthorized && failure.isRefusal)
    }

    @Test func `An auth client that was shut down first refuses no batch`() async throws {
        let service = PostgRESTService(
            project: try SupabaseProject("https://demo.supabase.co"),
            tokens: SupabaseTokens(key: "key", issuer: .supabase) { _ throws(AuthError) in
                throw AuthError(.shutDown, "The client was shut down.")
            }, transport: ScriptedTransport([]))
        let batch = OutgoingBatch(id: "b", writes: [], mayHaveBeenSent: false, userID: "alice")
        let error = await #expect(throws: StorageError.self) {
            try await service.call("switchyard_commit", [:], isIdempotent: false, for: batch)
        }
        #expect(error?.code == .shutDown && error?.isRefusal == false)
    }

    @Test func `A function that vanishes later makes writes wait, and is asked for again`() async throws {
        let gate = SchemaCheck(needed: 1)
        let schema = Self.function("switchyard_schema", .json(#"{"version":1,"serves":1}"#))
        let missing = ScriptedReply.json(#"{"code":"PGRST202","message":"Could not find the function"}"#, status: 404)
        let failure = try await Self.commit(schema, Self.function("switchyard_commit", missing), gate: gate)
        #expect(failure?.code == .failedPrecondition && failure?.isRefusal == false && failure?.isRetryable == true)
        #expect(try await Self.commit(schema, Self.function("switchyard_commit", .json("{}")), gate: gate) == nil)
        #expect(try await Self.commit(Self.function("switchyard_commit", .json("{}")), gate: gate) == nil)
    }

    @Test(arguments: [
        (404, "42883", "function public.switchyard_commit(batch => text, writes => jsonb) does not exist"),
        (404, "42P01", "relation \\\"switchyard.documents\\\" does not exist"), (400, "3F000", "schema does not exist"),
        (400, "42P10", "there is no unique constraint"), (404, "PGRST125", "Invalid path"),
        (406, "PGRST106", "Invalid schema"), (403, "42501", "permission denied for function switchyard_commit"),
        (403, "42501", "permission denied for schema switchyard"),
    ])
    func `A write waits for what the database or its service lacks at the moment`(
        _ status: Int, _ code: String, _ message: String
    ) async throws {
        let gate = SchemaCheck(needed: 1)
        let schema = Self.function("switchyard_schema", .json(#"{"version":1,"serves":1}"#))
        let body = #"{"code":"\#(code)","message":"\#(message)","details":null,"hint":null}"#
        let failure = try await Self.commit(
            schema, Self.function("switchyard_commit", .json(body, status: status)), gate: gate)
        #expect(failure?.code == .failedPrecondition && failure?.isRefusal == false && failure?.isRetryable == true)
        // The version is asked for once more.
        #expect(try await Self.commit(schema, Self.function("switchyard_commit", .json("{}")), gate: gate) == nil)
    }

    @Test(arguments: [
        (403, "42501", "permission denied for function switchyard_schema"), (406, "PGRST106", "Invalid schema"),
        (404, "42P01", "relation does not exist"),
    ])
    func `What is answered to the question for the version refuses no write`(
        _ status: Int, _ code: String, _ message: String
    ) async throws {
        let body = #"{"code":"\#(code)","message":"\#(message)","details":null,"hint":null}"#
        let failure = try await Self.commit(
            Self.function("switchyard_schema", .json(body, status: status)), gate: SchemaCheck(needed: 1))
        #expect(failure != nil && failure?.isRefusal == false)
    }

    @Test(arguments: [
        (400, #"{"code":"","details":null,"hint":null,"message":""}"#), (403, "<html>Forbidden</html>"),
        (404, "not here"), (404, #"{"message":"no Route matched with those values"}"#), (405, ""), (407, ""),
        (418, "[]"), (451, #"{"error":"blocked"}"#), (400, #"{"code":"bad_request","message":"no"}"#),
        (403, #"{"code":1020,"message":"Access denied"}"#), (302, ""), (511, "<html>Sign in</html>"), (501, ""),
    ])
    func `What is not the service's own word about a write refuses nothing`(_ status: Int, _ body: String) async throws
    {
        let reply = ScriptedReply.status(status, body: Array(body.utf8))
        let failure = try #require(try await Self.commit(Self.function("switchyard_commit", reply)))
        #expect(failure.code == .unavailable && failure.isRetryable)
        #expect(!failure.message.isEmpty)
    }

    @Test(arguments: ["", #"{"code":"54000","message":"too large"}"#, "<html>"])
    func `What is too large for whatever lies between will be so again`(_ body: String) {
        let error = StorageError(PostgRESTFailure(status: 413, body: Array(body.utf8)))
        #expect(error.code == .resourceExhausted && !error.isRetryable)
    }

    @Test func `A code of the project's own is one where the body is the service's`() {
        let body = #"{"code":"quota","message":"Too many notes","details":null,"hint":null}"#
        let error = StorageError(PostgRESTFailure(status: 402, body: Array(body.utf8)))
        #expect(error.code == .failedPrecondition && !error.isRetryable)
    }

    @Test func `A function that is missing is distinguished from an operator that does not fit`() {
        let function = Self.failure(404, "42883", "function public.f() does not exist")
        #expect(StorageError(function).code == .unsupported && function.isAboutMissingFunction)
        let operation = Self.failure(404, "42883", "operator does not exist: integer ~~ unknown")
        #expect(StorageError(operation).code == .invalidArgument && !operation.isAboutMissingFunction)
    }

    @Test(arguments: [("<html>", 502), ("", 503), ("<html>", 520), ("[]", 500), ("null", 504)])
    func `What is no answer of the service is worth asking again`(_ body: String, _ status: Int) {
        #expect(StorageError(PostgRESTFailure(status: status, body: Array(body.utf8))).isRetryable)
    }

    @Test func `A value that fits no column is in no description`() {
        for (code, message) in [
            ("22P02", #"invalid input syntax for type uuid: \"ann@example.com\""#),
            ("22003", #"value \"ann@example.com\" is out of range for type integer"#),
        ] {
            let error = StorageError(Self.failure(400, code, message))
            #expect(!error.description.contains("ann@"))
            #expect(error.message.contains("type"), "\(error.message)")
        }
    }

    private static func answers(
        _ script: [ScriptedReply]
    ) async throws -> (tokens: [String?], error: StorageError?) {
        let transport = ScriptedTransport(script.map { .on(.post, rpc, $0) })
        let auth = FixedAuthClient(provider: .supabase) { $0 ? "new" : "old" }
        let service = PostgRESTService(
            project: try SupabaseProject("https://demo.supabase.co"), tokens: SupabaseTokens(key: "key", auth: auth),
            transport: transport)
        var failure: StorageError?
        do throws(StorageError) {
            _ = try await service.call("switchyard_get", [:], isIdempotent: true)
        } catch {
            failure = error
        }
        try transport.verify()
        return (transport.requests.map { $0.request.headers["Authorization"] }, failure)
    }

    @Test func `A token that ran out is replaced once, a missing right is not asked for again`() async throws {
        let expired = ScriptedReply.json(#"{"code":"PGRST303","message":"JWT expired"}"#, status: 401)
        let renewed = try await Self.answers([expired, .json("[]")])
        #expect(renewed.tokens == ["Bearer old", "Bearer new"] && renewed.error == nil)
        let refused = try await Self.answers([expired, expired])
        #expect(refused.error?.code == .unauthenticated)
        let forbidden = try await Self.answers([.json(#"{"code":"42501","message":"no"}"#, status: 403)])
        #expect(forbidden.tokens == ["Bearer old"] && forbidden.error?.code == .unauthorized)
    }

    @Test func `An ambiguous function is no redirect`() async throws {
        let answer = ScriptedReply.json(
            #"{"code":"PGRST203","message":"Could not choose"}"#, status: 300, headers: ["Location": "/elsewhere"])
        #expect(try await Self.answers([answer]).error?.code == .invalidArgument)
    }
}
