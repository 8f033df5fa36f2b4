import Foundation
import Switchyard
import SwitchyardLocalFirebase
import SwitchyardMock
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase

/// Whose tokens go to Firebase while auth is exchanged.
@Suite struct SwitchedAuthTests {
    /// Remembers which tokens went out.
    private final class Witness: Sendable {
        private let seen = Mutex<Set<String>>([])
        var tokens: Set<String> { seen.withLock { $0 } }

        func module(_ firebase: LocalFirebase) -> FirebaseModule {
            let configuration = FirebaseConfiguration(
                project: firebase.project, apiKey: "any",
                emulators: .init(firestore: firebase.host, auth: firebase.host, storage: firebase.host),
                usesEmulatorVariables: false)
            return FirebaseModule(configuration, environment: [:]) {
                WatchedTransport { [self] request in
                    guard let token = request.headers["Authorization"] else { return }
                    seen.withLock { _ = $0.insert(token) }
                }
            }
        }
    }

    enum Move: CaseIterable, Sendable { case authFirst, storageFirst, both }

    private func move(_ backend: Infrastructure, to provider: InfrastructureProvider, _ move: Move) async throws {
        switch move {
        case .authFirst:
            try await backend.use(provider, for: .auth)
            try await backend.use(provider, for: .storage)
        case .storageFirst:
            try await backend.use(provider, for: .storage)
            try await backend.use(provider, for: .auth)
        case .both:
            var selection = await backend.selection
            selection.auth = provider
            selection.storage = provider
            try await backend.use(selection)
        }
    }

    @Test(arguments: Move.allCases)
    func `Documents are asked for as who is signed in, in whichever order both have come to Firebase`(
        _ order: Move
    ) async throws {
        let firebase = try LocalFirebase()
        let witness = Witness()
        let backend = try await InfrastructureFactory(witness.module(firebase), MockModule()).make(
            InfrastructureSelection(default: .mock))
        try await backend.auth.signUp(email: "ada@example.com", password: "long enough")
        try await move(backend, to: .firebase, order)
        try await backend.auth.signUp(email: "ada@example.com", password: "long enough")
        try await backend.storage.setDocument("notes/1", ["n": 1]).acknowledged()
        #expect(try await backend.storage.document("notes/1", from: .server)["n"] == 1)
        let token = try await backend.auth.accessToken().value.reveal()
        #expect(witness.tokens.contains("Bearer " + token))
        await backend.shutDown()
        await firebase.stop()
    }

    @Test func `No token of another provider goes to Firebase, also after a switch`() async throws {
        let firebase = try LocalFirebase()
        let witness = Witness()
        var selection = InfrastructureSelection(default: .mock)
        (selection.auth, selection.storage) = (.firebase, .firebase)
        let backend = try await InfrastructureFactory(witness.module(firebase), MockModule()).make(selection)
        try await backend.auth.signUp(email: "ada@example.com", password: "long enough")
        try await backend.storage.setDocument("notes/1", ["n": 1]).acknowledged()
        let own = witness.tokens
        try await backend.use(.mock, for: .auth)
        try await backend.auth.signUp(email: "bob@example.com", password: "long enough")
        let foreign = try await backend.auth.accessToken().value.reveal()
        // The rules may refuse what no one asks.
        _ = try? await backend.storage.document("notes/1", from: .server)
        _ = try? await backend.storage.documents(Query(in: "notes"), from: .server)
        #expect(!witness.tokens.contains { $0.contains(foreign) } && witness.tokens == own)
        await backend.shutDown()
        await firebase.stop()
    }
}

/// Shows each request to somebody before it is sent.
private final class WatchedTransport: Transport {
    private let base = CurlTransport()
    private let watch: @Sendable (HTTPRequest) -> Void

    init(_ watch: @escaping @Sendable (HTTPRequest) -> Void) { self.watch = watch }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        watch(request)
        return try await base.send(request)
    }
    func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream {
        watch(request)
        return try await base.stream(request)
    }
    func upload(
        _ request: HTTPRequest, body: RequestBody, progress: SwitchyardWire.TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        watch(request)
        return try await base.upload(request, body: body, progress: progress)
    }
    func download(
        _ request: HTTPRequest, to file: FileDestination, progress: SwitchyardWire.TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        watch(request)
        return try await base.download(request, to: file, progress: progress)
    }
    func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection {
        try await base.webSocket(request)
    }
    func shutDown() async { await base.shutDown() }
}
