import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase

/// A local Firebase with files, and devices of one person on it.
final class LocalFilesSite: FileHarness {
    static let bucket = "demo.appspot.com"

    let firebase: LocalFirebase
    let folder: URL
    private let devices = Mutex<[ObjectIdentifier: (folder: URL, transport: CuttableTransport)]>([:])

    static let features: FileFeatures = {
        var capabilities = FileStorageCapabilities()
        capabilities.resumableUploads = true
        capabilities.ranges = true
        capabilities.customMetadata = true
        capabilities.permanentURLs = true
        capabilities.unboundedUploads = true
        var features = FileFeatures(capabilities)
        features.fetchesURLs = true
        features.keepsUploads = true
        features.hasForbiddenFile = true
        return features
    }()

    var features: FileFeatures { Self.features }

    init() throws {
        firebase = try LocalFirebase()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func stop() async { await firebase.stop() }

    // MARK: Devices

    func client(
        folder: URL? = nil, user: String = "alice", clock: any Clock<Duration> = ContinuousClock()
    ) throws -> FirebaseFileStorageAdapter {
        let place = folder ?? self.folder.appendingPathComponent(UUID().uuidString)
        let transport = CuttableTransport()
        let firebase = firebase
        let auth = FixedAuthClient(provider: .firebase, user: user) { _ throws(AuthError) in firebase.idToken(for: user)
        }
        let configuration = FirebaseConfiguration(
            project: firebase.project, apiKey: "test", bucket: Self.bucket,
            emulators: FirebaseConfiguration.Emulators(storage: firebase.host), usesEmulatorVariables: false)
        let module = FirebaseModule(configuration, environment: [:]) { transport }
        let client = try FirebaseFileStorageAdapter(
            module.clientContext(ModuleContext(auth: auth, clock: clock, stateFolder: place)))
        devices.withLock { $0[ObjectIdentifier(client)] = (place, transport) }
        return client
    }

    /// A new client on the state that another one has left.
    func reopened(
        _ client: FirebaseFileStorageAdapter, user: String = "alice"
    ) throws -> FirebaseFileStorageAdapter {
        try self.client(folder: devices.withLock { $0[ObjectIdentifier(client)]?.folder }, user: user)
    }

    // MARK: Harness

    func makeFileClient() async throws -> any FileStorageClient { try client() }

    private func ours(_ client: any FileStorageClient) throws -> FirebaseFileStorageAdapter {
        try #require(client.unwrapped(as: FirebaseFileStorageAdapter.self))
    }

    func reopen(_ client: any FileStorageClient) async throws -> any FileStorageClient {
        try reopened(try ours(client))
    }

    func fetch(_ url: URL) async throws -> Data? {
        let transport = CurlTransport()
        let response = try await transport.send(HTTPRequest(.get, url.absoluteString))
        await transport.shutDown()
        return response.isSuccess ? Data(response.body) : nil
    }

    func cutOff(_ client: any FileStorageClient, afterBytes count: Int64) async throws {
        let id = ObjectIdentifier(try ours(client))
        let device = devices.withLock { $0[id] }
        device?.transport.cut(afterBytes: count)
    }

    func forbiddenFile(in namespace: ConformanceNamespace) async throws -> FilePath {
        let path = try FilePath(validating: "users/bob/private/\(namespace).txt")
        let bob = try client(user: "bob")
        try await bob.put(Data("for bob only".utf8), at: path)
        await bob.shutDown()
        return path
    }
}
