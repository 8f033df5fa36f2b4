import Foundation
import Switchyard
import SwitchyardLocalSupabase
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

/// What file calls say when no user is signed in, so that the key is the only token, and the project does not accept it.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), .timeLimit(.minutes(2)))
struct WrongKeyTests {
    @Test func `Every file call names the key, at once`() async throws {
        var options = LocalSupabaseOptions()
        options.buckets = ["files"]
        let server = try await LocalSupabase.onSharedPostgres(options)
        for key in ["sb_publishable_nonsense", "nonsense"] as [Secret] {
            let backend = try await Infrastructure(
                .supabase(SupabaseConfiguration(url: server.url.absoluteString, key: key, bucket: "files")))
            let files = backend.files
            try await Self.expectRefusal("put") { _ = try await files.put(Data("x".utf8), at: "a.txt") }
            try await Self.expectRefusal("data") { _ = try await files.data(at: "a.txt") }
            try await Self.expectRefusal("list") { _ = try await files.list() }
            try await Self.expectRefusal("metadata") { _ = try await files.metadata(of: "a.txt") }
            try await Self.expectRefusal("upload") {
                _ = try await files.upload(.data(Data("x".utf8)), to: "a.txt").result()
            }
            await backend.shutDown()
        }
        await server.stop()
    }

    private static func expectRefusal(_ name: String, _ call: () async throws -> Void) async throws {
        let error = await #expect(throws: FileStorageError.self) { try await call() }
        #expect(error?.code == .unauthenticated, "\(name): \(error as Any)")
        #expect(error?.message.contains("does not accept the key") == true, "\(name): \(error as Any)")
    }
}
