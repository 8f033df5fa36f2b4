import Switchyard
import SwitchyardBytes
import Testing

@testable import SwitchyardFirestoreFormat

@Suite struct FirestoreAnswerTests {
    @Test func `An answer to a query may have elements without a document`() throws {
        let text = """
            [{"transaction":"dA=="},
            {"document":{"name":"\(root)/q/a"},"readTime":"1970-01-01T00:00:02Z","skippedResults":3},
            {"readTime":"1970-01-01T00:00:01Z","done":true}]
            """
        let elements = try (json(text).array ?? []).map {
            try FirestoreAnswers.QueryElement(firestore: $0, in: database)
        }
        #expect(elements.map(\.document?.path) == [nil, "q/a", nil])
        #expect(elements.map(\.transaction) == ["dA==", nil, nil])
        #expect(elements.map(\.readTime?.microseconds) == [nil, 2_000_000, 1_000_000])
        #expect(throws: FirestoreFormatError.self) {
            try FirestoreAnswers.QueryElement(firestore: json("[]"), in: database)
        }
    }

    @Test func `A batch read says what is there and what is missing`() throws {
        let found = try FirestoreAnswers.BatchGetElement(
            firestore: json(#"{"found":{"name":"\#(root)/t/a"},"readTime":"1970-01-01T00:00:01Z"}"#), in: database)
        #expect(found.document?.exists == true)
        let missing = try FirestoreAnswers.BatchGetElement(
            firestore: json(#"{"missing":"\#(root)/t/zz","readTime":"1970-01-01T00:00:01Z"}"#), in: database)
        #expect(missing.document == .missing("t/zz"))
        let transaction = try FirestoreAnswers.BatchGetElement(
            firestore: json(#"{"transaction":"dA=="}"#), in: database)
        #expect(transaction.document == nil)
        #expect(transaction.transaction == "dA==")
    }

    @Test func `Aggregations come in the order asked for`() throws {
        let text = """
            [{"readTime":"1970-01-01T00:00:01Z"},{"result":{"aggregateFields":{"aggregate_1":{"doubleValue":"NaN"},
            "aggregate_0":{"integerValue":"6"}}},"readTime":"1970-01-01T00:00:01Z","done":true}]
            """
        #expect(
            try FirestoreAnswers.aggregations(firestore: json(text), count: 2, in: database)
                == [.integer(6), .double(.nan)])
        #expect(throws: FirestoreFormatError.self) {
            try FirestoreAnswers.aggregations(firestore: json(text), count: 3, in: database)
        }
        #expect(throws: FirestoreFormatError.self) {
            try FirestoreAnswers.aggregations(firestore: json("[]"), count: 0, in: database)
        }
    }

    @Test(arguments: [
        (#"{"error":{"code":404,"message":"gone","status":"NOT_FOUND"}}"#, 404, FirestoreStatus.notFound, "gone"),
        (#"[{"error":{"code":400,"message":"x","status":"FAILED_PRECONDITION"}}]"#, 400, .failedPrecondition, "x"),
        (#"{"error":{"code":500,"status":"UNKNOWN"}}"#, 500, .unknown, ""),
        (#"{"error":{"code":400,"message":null,"status":"NEVER_HEARD"}}"#, 400, .unknown, ""),
    ])
    func `A refusal is recognized by its status, and by HTTP only when there is none`(
        body: String, http: Int, status: FirestoreStatus, message: String
    ) {
        let failure = FirestoreFailure(body: body.utf8, httpStatus: http)
        #expect(failure.status == status && failure.message == message)
    }

    @Test(arguments: [
        ("Not Found\n", 404, FirestoreStatus.unavailable), ("<html>", 403, .unavailable), ("", 503, .unavailable),
        ("", 502, .unavailable), ("", 501, .unavailable), ("", 418, .unavailable), ("", 409, .unavailable),
        (#"{"error":"forbidden"}"#, 403, .unavailable), ("", 302, .unavailable), ("", 401, .unauthenticated),
        ("", 408, .deadlineExceeded), ("", 504, .deadlineExceeded), ("", 429, .resourceExhausted),
        ("", 413, .invalidArgument),
    ])
    func `What something else answers refuses nothing, unless it is too large`(
        body: String, http: Int, status: FirestoreStatus
    ) {
        let failure = FirestoreFailure(body: body.utf8, httpStatus: http)
        #expect(failure.status == status && failure.message.contains("\(http)"))
    }

    @Test(
        arguments: [
            ("NEVER_HEARD", "NEVER_HEARD"), ("NOT_FOUND", nil), ("alice@example.com is barred", nil), ("", nil),
        ] as [(String, String?)])
    func `A word for a status that is unknown is preserved, other text is not`(status: String, kept: String?) {
        let body = #"{"error":{"code":400,"message":"x","status":"\#(status)"}}"#
        #expect(FirestoreFailure(body: body.utf8, httpStatus: 400).foreignStatus == kept)
    }

    @Test(
        arguments: [
            (#"[{"@type":"x"},{"reason":"SERVICE_DISABLED","domain":"googleapis.com"}]"#, "SERVICE_DISABLED"),
            (#"[{"reason":"API_KEY_INVALID"}]"#, "API_KEY_INVALID"), ("[]", nil), ("7", nil),
            (#"[{"domain":"example.com","reason":"X"}]"#, nil), (#"[{"reason":"alice@example.com"}]"#, nil),
        ] as [(String, String?)])
    func `What Google's gate says is told apart from what the service says`(details: String, reason: String?) {
        let body = #"{"error":{"code":403,"status":"PERMISSION_DENIED","details":\#(details)}}"#
        let failure = FirestoreFailure(body: body.utf8, httpStatus: 403)
        #expect(failure.reason == reason && failure.status == .permissionDenied)
    }

    @Test(arguments: FirestoreStatus.allCases) func `Every code has a name, a number and a body`(
        status: FirestoreStatus
    ) {
        #expect(FirestoreStatus(name: status.name) == status)
        let failure = FirestoreFailure(status, "m")
        #expect(FirestoreFailure(body: failure.body.bytes(), httpStatus: 0) == failure)
        #expect(FirestoreFailure(rpcStatus: failure.rpcStatus) == failure)
    }

    @Test func `An unknown code on a stream is an internal error`() {
        #expect(FirestoreFailure(error: ["status": "X"], ifUnknown: .internal).status == .internal)
    }
}
