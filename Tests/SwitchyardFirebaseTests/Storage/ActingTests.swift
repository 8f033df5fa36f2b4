import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase

/// A server that acts for very many people at once, over one transport.
@Suite struct ActingTests {
    /// Takes every commit and every read of a document of the token's owner, and counts the others; tokens that have run out are
    /// refused.
    private final class Witness: Transport {
        private let counts = Mutex((good: 0, foreign: 0, refused: 0, shutDowns: 0))
        var good: Int { counts.withLock { $0.good } }
        var foreign: Int { counts.withLock { $0.foreign } }
        var refused: Int { counts.withLock { $0.refused } }
        var shutDowns: Int { counts.withLock { $0.shutDowns } }

        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            let token = (request.headers["Authorization"] ?? "").dropFirst("Bearer ".count)
            let owner = token.drop { $0 != "-" }.dropFirst()
            let body = String(decoding: request.body, as: UTF8.self)
            // Others get their turn between the question and its answer.
            await Task.yield()
            if Task.isCancelled { throw TransportError(.cancelled, "The exchange was cancelled.") }
            let document = "projects/demo/databases/(default)/documents/users/\(owner)/notes/a"
            let isOwn = !owner.isEmpty && body.contains("\"\(document)\"")
            let isOld = token.hasPrefix("old-")
            counts.withLock {
                if !isOwn { $0.foreign += 1 } else if isOld { $0.refused += 1 } else { $0.good += 1 }
            }
            if isOld { return .text(ActingTests.expired, status: 401) }
            let time = "2026-01-01T00:00:00.000000Z"
            if request.url.hasSuffix(":batchGet") {
                let fields = #""fields":{"n":{"integerValue":"\#(owner)"}}"#
                return .text(
                    #"[{"found":{"name":"\#(document)",\#(fields),"createTime":"\#(time)","updateTime":"\#(time)"},"#
                        + #""readTime":"\#(time)"}]"#)
            }
            return .text(#"{"writeResults":[{"updateTime":"\#(time)"}],"commitTime":"\#(time)"}"#)
        }

        func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream {
            throw TransportError(.unsupported, "No streams here.")
        }
        func upload(
            _ request: HTTPRequest, body: RequestBody, progress: SwitchyardWire.TransferProgress?
        ) async throws(TransportError) -> HTTPResponse { throw TransportError(.unsupported, "No files here.") }
        func download(
            _ request: HTTPRequest, to file: FileDestination, progress: SwitchyardWire.TransferProgress?
        ) async throws(TransportError) -> HTTPResponse { throw TransportError(.unsupported, "No files here.") }
        func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection {
            throw TransportError(.unsupported, "No web sockets here.")
        }
        func shutDown() async { counts.withLock { $0.shutDowns += 1 } }
    }

    private static func caller(_ name: String, isOld: Bool = false) -> VerifiedToken {
        caller(name, token: (isOld ? "old-" : "token-") + name)
    }

    private static func caller(_ name: String, token: String) -> VerifiedToken {
        VerifiedToken(
            token: Secret(token), provider: .firebase, userID: name,
            issuer: "https://securetoken.google.com/demo", expiresAt: Date(timeIntervalSinceNow: 3600))
    }

    @Test func `Thousands of callers at once write and read as themselves, while some renew tokens and some leave`()
        async throws
    {
        let witness = Witness()
        let module = FirebaseModule(FirebaseConfiguration(project: "demo", apiKey: "key"), environment: [:]) { witness }
        let backend = try await Infrastructure(module)
        let crowd = Crowd(RunSize.full(10_000, part: 2_000), triesOthers: false) { number, isOld in
            Self.caller("\(number)", isOld: isOld)
        }
        let outcome = try await crowd.ask(backend)
        #expect(outcome.failures.prefix(3) == [])
        #expect(outcome.mixedUp.prefix(3) == [])
        #expect(outcome.served == crowd.staying && outcome.renewed == crowd.renewing)
        #expect(witness.foreign == 0)
        #expect(witness.good >= 2 * crowd.staying && witness.refused >= crowd.renewing)
        #expect(witness.shutDowns == 0, "what all share outlives each of them")
        await backend.shutDown()
        #expect(witness.shutDowns > 0)
        let over = await #expect(throws: InfrastructureError.self) { try await backend.acting(as: Self.caller("x")) }
        #expect(over?.code == .shutDown)
    }

    @Test func `A caller is who the token says, and no one signs in or out with it`() async throws {
        let backend = try await Infrastructure(.firebase(project: "demo", apiKey: "key"))
        let mine = try await backend.acting(as: Self.caller("ada"))
        #expect(await mine.auth.currentUser?.id == "ada" && mine.auth.provider == .firebase)
        #expect(try await mine.auth.accessToken().value == "token-ada")
        let refreshing = await #expect(throws: AuthError.self) { try await mine.auth.accessToken(refreshing: true) }
        #expect(refreshing?.code == .sessionExpired)
        let signingOut = await #expect(throws: AuthError.self) { try await mine.auth.signOut() }
        #expect(signingOut?.code == .unsupported)
        #expect(!mine.storage.capabilities.offline && mine.storage.capabilities.liveStreams)
        let cache = await #expect(throws: StorageError.self) { try await mine.storage.document("a/b", from: .cache) }
        #expect(cache?.code == .unsupported)
        await backend.shutDown()
    }

