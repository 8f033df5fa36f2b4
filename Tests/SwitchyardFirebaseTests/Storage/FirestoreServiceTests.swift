import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// Who asks, what an answer is worth, and what is never sent.
@Suite struct FirestoreServiceTests {
    private func alice() -> FixedAuthClient { FixedAuthClient(provider: .firebase) { $0 ? "fresh" : "stale" } }

    // MARK: Trees

    @Test func `A page of a tree that counts the document itself is not the last one`() async throws {
        func page(_ paths: [String]) -> ScriptedExchange {
            let rows = paths.map { #"{"document":\#(FirestoreBed.document($0)),"readTime":"\#(FirestoreBed.time)"}"# }
            return .matching("runQuery") {
                $0.request.url.hasSuffix("/documents/trees/a:runQuery")
            } reply: { _ in
                .json("[" + rows.joined(separator: ",") + "]")
            }
        }
        let bed = try FirestoreBed(
            page(["trees/a"] + (0..<499).map { "trees/a/leaves/\($0)" }), FirestoreBed.committed(499),
            page(["trees/a", "trees/a/leaves/last"]), FirestoreBed.committed(1), FirestoreBed.found("trees/a"),
            FirestoreBed.committed(1))
        #expect(try await bed.service.deleteTree(at: "trees/a") { _ in } == 501)
        try bed.transport.verify()
    }

    // MARK: Tokens

    @Test func `Every call says who asks, for which app and which database`() async throws {
        let appCheck = FirebaseAppCheck { _ in "app-token" }
        let bed = try FirestoreBed(
            FirestoreBed.found("a/b"), FirestoreBed.committed(1), auth: alice(), appCheck: appCheck)
        _ = try await bed.service.documents(["a/b"])
        _ = try await bed.service.commit([.set("a/b", ["n": 1])])
        for index in 0..<2 {
            #expect(bed.header("Authorization", index) == "Bearer stale")
            #expect(bed.header("X-Firebase-AppCheck", index) == "app-token")
            #expect(bed.header("x-goog-api-key", index) == "the-key")
            #expect(bed.header("X-Firebase-GMPID", index) == "1:1:web:abc")
            #expect(bed.header("x-goog-request-params", index) == "project_id=demo")
            #expect(bed.header("Content-Type", index) == "application/json", "a form would be answered with 404")
            #expect(!bed.transport.requests[index].request.url.contains("the-key"), "addresses are logged")
        }
        try bed.transport.verify()
    }

    @Test func `A database with a name is named on every call`() async throws {
        let bed = try FirestoreBed(FirestoreBed.call("commit", "{}", status: 500), database: "second")
        _ = await bed.error { () async throws(StorageError) in try await bed.service.commit([.set("a/b", ["n": 1])]) }
        #expect(bed.header("x-goog-request-params", 0) == "project_id=demo&database_id=second")
        #expect(bed.transport.requests[0].request.url.contains("/databases/second/documents"))
    }

    @Test(arguments: ["batchGet", "commit"])
    func `A token that is not taken is renewed once, and the call repeated`(name: String) async throws {
        let auth = alice()
        let bed = try FirestoreBed(FirestoreBed.refusal(name, "UNAUTHENTICATED", status: 401), auth: auth)
        bed.transport.expect(name == "commit" ? FirestoreBed.committed(1) : FirestoreBed.found("a/b"))
        if name == "commit" {
            _ = try await bed.service.commit([.set("a/b", ["n": 1])])
        } else {
            _ = try await bed.service.documents(["a/b"])
        }
        #expect(auth.requests == [false, true])
        #expect(bed.header("Authorization", 1) == "Bearer fresh")
        try bed.transport.verify()
    }

    @Test func `A new token that is not taken either is an error, and no third attempt`() async throws {
        let refusal = FirestoreBed.refusal("batchGet", "UNAUTHENTICATED", status: 401)
        let bed = try FirestoreBed(refusal, refusal, auth: alice())
        let error = await bed.error { () async throws(StorageError) in try await bed.service.documents(["a/b"]) }
        #expect(error?.code == .unauthenticated)
        try bed.transport.verify()
    }

    @Test func `Without a user, the error says at once that a token is needed`() async throws {
        let bed = try FirestoreBed(FirestoreBed.refusal("batchGet", "UNAUTHENTICATED", status: 401))
        let error = await bed.error { () async throws(StorageError) in try await bed.service.documents(["a/b"]) }
        #expect(error?.code == .unauthenticated)
        #expect(bed.header("Authorization", 0) == nil)
        try bed.transport.verify()
    }

    @Test(arguments: ["http://10.0.0.1:8080", "http://firestore.example.com", "http://127.example.com"])
    func `Plain HTTP to another machine carries no token, neither the user's nor the app's`(host: String) async throws {
        let user = try FirestoreBed(auth: alice(), host: host)
        let app = try FirestoreBed(appCheck: FirebaseAppCheck { _ in "app-token" }, host: host)
        for bed in [user, app] {
            let error = await bed.error { () async throws(StorageError) in try await bed.service.documents(["a/b"]) }
            #expect(error?.code == .unauthenticated)
            let stream = await bed.error { () async throws(StorageError) in try await bed.driver.openWatch() }
            #expect(stream?.code == .unauthenticated)
            #expect(bed.transport.requests.isEmpty)
        }
        let signedOut = try FirestoreBed(FirestoreBed.found("a/b"), host: host)
        _ = try await signedOut.service.documents(["a/b"])
    }

    @Test(arguments: ["127.0.0.1:8080", "localhost:8080", "[::1]:8080"])
    func `Plain HTTP to this machine carries tokens`(emulator: String) async throws {
        let bed = try FirestoreBed(FirestoreBed.found("a/b"), auth: alice(), emulator: emulator)
        _ = try await bed.service.documents(["a/b"])
        #expect(bed.header("Authorization", 0) == "Bearer stale")
    }

    @Test func `A batch of one user is not sent in another's name`() async throws {
        let bed = try FirestoreBed(auth: alice())
        let batch = OutgoingBatch(
            id: "b", writes: [try .set("a/b", ["n": 1])], mayHaveBeenSent: false, userID: "bob")
        let error = await bed.error { () async throws(StorageError) in try await bed.driver.commit(batch) }
        #expect(error?.code == .unavailable && error?.isRetryable == true)
        #expect(bed.transport.requests.isEmpty)
    }

    // MARK: What is asked

    @Test func `A collection below a document of any name is found`() async throws {
        let bed = try FirestoreBed(
            .matching("runQuery", { $0.request.url.hasSuffix("/documents/a/x%20y%2B1%25%3F%23%C3%A9:runQuery") }) { _ in
                .json(#"[{"readTime":"\#(FirestoreBed.time)"}]"#)
            })
        #expect(try await bed.service.results(of: Query(in: "a/x y+1%?#é/c")).documents.isEmpty)
        try bed.transport.verify()
    }

    @Test func `What is computed with different fields is asked for apart, five at a time`() async throws {
        func answer(_ values: [Int]) -> ScriptedExchange {
            let fields = values.enumerated().map { #""aggregate_\#($0)":{"integerValue":"\#($1)"}"# }
            return FirestoreBed.call(
                "runAggregationQuery",
                #"[{"result":{"aggregateFields":{\#(fields.joined(separator: ","))}},"readTime":"\#(FirestoreBed.time)"}]"#
            )
        }
        let bed = try FirestoreBed(answer([10, 11]), answer([20, 21, 22, 23, 24]), answer([25]), answer([30]))
        let sums = [Aggregation](repeating: .sum("n"), count: 6)
        let found = try await bed.driver.aggregate(Query(in: "a"), [.count] + sums + [.average("m"), .count])
        #expect(found == [10, 20, 21, 22, 23, 24, 25, 30, 11])
        try bed.transport.verify()
    }

    // MARK: Refusals

    @Test(arguments: [
        FirestoreStatus.invalidArgument, .notFound, .alreadyExists, .permissionDenied, .failedPrecondition,
        .outOfRange, .unimplemented, .dataLoss,
    ])
    func `A write that is refused for good leaves the queue`(_ status: FirestoreStatus) {
        #expect(StorageError(FirestoreFailure(status, "no")).isRefusal)
    }

    @Test(arguments: [
        FirestoreStatus.cancelled, .unknown, .deadlineExceeded, .resourceExhausted, .aborted, .internal, .unavailable,
        .unauthenticated,
    ])
    func `A write that may succeed later stays in the queue`(_ status: FirestoreStatus) {
        #expect(!StorageError(FirestoreFailure(status, "no")).isRefusal)
    }

    @Test(arguments: [(403, "<html>Forbidden</html>"), (404, ""), (400, "[]"), (451, "{}"), (511, "<html>")])
    func `A gateway's page leaves a write in the queue`(status: Int, body: String) async throws {
        let bed = try FirestoreBed(FirestoreBed.call("commit", body, status: status))
        let batch = OutgoingBatch(id: "b", writes: [try .set("a/b", ["n": 1])], mayHaveBeenSent: false)
        let error = await bed.error { () async throws(StorageError) in try await bed.driver.commit(batch) }
        #expect(error?.code == .unavailable && error?.isRetryable == true)
    }

    @Test(arguments: [
        (
            403,
            #"{"error":{"code":403,"message":"Cloud Firestore API has not been used.","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED","domain":"googleapis.com"}]}}"#
        ),
        (
            404,
            #"{"error":{"code":404,"message":"The database (default) does not exist for project demo.","status":"NOT_FOUND"}}"#
        ),
    ])
    func `A project that is not set up leaves a write in the queue`(status: Int, body: String) async throws {
        let bed = try FirestoreBed(FirestoreBed.call("commit", body, status: status))
        let batch = OutgoingBatch(id: "b", writes: [try .set("a/b", ["n": 1])], mayHaveBeenSent: false)
        let error = await bed.error { () async throws(StorageError) in try await bed.driver.commit(batch) }
        #expect(error?.code == .failedPrecondition && error?.isRefusal == false)
    }

    private static func batch(_ fields: WriteFields) throws -> OutgoingBatch {
        OutgoingBatch(id: "b", writes: [try .merge("a/b", fields)], mayHaveBeenSent: false, userID: "alice")
    }

    @Test func `An auth client that was shut down first refuses no batch`() async throws {
        let auth = FixedAuthClient(provider: .firebase) { _ throws(AuthError) in
            throw AuthError(.shutDown, "The client was shut down.")
        }
        let bed = try FirestoreBed(auth: auth)
        let batch = try Self.batch(["n": 1])
        let error = await bed.error { () throws(StorageError) in try await bed.driver.commit(batch) }
        #expect(error?.code == .shutDown && error?.isRefusal == false)
    }

    @Test func `A batch that is too large for the server is refused without being sent`() async throws {
        let bed = try FirestoreBed()
        let text = String(repeating: "x", count: 1_000_000)
        let writes = try (0..<11).map { try DocumentWrite.set(StoragePath(validating: "a/\($0)"), ["text": .of(text)]) }
        let batch = OutgoingBatch(id: "b", writes: writes, mayHaveBeenSent: false)
        let error = await bed.error { () throws(StorageError) in try await bed.driver.commit(batch) }
        #expect(error?.code == .invalidArgument && error?.isRefusal == true)
        #expect(bed.transport.requests.isEmpty)
    }

    @Test func `A name that is in the ledger already is no refusal where the ledger cannot be read`() async throws {
        let bed = try FirestoreBed(
            FirestoreBed.refusal("commit", "ALREADY_EXISTS", status: 409),
            FirestoreBed.refusal("batchGet", "PERMISSION_DENIED", status: 403), ledger: "ledger")
        let batch = try Self.batch(["n": .increment(1)])
        let error = await bed.error { () throws(StorageError) in try await bed.driver.commit(batch) }
        #expect(error?.code == .unauthorized && error?.isRefusal == false)
        try bed.transport.verify()
    }

    // MARK: Streams

    private func handshake(_ check: @escaping @Sendable (RecordedRequest) -> ScriptedReply) -> ScriptedExchange {
        .matching("handshake", { $0.request.url.contains("/Listen/channel?") && $0.request.url.contains("CVER=22") }) {
            check($0)
        }
    }

    @Test func `A stream carries its credentials in its first message, and asks for new ones when they were refused`()
        async throws
    {
        let auth = alice()
        let refusal = handshake { _ in
            .json(#"{"error":{"code":401,"message":"x","status":"UNAUTHENTICATED"}}"#, status: 401)
        }
        let bed = try FirestoreBed(
            refusal, refusal, auth: auth, appCheck: FirebaseAppCheck { _ in "app-token" })
        for attempt in 0..<2 {
            let watch = try await bed.driver.openWatch()
            watch.send(.add(TargetRequest(id: 2, target: .document("a/b"))))
            let error = await bed.error { () async throws(StorageError) in try await watch.next() }
            #expect(error?.code == .unauthenticated)
            let token = attempt == 0 ? "stale" : "fresh"
            #expect(bed.header("Authorization", attempt) == "Bearer \(token)")
            let text = bed.transport.requests[attempt].text
            #expect(text.hasPrefix("headers="), "before the messages, as browsers send it")
            #expect(text.contains(PercentCoding.encode("Authorization:Bearer \(token)\r\n")))
            #expect(text.contains(PercentCoding.encode("X-Firebase-AppCheck:app-token\r\n")))
            watch.close()
        }
        #expect(auth.requests == [false, true])
        try bed.transport.verify()
    }

    // MARK: Answers that are none

    @Test(arguments: [
        (#"[{"error":{"code":400,"message":"the reason","status":"FAILED_PRECONDITION"}}]"#, "failedPrecondition"),
        (
            #"[{"readTime":"2026-11-21T01:54:55Z"},{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}]"#,
            "unavailable"
        ),
        ("<html>", "unavailable"), ("[{]", "unavailable"), (#"[{"document":{"name":"x"}}]"#, "internal"),
        (#"[{"readTime":"2026-11-21T01:54:55Z"}"#, "unavailable"),
    ])
    func `A success that holds an error, or half of a list, is none`(answer: String, code: String) async throws {
        let bed = try FirestoreBed(FirestoreBed.call("runQuery", answer))
        let error = await bed.error { () async throws(StorageError) in try await bed.service.results(of: Query(in: "a"))
        }
        #expect(error?.code.rawValue == code)
    }

    @Test(arguments: [
        #"[{"error":{"code":400,"message":"x","status":"INVALID_ARGUMENT"}}]"#, "[]", "{}", "null", "<html>",
    ])
    func `An aggregation without a result is an error`(answer: String) async throws {
        let bed = try FirestoreBed(FirestoreBed.call("runAggregationQuery", answer))
        let error = await bed.error { () async throws(StorageError) in
            try await bed.service.aggregate(Query(in: "a"), [.count])
        }
        #expect(error != nil)
    }

    @Test(arguments: ["{}", #"{"commitTime":"2026-11-21T01:54:55Z"}"#, #"{"writeResults":[{}]}"#, "[]", ""])
    func `A commit whose answer lacks a time or a result has not succeeded as far as anybody knows`(
        answer: String
    ) async throws {
        let bed = try FirestoreBed(FirestoreBed.call("commit", answer))
        let batch = OutgoingBatch(id: "b", writes: [try .set("a/b", ["n": 1])], mayHaveBeenSent: false)
        #expect(await bed.error { () async throws(StorageError) in try await bed.driver.commit(batch) } != nil)
    }

    @Test func `A read that leaves out a document, or begins a transaction without a name, is an error`() async throws {
        let bed = try FirestoreBed(FirestoreBed.found("a/b"), FirestoreBed.call("beginTransaction", "{}"))
        let read = await bed.error { () async throws(StorageError) in try await bed.service.documents(["a/b", "a/c"]) }
        #expect(read?.code == .internal)
        let begin = await bed.error { () async throws(StorageError) in try await bed.service.beginTransaction() }
        #expect(begin?.code == .internal)
    }

    @Test func `Documents are matched by name, whatever their order`() async throws {
        let bed = try FirestoreBed(
            FirestoreBed.call(
                "batchGet",
                """
                [{"missing":"\(FirestoreBed.root)/a/c","readTime":"\(FirestoreBed.time)"},
                 {"found":\(FirestoreBed.document("a/b")),"readTime":"\(FirestoreBed.time)"}]
                """))
        let found = try await bed.service.documents(["a/b", "a/c", "a/b"]).found
        #expect(found.map(\.path.rawValue) == ["a/b", "a/c", "a/b"] && found.map(\.exists) == [true, false, true])
    }

    // MARK: Errors

    @Test(arguments: [
        ("INVALID_ARGUMENT", 400, "invalidArgument", false), ("OUT_OF_RANGE", 400, "invalidArgument", false),
        ("FAILED_PRECONDITION", 400, "failedPrecondition", false), ("UNAUTHENTICATED", 401, "unauthenticated", true),
        ("PERMISSION_DENIED", 403, "unauthorized", false), ("NOT_FOUND", 404, "notFound", false),
        ("ALREADY_EXISTS", 409, "alreadyExists", false), ("ABORTED", 409, "aborted", true),
        ("RESOURCE_EXHAUSTED", 429, "resourceExhausted", true), ("CANCELLED", 499, "unavailable", true),
        ("UNKNOWN", 500, "unknown", true), ("INTERNAL", 500, "internal", true), ("DATA_LOSS", 500, "dataLoss", false),
        ("UNIMPLEMENTED", 501, "unsupported", false), ("UNAVAILABLE", 503, "unavailable", true),
        ("DEADLINE_EXCEEDED", 504, "deadlineExceeded", true), ("NEVER_HEARD", 418, "NEVER_HEARD", true),
    ])
    func `Statuses of the server`(status: String, http: Int, code: String, isRetryable: Bool) async throws {
        let bed = try FirestoreBed(FirestoreBed.refusal("commit", status, status: http))
        let error = await bed.error { () async throws(StorageError) in
            try await bed.service.commit([.set("a/b", ["n": 1])])
        }
        #expect(error?.code.rawValue == code && error?.isRetryable == isRetryable)
        #expect(error?.message.contains("the reason") == true, "such as the address that makes a missing index")
    }

    @Test(arguments: [
        (
            FirestoreFailure(.notFound, "No document to update: projects/p/databases/(default)/documents/rooms/a"),
            "There is no document at “rooms/a”."
        ),
        (
            FirestoreFailure(.alreadyExists, "Document already exists: projects/p/databases/d/documents/rooms/a/x/y"),
            "There is already a document at “rooms/a/x/y”."
        ),
        (FirestoreFailure(.notFound, "Something else: projects/p"), "Something else: projects/p"),
    ])
    func `Documents that are missing or there already are named as on every provider`(
        failure: FirestoreFailure, text: String
    ) {
        #expect(StorageError(failure).message == text)
    }

    @Test(arguments: [
        (400, "unavailable"), (401, "unauthenticated"), (403, "unavailable"), (404, "unavailable"),
        (408, "deadlineExceeded"), (409, "unavailable"), (413, "invalidArgument"), (429, "resourceExhausted"),
        (500, "unavailable"), (501, "unavailable"), (502, "unavailable"), (504, "deadlineExceeded"),
    ])
    func `A body that says nothing is not the server's word`(http: Int, code: String) async throws {
        let bed = try FirestoreBed(FirestoreBed.call("commit", "Not Found\n", status: http))
        let error = await bed.error { () async throws(StorageError) in
            try await bed.service.commit([.set("a/b", ["n": 1])])
        }
        #expect(error?.code.rawValue == code)
    }

    // MARK: What is not sent

    @Test func `A request that the server would refuse for its size is refused here`() async throws {
        let text = String(repeating: "x", count: 1_000_000)
        let writes = try (0..<5).map { try DocumentWrite.set(StoragePath(validating: "a/b\($0)"), ["text": .of(text)]) }
        let emulator = try FirestoreBed(emulator: "127.0.0.1:8080")
        let refused = await emulator.error { () async throws(StorageError) in try await emulator.service.commit(writes)
        }
        #expect(refused?.code == .invalidArgument && emulator.transport.requests.isEmpty)
        let production = try FirestoreBed(FirestoreBed.committed(5))
        _ = try await production.service.commit(writes)
    }

    @Test func `Orders go out whole, fields quoted, and no one's projection is empty`() async throws {
        let bed = try FirestoreBed(FirestoreBed.call("runQuery", #"[{"readTime":"2026-11-21T01:54:55Z","done":true}]"#))
        let query = Query(in: "a").where("with space", .greaterThan, 1)
        #expect(try await bed.service.results(of: query).documents.isEmpty, "an element without a document is normal")
        let orders = bed.body(0)["structuredQuery"]?["orderBy"]?.array?.map { $0["field"]?["fieldPath"]?.string }
        #expect(orders == ["`with space`", "__name__"])
        #expect(bed.body(0)["structuredQuery"]?["select"] == nil)
    }
}
