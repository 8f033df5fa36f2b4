import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// Where Firebase's file storage differs from what one would expect, each against a scripted server.
@Suite struct FirebaseFilePitfallTests {
    static let root = "https://firebasestorage.googleapis.com/v0/b/demo.firebasestorage.app/o"

    static func client(
        _ transport: ScriptedTransport, host: String = "https://firebasestorage.googleapis.com",
        auth: (any AuthClient)? = FixedAuthClient(provider: .firebase) { refreshing throws(AuthError) in
            refreshing ? "new" : "old"
        },
        appCheck: FirebaseAppCheck? = nil, clock: any Clock<Duration> = ImpatientClock()
    ) throws -> FirebaseFileStorageAdapter {
        let service = FirebaseFileService(
            bucket: "demo.firebasestorage.app", endpoint: try FirebaseEndpoint(host: host),
            tokens: FirebaseTokens(auth: auth, appCheck: appCheck), appHeaders: [("X-Firebase-GMPID", "1:2:web:3")],
            transport: transport, persistently: RetryingCaller(clock: clock, patience: .seconds(120)),
            now: { Timestamp(clampingSeconds: 0, nanoseconds: 0) })
        return FirebaseFileStorageAdapter(service, folder: nil)
    }

    static func object(_ name: String, _ contents: [UInt8] = [], _ more: String = "") -> String {
        let crc = CRC32C.checksum(of: contents)
        let text = Base64.encode(withUnsafeBytes(of: crc.bigEndian) { Array($0) })
        return """
            {"name":"\(name)","bucket":"demo","generation":"17","metageneration":"1","size":"\(contents.count)",
             "contentType":"text/plain","crc32c":"\(text)"\(more)}
            """
    }

