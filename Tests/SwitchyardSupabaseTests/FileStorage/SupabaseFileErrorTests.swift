import Foundation
import Switchyard
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// What an answer of the file service means, whatever disguise it comes in.
@Suite struct SupabaseFileErrorTests {
    private func error(
        _ body: String, status: Int, isSession: Bool = false, headers: HTTPHeaders = [:]
    ) -> FileStorageError {
        FileStorageError(
            supabase: HTTPResponse(status: status, headers: headers, body: Array(body.utf8)), isSession: isSession,
            in: SupabaseBuckets(main: "photos"),
            now: Timestamp(clampingSeconds: 0, nanoseconds: 0))
    }

    @Test(arguments: [
        ("NoSuchKey", "not_found", 404, FileStorageError.Code.notFound),
        ("NoSuchBucket", "Bucket not found", 404, .notFound),
        ("KeyAlreadyExists", "Duplicate", 409, .alreadyExists),
        ("EntityTooLarge", "Payload too large", 413, .tooLarge),
        ("InvalidMimeType", "invalid_mime_type", 415, .invalidArgument),
        ("AccessDenied", "Unauthorized", 403, .unauthorized),
        ("SlowDown", "too_many_connections", 429, .rateLimited),
    ])
    func `The same failure under its new name, its old one or behind a true status is the same error`(
        _ name: String, _ oldName: String, _ status: Int, _ code: FileStorageError.Code
    ) {
        let text = "text of the server"
        #expect(
            error(
                #"{"statusCode":"\#(status)","error":"\#(oldName)","message":"\#(text)","code":"\#(name)"}"#,
                status: 400
            ).code == code)
        #expect(
            error(#"{"statusCode":\#(status),"error":"\#(oldName)","message":"\#(text)"}"#, status: 400).code == code)
        #expect(error(#"{"code":"\#(name)","message":"\#(text)"}"#, status: status).code == code)
    }

    @Test(arguments: [
        #"{"statusCode":"403","error":"Unauthorized","message":"jwt expired","code":"AccessDenied"}"#,
        #"{"statusCode":"403","error":"Unauthorized","message":"\"exp\" claim timestamp check failed"}"#,
        #"{"statusCode":"400","error":"InvalidJWT","message":"invalid"}"#,
        #"{"statusCode":"403","error":"Unauthorized","message":"Invalid Compact JWS"}"#,
    ])
    func `A token that ran out looks like a permission and is none`(_ body: String) {
        #expect(error(body, status: 400).code == .unauthenticated)
    }

    @Test func `A policy's refusal is not mistaken for a token's by a word inside another`() {
        let body =
            #"{"statusCode":"403","error":"Unauthorized","message":"new row violates row-level security policy for \"exports\""}"#
        #expect(error(body, status: 400).code == .unauthorized)
    }

    @Test(arguments: [
        (404, FileStorageError.Code.uploadExpired), (410, .uploadExpired), (423, .unavailable), (413, .tooLarge),
        (409, .alreadyExists), (403, .unauthorized),
    ])
    func `Resumable uploads answer in plain words with their true status`(_ status: Int, _ code: FileStorageError.Code)
    {
        #expect(error("Some plain words\n", status: status, isSession: true).code == code)
    }

    @Test(arguments: [400, 403, 404, 410, 451], [true, false])
    func `A proxy's page says nothing about the file or the upload`(_ status: Int, _ isSession: Bool) {
        let error = error("<!doctype html><title>Hello</title>", status: status, isSession: isSession)
        #expect(error.code == .unavailable && error.isRetryable)
    }

    @Test(arguments: [
        ("<html>502</html>", 502, FileStorageError.Code.unavailable, true),
        (#"{"statusCode":"544","error":"DatabaseTimeout","message":"x"}"#, 544, .unavailable, true),
        (#"{"statusCode":"409","error":"x","message":"x","code":"ResourceLocked"}"#, 400, .unavailable, true),
        (#"{"message":"Invalid API key"}"#, 401, .unauthenticated, false),
        (#"{"statusCode":"409","error":"x","message":"x","code":"FeatureNotEnabled"}"#, 400, .unsupported, false),
        ("", 400, .invalidArgument, false),
    ])
    func `What passes may be tried again, and the rest not`(
        _ body: String, _ status: Int, _ code: FileStorageError.Code, _ isRetryable: Bool
    ) {
        let error = error(body, status: status)
        #expect(error.code == code && error.isRetryable == isRetryable)
    }

    @Test func `No text of the server is in an error's description, and its request to wait is`() {
        let error = error(
            #"{"statusCode":"429","error":"SlowDown","message":"user alice@example.com is too fast"}"#, status: 429,
            headers: ["Retry-After": "7"])
        #expect(!error.description.contains("alice"))
        #expect(error.retryAfter == .seconds(7))
    }
}
