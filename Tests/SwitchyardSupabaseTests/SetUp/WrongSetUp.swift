import Foundation
import Switchyard
import SwitchyardTestSupport
import SwitchyardWire

@testable import SwitchyardSupabase

/// An app in front of a project that is not set up as it should be, whatever is asked.
struct WrongSetUp: Sendable {
    static let url = "https://demo.supabase.co"

    let backend: Infrastructure
    let transport: AnsweringTransport
    let log = EventLog()

    /// - Parameters:
    ///   - auth: Who is signed in elsewhere.
    ///   - answer: To every request, but where the functions are asked for their version if `hasFunctions`.
    init(
        url: String = Self.url, auth: FixedAuthClient? = nil, hasFunctions: Bool = false,
        now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }, sockets: (any Transport)? = nil,
        _ answer: @escaping AnsweringTransport.Answer
    ) async throws {
        let transport = AnsweringTransport(sockets: sockets) { request throws(TransportError) in
            if hasFunctions, request.url.hasSuffix("/rpc/switchyard_schema") {
                return .text(#"{"version":\#(DocumentSchema.version),"serves":1}"#)
            }
            return try answer(request)
        }
        self.transport = transport
        let configuration = SupabaseConfiguration(url: url, key: "sb_publishable_1", bucket: "photos")
        let module = SupabaseModule(configuration, transport: { transport })
        var selection = InfrastructureSelection(default: .supabase)
        if auth != nil { selection.auth = ElsewhereModule.provider }
        let factory = InfrastructureFactory([module] + (auth.map { [ElsewhereModule($0)] } ?? []))
        backend = try await factory.make(selection, in: InfrastructureOptions(now: now, observer: log))
    }

    /// What a call says that fails.
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

    /// What an observer is notified within ten seconds while a live query is open.
    func following(_ isIt: @escaping @Sendable (InfrastructureEvent.Kind) -> Bool) async throws {
        let stream = backend.storage.snapshots(of: Query(in: "users"))
        let following = Task { for try await _ in stream {} }
        defer { following.cancel() }
        try await eventually("an observer is notified", within: .seconds(10)) { log.kinds.contains(where: isIt) }
    }
}

/// Accounts somewhere else, and nothing more.
private struct ElsewhereModule: InfrastructureModule {
    static let provider: InfrastructureProvider = "elsewhere"
    struct Configuration: Codable, Sendable {}

    let configuration = Configuration()
    private let client: FixedAuthClient

    init(_ client: FixedAuthClient) { self.client = client }
    init(_ configuration: Configuration) { client = .signedIn("alice") }

    func makeAuthClient(_ context: ModuleContext) async throws(InfrastructureError) -> any AuthClient { client }
}
