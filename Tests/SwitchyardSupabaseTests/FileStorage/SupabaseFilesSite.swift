import Foundation
import Switchyard
import SwitchyardConformance
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// A local Supabase with a bucket, and devices of one person on it.
final class SupabaseFilesSite: FileHarness {
    static let bucket = "files"

    /// One for all checks; each has a folder of its own there. Its processes end with this one.
    static let shared = Task { try await SupabaseFilesSite() }

    let supabase: LocalSupabase
    let folder: URL
    private let devices = Mutex<[ObjectIdentifier: (folder: URL, transport: CuttableTransport)]>([:])

    static let features: FileFeatures = {
        var capabilities = FileStorageCapabilities()
        capabilities.resumableUploads = true
        capabilities.ranges = true
        capabilities.customMetadata = true
        capabilities.copyAndMove = true
        capabilities.expiringURLs = true
        var features = FileFeatures(capabilities)
        features.fetchesURLs = true
        features.keepsUploads = true
        features.hasForbiddenFile = true
        return features
    }()

    var features: FileFeatures { Self.features }

    init() async throws {
        supabase = try await LocalSupabase.onSharedPostgres()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let transport = CurlTransport()
        let made = try await transport.send(
            HTTPRequest(
                .post, supabase.server.url("/storage/v1/bucket"),
                headers: [
                    "apikey": supabase.serviceKey, "Authorization": "Bearer \(supabase.serviceKey)",
                    "Content-Type": "application/json",
                ], body: Array(#"{"name": "\#(Self.bucket)"}"#.utf8)))
        await transport.shutDown()
        try #require(made.isSuccess)
        try await supabase.addOwnersPolicies(to: Self.bucket)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func stop() async { await supabase.stop() }

    // MARK: Devices

    func client(
        folder: URL? = nil, user: String = "alice", clock: any Clock<Duration> = ContinuousClock()
    ) throws -> SupabaseFileStorageAdapter {
        let stateFolder = folder ?? self.folder.appendingPathComponent(UUID().uuidString)
        let transport = CuttableTransport()
        let supabase = supabase
        let auth = FixedAuthClient(provider: .supabase, user: AuthUser.ID(user)) { _ in
            supabase.accessToken(for: user)
        }
        let configuration = SupabaseConfiguration(
            url: supabase.server.url, key: Secret(supabase.anonKey), bucket: Self.bucket)
        let module = SupabaseModule(configuration) { transport }
        let client = try SupabaseFileStorageAdapter(
            module.clientContext(ModuleContext(auth: auth, clock: clock, stateFolder: stateFolder)))
        devices.withLock { $0[ObjectIdentifier(client)] = (stateFolder, transport) }
        return client
    }

    func makeFileClient() async throws -> any FileStorageClient { try client() }

    private func ours(_ client: any FileStorageClient) throws -> SupabaseFileStorageAdapter {
        try #require(client.unwrapped(as: SupabaseFileStorageAdapter.self))
    }

    func reopen(_ client: any FileStorageClient) async throws -> any FileStorageClient {
        let id = ObjectIdentifier(try ours(client))
        return try self.client(folder: devices.withLock { $0[id]?.folder })
    }

    func fetch(_ url: URL) async throws -> Data? {
        let transport = CurlTransport()
        let response = try await transport.send(HTTPRequest(.get, url.absoluteString))
        await transport.shutDown()
        return response.isSuccess ? Data(response.body) : nil
    }

    func cutOff(_ client: any FileStorageClient, afterBytes count: Int64) async throws {
        let id = ObjectIdentifier(try ours(client))
        devices.withLock { $0[id] }?.transport.cut(afterBytes: count)
    }

    func forbiddenFile(in namespace: ConformanceNamespace) async throws -> FilePath {
        let path = try FilePath(validating: "users/bob/private/\(namespace).txt")
        let bob = try client(user: "bob")
        try await bob.put(Data("for bob only".utf8), at: path)
        await bob.shutDown()
        return path
    }
}