    private func failure(
        _ body: () async throws -> Void, file: StaticString = #filePath
    ) async -> FileStorageError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? FileStorageError
        }
    }

    // MARK: Addresses and headers

    @Test func `A path is one segment, with everything coded that could mean something else`() async throws {
        let transport = ScriptedTransport([
            .on(.get, Self.root + "/photos%2F%C3%A9t%C3%A9%201%2B1%25.png", .json(Self.object("photos/été 1+1%.png")))
        ])
        let client = try Self.client(transport)
        #expect(try await client.metadata(of: "photos/été 1+1%.png").path == "photos/été 1+1%.png")
        try transport.verify()
    }

    @Test func `Tokens say Firebase and not Bearer, the app check goes along, and no key does`() async throws {
        let transport = ScriptedTransport([.on(.get, Self.root + "/a", .json(Self.object("a")))])
        _ = try await Self.client(transport, appCheck: .fixed("proof")).metadata(of: "a")
        let headers = transport.requests[0].request.headers
        #expect(headers["Authorization"] == "Firebase old")
        #expect(headers["X-Firebase-AppCheck"] == "proof")
        #expect(headers["X-Firebase-GMPID"] == "1:2:web:3")
        #expect(headers["X-Firebase-Storage-Version"] == "swift/1.0")
        #expect(!headers.contains { $0.name.lowercased().contains("key") })
    }

    @Test func `Without a session, requests carry no token`() async throws {
        let transport = ScriptedTransport([.on(.get, Self.root + "/a", .json(Self.object("a")))])
        let auth = FixedAuthClient(provider: .firebase, user: nil) { _ throws(AuthError) in "any" }
        _ = try await Self.client(transport, auth: auth).metadata(of: "a")
        #expect(transport.requests[0].request.headers["Authorization"] == nil)
    }

    @Test func `Another provider's tokens are not sent`() async throws {
        let transport = ScriptedTransport([.on(.get, Self.root + "/a", .json(Self.object("a")))])
        let auth = FixedAuthClient(provider: "other") { _ throws(AuthError) in "secret" }
        _ = try await Self.client(transport, auth: auth).metadata(of: "a")
        #expect(transport.requests[0].request.headers["Authorization"] == nil)
    }

    @Test func `Plain HTTP to another machine carries no token, to this one it does`() async throws {
        let far = ScriptedTransport()
        let refused = await failure { _ = try await Self.client(far, host: "http://files.example").metadata(of: "a") }
        #expect(refused?.code == .unauthenticated)
        #expect(far.requests.isEmpty)
        for host in ["http://127.0.0.1:9199", "http://localhost:9199", "http://[::1]:9199"] {
            let near = ScriptedTransport([
                .on(.get, host + "/v0/b/demo.firebasestorage.app/o/a", .json(Self.object("a")))
            ])
            _ = try await Self.client(near, host: host).metadata(of: "a")
            #expect(near.requests[0].request.headers["Authorization"] == "Firebase old")
        }
    }

    @Test func `A token that cannot be had fails the call before anything is sent`() async throws {
        let transport = ScriptedTransport()
        let auth = FixedAuthClient(provider: .firebase) { _ throws(AuthError) in
            throw AuthError(.sessionExpired, "Over.")
        }
        let error = await failure { _ = try await Self.client(transport, auth: auth).metadata(of: "a") }
        #expect(error?.code == .unauthenticated)
        #expect(transport.requests.isEmpty)
    }

    @Test func `A refused token is renewed once, not for ever`() async throws {
        let transport = ScriptedTransport([
            .on(.get, Self.root + "/a", .status(401)), .on(.get, Self.root + "/a", .json(Self.object("a"))),
            .on(.get, Self.root + "/a", .status(401)), .on(.get, Self.root + "/a", .status(401)),
        ])
        let client = try Self.client(transport)
        _ = try await client.metadata(of: "a")
        #expect(transport.requests.map { $0.request.headers["Authorization"] } == ["Firebase old", "Firebase new"])
        let error = await failure { _ = try await client.metadata(of: "a") }
        #expect(error?.code == .unauthenticated)
        try transport.verify()
    }

    // MARK: The resource

    @Test func `Integers come as strings or numbers, sums in base64 or in decimal`() throws {
        let production = try FirebaseObject(
            Array(
                #"{"name":"a/b","size":"12345","generation":"17","crc32c":"yZRlqg==","md5Hash":"XrY7u+Ae7tCTyyK7j1rNww==","timeCreated":"2026-01-02T03:04:05.678Z","metadata":{"k":"v"},"downloadTokens":"t1,t2"}"#
                    .utf8))
        #expect(production.stored.metadata.size == 12345)
        #expect(production.stored.metadata.version == "17")
        #expect(production.stored.metadata.md5 == "5eb63bbbe01eeed093cb22bb8f5acdc3")
        #expect(production.stored.metadata.custom == ["k": "v"])
        #expect(production.stored.metadata.createdAt?.nanoseconds == 678_000_000)
        #expect(production.stored.checksums.crc32c == 0xC994_65AA)
        #expect(production.downloadTokens == ["t1", "t2"])
        let emulator = try FirebaseObject(Array(#"{"name":"a/b","size":5,"generation":17,"crc32c":"3381945770"}"#.utf8))
        #expect(emulator.stored.metadata.size == 5)
        #expect(emulator.stored.checksums.crc32c == 0xC994_65AA)
        #expect(emulator.downloadTokens.isEmpty)
    }

    @Test func `What is no object is an answer worth asking for again`() {
        for text in [
            "", "<html>Welcome to the hotel</html>", "{}", "[]", #"{"name":"a"}"#, #"{"name":"a","size":"x"}"#,
        ] {
            let error = #expect(throws: FileStorageError.self) { try FirebaseObject(Array(text.utf8)) }
            #expect(error?.code == .unavailable)
        }
    }

    @Test func `Changes say what goes, and leave out what stays`() async throws {
        let transport = ScriptedTransport([
            .on(
                .patch, Self.root + "/a",
                check: { recorded in
                    recorded.text == #"{"contentType":"text/x","metadata":{"draft":null,"k":"v"}}"#
                        ? nil : recorded.text
                }, .json(Self.object("a")))
        ])
        _ = try await Self.client(transport).updateMetadata(
            of: "a", FileMetadataChanges(contentType: "text/x", custom: ["k": "v", "draft": nil]))
        try transport.verify()
    }

    // MARK: Errors

    @Test(
        arguments: [
            (400, "", "invalidArgument", false), (401, "", "unauthenticated", false),
            (401, #"{"error":{"code":401,"message":"Firebase App Check token is invalid."}}"#, "unauthorized", false),
            (402, "", "quotaExceeded", false), (403, "Forbidden", "unauthorized", false),
            (404, "Not Found", "notFound", false), (408, "", "deadlineExceeded", true), (412, "", "http412", false),
            (413, "", "tooLarge", false), (416, "", "rangeNotSatisfiable", false), (418, "", "http418", false),
            (429, "", "rateLimited", true), (500, "<html>", "unavailable", true), (503, "", "unavailable", true),
        ] as [(Int, String, String, Bool)])
    func `Each status has its meaning, whatever its body is`(
        _ status: Int, _ body: String, _ code: String, _ isRetryable: Bool
    ) {
        let response = HTTPResponse(status: status, headers: ["Retry-After": "7"], body: Array(body.utf8))
        let error = FileStorageError(
            firebase: response, about: .object, in: "photos", now: Timestamp(clampingSeconds: 0, nanoseconds: 0))
        #expect(error.code.rawValue == code)
        #expect(error.isRetryable == isRetryable)
        #expect(error.retryAfter == .seconds(7))
        #expect(body.isEmpty || !error.description.contains(body))
    }

    @Test func `A forgotten session is something else than a missing file`() {
        for status in [404, 410] {
            let error = FileStorageError(
                firebase: HTTPResponse(status: status), about: .session, in: "photos",
                now: Timestamp(clampingSeconds: 0, nanoseconds: 0))
            #expect(error.code == .uploadExpired)
        }
    }

    @Test(arguments: [400, 403, 404, 410], [FileStorageError.FirebaseSubject.object, .session])
    func `A proxy's page says nothing about the file or the upload`(
        _ status: Int, _ subject: FileStorageError.FirebaseSubject
    ) {
        func error(_ headers: HTTPHeaders) -> FileStorageError {
            FileStorageError(
                firebase: HTTPResponse(status: status, headers: headers, body: Array("\n<html>Hello</html>".utf8)),
                about: subject, in: "photos", now: Timestamp(clampingSeconds: 0, nanoseconds: 0))
        }
        #expect(error([:]).code == .unavailable && error([:]).isRetryable)
        // The upload server's own page carries its name.
        #expect(error(["X-GUploader-UploadID": "u"]).code != .unavailable)
    }

    // MARK: Lists

    @Test func `Lists go on while there is a next page, however empty one is, and name each folder once`() async throws
    {
        let page = "?prefix=a%2F&delimiter=%2F&maxResults=2"
        let transport = ScriptedTransport(
            order: .any,
            [
                .on(.get, Self.root + page, .json(#"{"nextPageToken":"t1"}"#)),
                .on(
                    .get, Self.root + page + "&pageToken=t1",
                    .json(
                        #"{"prefixes":["a/m/","a/z/"],"items":[{"name":"a/b"},{"name":"a//x"}],"nextPageToken":"t+2"}"#)
                ),
                .on(.get, Self.root + "/a%2Fb", .json(Self.object("a/b", [1, 2, 3]))),
                .on(
                    .get, Self.root + page + "&pageToken=t%2B2",
                    .json(#"{"prefixes":["a/m/","a/z/"],"items":[{"name":"a/gone"},{"name":"a/zz"}]}"#)),
                .on(.get, Self.root + "/a%2Fgone", .status(404)),
                .on(.get, Self.root + "/a%2Fzz", .json(Self.object("a/zz"))),
            ])
        let client = try Self.client(transport)
        let first = try await client.list("a", pageSize: 2, page: nil)
        #expect(first.files.map(\.path) == ["a/b"])
        #expect(first.files.map(\.size) == [3])
        #expect(first.folders == ["a/m", "a/z"])
        let second = try await client.list("a", pageSize: 2, page: first.nextPage)
        #expect(second.files.map(\.path) == ["a/zz"])
        #expect(second.folders.isEmpty)
        #expect(second.nextPage == nil)
        try transport.verify()
        let error = await failure { _ = try await client.list("a", pageSize: 2, page: "nonsense") }
        #expect(error?.code == .invalidArgument)
    }

    @Test(arguments: [["t1", "t1"], ["t1", "t2", "t1"]])
    func `A list that leads back to itself ends with an error`(tokens: [String]) async throws {
        let page = Self.root + "?prefix=&delimiter=%2F&maxResults=100"
        let addresses = [page] + tokens.dropLast().map { page + "&pageToken=\($0)" }
        let transport = ScriptedTransport(
            zip(addresses, tokens).map { .on(.get, $0, .json(#"{"nextPageToken":"\#($1)"}"#)) })
        let client = try Self.client(transport)
        let error = await failure { _ = try await client.list() }
        #expect(error?.code == .unavailable && error?.isRetryable == false)
        try transport.verify()
    }

    @Test func `A list without arrays is an empty one`() async throws {
        let transport = ScriptedTransport([
            .on(.get, Self.root + "?prefix=&delimiter=%2F&maxResults=100", .json("{}"))
        ])
        let list = try await Self.client(transport).list()
        #expect(list.files.isEmpty && list.folders.isEmpty && list.nextPage == nil)
    }

    // MARK: Addresses for everybody

    @Test func `An address has the first token, and a file without any has none`() async throws {
        let transport = ScriptedTransport([
            .on(.get, Self.root + "/a%20b", .json(Self.object("a b", [], #","downloadTokens":"t1,t2""#))),
            .on(.get, Self.root + "/a%20b", .json(Self.object("a b", [], #","downloadTokens":"""#))),
        ])
        let client = try Self.client(transport)
        let url = try await client.downloadURL(of: "a b", expiresIn: nil)
        #expect(url.absoluteString == Self.root + "/a%20b?alt=media&token=t1")
        let error = await failure { _ = try await client.downloadURL(of: "a b", expiresIn: nil) }
        #expect(error?.code == .noDownloadURL)
    }

    @Test func `Whose an upload is does not hang on who made their tokens`() async throws {
        let auth = FixedAuthClient(provider: "elsewhere", user: "bob") { _ throws(AuthError) in "any" }
        let tokens = FirebaseTokens(auth: auth, appCheck: nil)
        #expect(tokens.auth == nil)
        #expect(try await tokens.userID() == "bob")
        #expect(try await FirebaseTokens(auth: nil, appCheck: nil).userID() == nil)
    }
}