    // MARK: Streams

    @Test func `Streams of one caller share a channel, which is closed after the last, and two callers share none`()
        async throws
    {
        let site = try LocalSite()
        let opened = CountingTransport(CurlTransport(), counting: "CVER=22")
        let closed = CountingTransport(opened, counting: "TYPE=terminate")
        let backend = try await Infrastructure(FirebaseModule(site.configuration, environment: [:]) { closed })
        let ada = Self.caller("ada", token: site.firebase.idToken(for: "ada"))
        let ben = Self.caller("ben", token: site.firebase.idToken(for: "ben"))
        func client(_ caller: VerifiedToken) async throws -> any StorageClient {
            try await backend.acting(as: caller).storage
        }
        try await client(ada).setDocument("notes/a", ["n": 1])
        let readers = [
            FollowedDocument("notes/a", on: try await client(ada)),
            FollowedDocument("notes/a", on: try await client(ada)),
        ]
        for reader in readers { try await eventually("the document") { reader.number == 1 } }
        #expect(opened.count == 1)
        let other = FollowedDocument("notes/a", on: try await client(ben))
        try await eventually("the document") { other.number == 1 }
        #expect(opened.count == 2)
        readers[0].leave()
        try await client(ben).setDocument("notes/a", ["n": 2])
        for reader in [readers[1], other] { try await eventually("the change") { reader.number == 2 } }
        #expect(opened.count == 2 && closed.count == 0)
        readers[1].leave()
        try await eventually("the caller's channel is closed") { closed.count == 1 }
        try await client(ada).setDocument("notes/a", ["n": 3])
        try await eventually("the other goes on") { other.number == 3 }
        other.leave()
        try await eventually("the other caller's, too") { closed.count == 2 }
        #expect(opened.count == 2)
        await backend.shutDown()
        await site.firebase.stop()
    }

    // MARK: Tokens that have run out

    private static let expired = #"{"error":{"code":401,"message":"expired","status":"UNAUTHENTICATED"}}"#

    /// A Firestore that takes no token.
    private static func refusing() -> AnsweringTransport {
        AnsweringTransport { _ in .text(Self.expired, status: 401) }
    }

    @Test func `A caller's stream ends once the token has run out, and says who can renew it`() async throws {
        let transport = Self.refusing()
        let module = FirebaseModule(FirebaseConfiguration(project: "demo", apiKey: "key"), environment: [:]) {
            transport
        }
        let backend = try await Infrastructure(module)
        let mine = try await backend.acting(as: Self.caller("ada"))
        for _ in 0..<2 {
            let error = await #expect(throws: StorageError.self) {
                for try await _ in mine.storage.snapshots(of: "users/ada" as StoragePath) {}
            }
            #expect(error?.code == .unauthenticated && error?.isRetryable == false)
            #expect(error?.message.contains("Its sender has to refresh it") == true)
        }
        await backend.shutDown()
    }

    @Test func `A caller's token that is refused is sent once`() async throws {
        let transport = Self.refusing()
        let module = FirebaseModule(FirebaseConfiguration(project: "demo", apiKey: "key"), environment: [:]) {
            transport
        }
        let backend = try await Infrastructure(module)
        let mine = try await backend.acting(as: Self.caller("ada"))
        let error = await #expect(throws: StorageError.self) { try await mine.storage.document("users/ada") }
        #expect(error?.code == .unauthenticated && error?.isRetryable == false)
        #expect(transport.requests.count == 1)
        await backend.shutDown()
    }

    @Test func `A credential of the project that is refused is renewed once, and not asked with any more`() async throws
    {
        let transport = Self.refusing()
        let credential = FirebaseCredential.tokens { isRefused in
            .init(isRefused ? "new" : "old", expiresAt: .distantFuture)
        }
        let configuration = FirebaseConfiguration(project: "demo", apiKey: "key", credential: credential)
        let backend = try await Infrastructure(FirebaseModule(configuration, environment: [:]) { transport })
        let project = try await backend.actingAsProject()
        let reading = await #expect(throws: StorageError.self) { try await project.storage.document("users/ada") }
        #expect(reading?.code == .unauthenticated && reading?.isRetryable == false)
        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer old", "Bearer new"])
        let writing = await #expect(throws: StorageError.self) {
            try await project.storage.setDocument("users/ada", ["n": 1])
        }
        #expect(writing?.code == .unauthenticated && transport.requests.count == 4)
        await backend.shutDown()
    }
}
