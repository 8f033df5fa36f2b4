import Switchyard
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire

@testable import SwitchyardFirebase

/// A local Firebase of a test's own, with clients in front of it.
struct LocalSite: Sendable {
    let firebase: LocalFirebase
    let configuration: FirebaseConfiguration

    init(_ options: LocalFirebaseOptions = LocalFirebaseOptions(), isOpen: Bool = true) throws {
        var options = options
        options.allowsEverything = isOpen
        firebase = try LocalFirebase(options)
        configuration = FirebaseConfiguration(
            project: firebase.project, apiKey: "test", writeLedger: "ledger",
            emulators: FirebaseConfiguration.Emulators(firestore: firebase.host), usesEmulatorVariables: false)
    }

    /// A device whose every request is made in somebody's name.
    func client(as userID: String = "ada", _ context: ModuleContext = ModuleContext()) async throws
        -> any StorageClient
    {
        let token = firebase.idToken(for: userID)
        let module = FirebaseModule(configuration, environment: [:]) { TokenTransport(token: token) }
        return try await module.clientContext(context).makeStorageClient()
    }
}

/// Adds one token to whatever is sent.
private struct TokenTransport: Transport {
    let base = CurlTransport()
    let token: String

    private func signed(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.headers["Authorization"] = "Bearer \(token)"
        return request
    }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        try await base.send(signed(request))
    }

    func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream {
        try await base.stream(signed(request))
    }

    func upload(
        _ request: HTTPRequest, body: RequestBody, progress: SwitchyardWire.TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        try await base.upload(signed(request), body: body, progress: progress)
    }

    func download(
        _ request: HTTPRequest, to file: FileDestination, progress: SwitchyardWire.TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        try await base.download(signed(request), to: file, progress: progress)
    }

    func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection {
        try await base.webSocket(request)
    }

    func shutDown() async { await base.shutDown() }
}
