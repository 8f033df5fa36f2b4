import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// What is said, and how soon, where a project is not set up as it should be: each row of the article's table.
@Suite struct WrongSetUpTests {
    /// An app in front of it, whatever is asked.
    private struct Site: Sendable {
        let backend: Infrastructure
        let transport: AnsweringTransport
        let log = EventLog()

        init(
            auth: InfrastructureProvider = .firebase,
            now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) },
            _ answer: @escaping AnsweringTransport.Answer
        ) async throws {
            let transport = AnsweringTransport(answer)
            self.transport = transport
            let configuration = FirebaseConfiguration(project: "demo", apiKey: "key", bucket: "photos")
            let module = FirebaseModule(configuration, environment: [:], transport: { transport })
            var selection = InfrastructureSelection(default: .firebase)
            selection.auth = auth
            selection.omit(.messaging)
            let factory = InfrastructureFactory([module, ElsewhereModule()])
            backend = try await factory.make(selection, in: InfrastructureOptions(now: now, observer: log))
        }

        func failure<Failure: ClientError, Result>(
            _ call: (Infrastructure) async throws(Failure) -> Result
        ) async -> Failure? {
            do throws(Failure) {
                _ = try await call(backend)
                return nil
            } catch {
                return error
            }
        }

        func reading() async -> StorageError? {
            await failure { backend throws(StorageError) in try await backend.storage.document("users/alice") }
        }

        /// Why a live query is not up to date.
        func streaming() async throws -> StorageError? {
            try await backend.storage.trouble(of: Query(in: "users"), observedBy: log)
        }

        func signingIn() async -> AuthError? {
            await failure { backend throws(AuthError) in
                try await backend.auth.signIn(with: .password(email: "alice@example.com", "secret"))
            }
        }

        /// Why a write waits, as the queue says, and as its receipt reports it.
        func writing() async throws -> (queued: StorageError?, reported: StorageError?) {
            let receipt = try await backend.storage.setDocument("users/alice", ["name": "Alice"])
            var queued: StorageError?
            try await eventually("the queue says why", within: .seconds(10)) {
                for try await queue in backend.storage.pendingWrites() {
                    queued = queue.first?.lastError
                    break
                }
                return queued != nil
            }
            let reported = await failure { _ throws(StorageError) in try await receipt.acknowledged(within: .zero) }
            return (queued, reported)
        }

        /// Without waiting for the writes that cannot be sent.
        func end() async throws {
            try await backend.storage.disableNetwork()
            await backend.shutDown()
        }
    }

    private static func refusal(_ status: Int, _ name: String, _ message: String, reason: String? = nil) -> HTTPResponse
    {
        var error: JSONObject = ["code": .integer(Int64(status)), "message": .string(message), "status": .string(name)]
        if let reason { error["details"] = [["reason": .string(reason)]] }
        return .text(JSON.object(["error": .object(error)]).text(), status: status)
    }

    @Test(arguments: [
        "https://firestore.googleapis.com/", "firestore.googleapis.com", "https://example.com?x", "ftp://example.com",
    ])
    func `An address that is not valid is refused before anything is asked`(_ address: String) async throws {
        let error = await #expect(throws: InfrastructureError.self) {
            try await Infrastructure(.firebase(project: "demo", apiKey: "key") { $0.hosts.firestore = address })
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("“\(address)” cannot be used") == true)
    }

    @Test(arguments: [200, 404, 403])
    func `A web page is no Firebase: calls, the queue and the observer say what to check`(_ status: Int) async throws {
        let site = try await Site { _ in .text("<!doctype html><title>Welcome</title>", status: status) }
        let read = await site.reading()
        #expect(read?.code == .unavailable)
        #expect(
            read?.message.hasPrefix("Reading “users/alice” failed: “https://firestore.googleapis.com” answered") == true
        )
        #expect(read?.message.contains("web page (HTTP \(status)). Check hosts and emulators") == true)

        #expect(try await site.backend.storage.documents(Query(in: "users")).metadata.isFromCache)
        #expect(
            site.log.kinds.contains {
                if case .readFromCache(let failure) = $0 { failure.message.contains("web page") } else { false }
            })
        let (queued, reported) = try await site.writing()
        #expect(queued?.message.contains("Check hosts and emulators") == true)
        #expect(reported?.message.hasPrefix("Writing “users/alice” is waiting") == true)

        let stream = site.backend.storage.snapshots(of: Query(in: "users"))
        let following = Task { for try await _ in stream {} }
        try await eventually("an observer is notified", within: .seconds(10)) {
            site.log.kinds.contains {
                if case .reconnect(_, _, let failure?) = $0 { failure.message.contains("web page") } else { false }
            }
        }
        following.cancel()
        #expect(await site.signingIn()?.message.contains("Check hosts and emulators") == true)
        try await site.end()
    }

    @Test func `A file call that meets a web page is tried again, and the observer gets the reason`() async throws {
        let site = try await Site { _ in .text("<html>", status: 404) }
        let call = Task {
            await site.failure { backend throws(FileStorageError) in try await backend.files.metadata(of: "a.txt") }
        }
        try await eventually("an observer is notified", within: .seconds(10)) {
            site.log.kinds.contains {
                if case .retry(_, _, _, let failure) = $0 { failure.message.contains("web page") } else { false }
            }
        }
        call.cancel()
        _ = await call.value
        try await site.end()
    }

    @Test func `A key that the project does not take is named, and takes no write out of the queue`() async throws {
        let site = try await Site { _ in
            Self.refusal(
                400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", reason: "API_KEY_INVALID")
        }
        let read = await site.reading()
        #expect(read?.code == .unauthenticated)
        #expect(read?.message.contains("does not accept the API key. Copy apiKey") == true)
        let (queued, reported) = try await site.writing()
        #expect(queued?.code == .unauthenticated && reported?.code == .unauthenticated)
        #expect(reported?.message.contains("Copy apiKey") == true)
        #expect(site.log.refusals.isEmpty)
        let account = await site.signingIn()
        #expect(account?.code == .unauthenticated)
        #expect(account?.message.contains("does not accept the API key (API_KEY_INVALID). Copy apiKey") == true)
        #expect(account?.message.hasPrefix("Signing in failed: ") == true)
        let shown = try await site.streaming()
        #expect(shown?.code == .unauthenticated)
        #expect(shown?.message.contains("does not accept the API key. Copy apiKey") == true)
        try await site.end()
    }

    @Test func `The key of another project shows in the session, and both are named`() async throws {
        let claims: JSON = ["sub": "alice", "aud": "other"]
        let token = "e30." + Base64.encode(claims.bytes(), alphabet: .url) + ".c2ln"
        let transport = AnsweringTransport { _ in .text("[]") }
        let module = FirebaseModule(
            FirebaseConfiguration(project: "demo", apiKey: "key"), environment: [:], transport: { transport })
        let auth = FixedAuthClient(provider: .firebase) { _ in token }
        let storage = try await module.makeStorageClient(ModuleContext(auth: auth))
        let error = await #expect(throws: StorageError.self) { try await storage.document("users/alice") }
        #expect(error?.code == .unauthenticated)
        #expect(error?.message.contains("to the project “other”, but the call is for “demo”") == true)
        #expect(transport.requests.isEmpty)
        await storage.shutDown()
    }

    @Test(
        arguments: [
            (404, "NOT_FOUND", "The database (default) does not exist for project demo Please visit https://x", nil),
            (403, "PERMISSION_DENIED", "Permission denied on resource project demo.", "CONSUMER_INVALID"),
            (403, "PERMISSION_DENIED", "Cloud Firestore API has not been used in project demo", "SERVICE_DISABLED"),
        ] as [(Int, String, String, String?)])
    func `A project or a database that does not exist is named, and takes no write out of the queue`(
        _ status: Int, _ name: String, _ message: String, _ reason: String?
    ) async throws {
        let site = try await Site { _ in Self.refusal(status, name, message, reason: reason) }
        let read = await site.reading()
        #expect(read?.code == .failedPrecondition)
        #expect(read?.message.hasPrefix("Reading “users/alice” failed: ") == true)
        #expect(read?.message.contains("roject") == true)
        let (queued, reported) = try await site.writing()
        #expect(queued?.code == .failedPrecondition)
        #expect(reported?.message.hasPrefix("Writing “users/alice” is waiting") == true)
        #expect(site.log.refusals.isEmpty)
        let shown = try await site.streaming()
        #expect(shown?.code == .failedPrecondition)
        #expect(shown?.message.contains("roject") == true)
        try await site.end()
    }

    @Test func `A project without accounts says where to switch them on`() async throws {
        let site = try await Site { _ in Self.refusal(400, "INVALID_ARGUMENT", "CONFIGURATION_NOT_FOUND") }
        let error = await site.signingIn()
        #expect(error?.code == .failedPrecondition)
        #expect(error?.message.contains("(CONFIGURATION_NOT_FOUND). Open Authentication in the Firebase") == true)
        try await site.end()
    }

    @Test func `Missing rules refuse a write, and a session of another provider is said to mean nothing`() async throws
    {
        let site = try await Site(auth: ElsewhereModule.provider) { _ in
            Self.refusal(403, "PERMISSION_DENIED", "Missing or insufficient permissions.")
        }
        let receipt = try await site.backend.storage.setDocument("users/alice", ["name": "Alice"])
        let error = await site.failure { _ throws(StorageError) in try await receipt.acknowledged() }
        #expect(error?.code == .unauthorized)
        #expect(error?.message.hasPrefix("Writing “users/alice” failed: The security rules do not allow it") == true)
        #expect(error?.message.contains("Firebase's rules do not know sessions of “elsewhere”") == true)
        try await eventually("it is reported") { site.log.refusals == ["users/alice: unauthorized"] }
        try await site.end()
    }

    @Test(arguments: [1, 7 << 20]) func `A missing bucket is named by small uploads and by large ones`(
        _ size: Int
    ) async throws {
        let site = try await Site { _ in Self.refusal(404, "NOT_FOUND", "Not Found.") }
        let error = await site.failure { backend throws(FileStorageError) in
            try await backend.files.put(Data(count: size), at: "a.bin")
        }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("“a.bin”") == true)
        #expect(
            error?.message.contains("The bucket “photos” does not exist. The Firebase console shows its name") == true)
        try await site.end()
    }

    @Test func `A clock that is off is found by the server's time`() async throws {
        let now = Timestamp(microseconds: (784_111_777 + 3 * 86_400) * 1_000_000)
        let site = try await Site(now: { now }) { _ in
            var response = Self.refusal(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
            response.head.headers["Date"] = "Sun, 06 Nov 1994 08:49:37 GMT"
            return response
        }
        let read = await site.reading()
        #expect(read?.code == .unauthenticated)
        #expect(read?.message.contains("This device's clock is 3 days ahead. Set it") == true, "\(read as Any)")
        try await site.end()
    }
}

/// Accounts somewhere else, and nothing more.
private struct ElsewhereModule: InfrastructureModule {
    static let provider: InfrastructureProvider = "elsewhere"
    struct Configuration: Codable, Sendable {}

    let configuration: Configuration

    init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient {
        FixedAuthClient(provider: Self.provider) { _ in "elsewhere's" }
    }
}
