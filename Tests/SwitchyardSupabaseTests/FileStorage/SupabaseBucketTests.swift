import Foundation
import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Folders that are buckets of their own.
@Suite struct SupabaseBucketTests {
    private static func configuration(_ buckets: [SupabaseBucket], main: String? = "files") -> SupabaseConfiguration {
        SupabaseConfiguration(url: "https://demo.supabase.co", key: "k", bucket: main, buckets: buckets)
    }

    private static let several = [
        SupabaseBucket("avatars", isPublic: true), SupabaseBucket("photos", folder: "users/photos"),
        SupabaseBucket("raw", folder: "users/photos/raw"),
    ]

    private func place(_ path: FilePath, main: String? = "files") throws -> String {
        let place = try SupabaseBuckets(Self.configuration(Self.several, main: main)).place(of: path)
        return "\(place.bucket): \(place.name)"
    }

    @Test func `A path leads to the bucket of its deepest folder, and else to the first`() throws {
        #expect(try place("avatars/alice.png") == "avatars: alice.png")
        #expect(try place("users/photos/a/b.png") == "photos: a/b.png")
        #expect(try place("users/photos/raw/b.png") == "raw: b.png")
        #expect(try place("users/photos/rawest.png") == "photos: rawest.png")
        #expect(try place("users/photo") == "files: users/photo")
        #expect(try place("avatarsalice.png") == "files: avatarsalice.png")
        #expect(throws: FileStorageError.self) { try place("avatars") }
        #expect(throws: FileStorageError.self) { try place("notes.txt", main: nil) }
    }

    @Test func `A folder shows which buckets are right below it`() throws {
        let buckets = try SupabaseBuckets(Self.configuration(Self.several))
        #expect(buckets.folders(in: nil) == ["avatars", "users"])
        #expect(buckets.folders(in: "users") == ["users/photos"])
        #expect(buckets.folders(in: "users/photos") == ["users/photos/raw"])
        #expect(buckets.folders(in: "avatars").isEmpty)
    }

    @Test(arguments: [
        [SupabaseBucket("a/b")], [SupabaseBucket("")], [SupabaseBucket("ü")], [SupabaseBucket("a", folder: "/a")],
        [SupabaseBucket("a", folder: "a/")], [SupabaseBucket("a", folder: "")], [SupabaseBucket("a", folder: "ü")],
        [SupabaseBucket("a", folder: "x"), SupabaseBucket("b", folder: "x")],
    ])
    func `A bucket that cannot be is a mistake in the configuration`(_ buckets: [SupabaseBucket]) {
        let error = #expect(throws: InfrastructureError.self) {
            try SupabaseModule(Self.configuration(buckets)).validate()
        }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func `Buckets are read from a file with what it leaves out, and written to one`() throws {
        let text = """
            {"url":"https://demo.supabase.co","key":"k",
             "buckets":[{"name":"avatars","isPublic":true},{"name":"photos","folder":"users/photos"}]}
            """
        let configuration = try JSONDecoder().decode(SupabaseConfiguration.self, from: Data(text.utf8))
        #expect(configuration.buckets == Array(Self.several[..<2]))
        let again = try JSONDecoder().decode(
            [SupabaseBucket].self, from: try JSONEncoder().encode(configuration.buckets))
        #expect(again == configuration.buckets)
    }

    @Test func `Buckets that are folders are enough for files, and nothing is anywhere else`() async throws {
        let module = SupabaseModule(Self.configuration(Self.several, main: nil)) { ScriptedTransport([]) }
        let client = try await module.makeFileStorageClient(ModuleContext())
        let error = await #expect(throws: FileStorageError.self) {
            () async throws -> Void in _ = try await client.metadata(of: "notes.txt")
        }
        #expect(error?.code == .invalidArgument)
        let list = try await client.list(nil, pageSize: 10, page: nil)
        #expect(list.files.isEmpty && list.folders == ["avatars", "users"] && list.nextPage == nil)
        await client.shutDown()
    }

    // MARK: On a server

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `Files go to the buckets of their folders, and from one to the other`() async throws {
        let site = try await IsolationSite.shared.value
        let (ann, owner) = (site.ann.files, site.ann.user.id)
        // A folder of this test's own in each.
        let id = UUID().uuidString
        let home = try FilePath(validating: "home-\(id)")
        let (plain, avatar) = (home.appending("a.txt"), try FilePath(validating: "avatars/\(id)/b.txt"))
        let photo = try FilePath(validating: "users/photos/\(id)/c.txt")
        for (path, text) in [(plain, "a"), (avatar, "b"), (photo, "c")] {
            let stored = try await ann.put(Data(text.utf8), at: path)
            #expect(stored.path == path)
            #expect(try await ann.data(at: path) == Data(text.utf8))
            #expect(try await ann.list(path.folder).files.map(\.path) == [path])
        }
        let rows = try await site.supabase.database.run([
            PostgresStatement(
                """
                select string_agg(bucket_id || '/' || name, ' ' order by bucket_id) from storage.objects
                where owner_id = $1 and name in ($2, $3, $4)
                """, [owner, plain.rawValue, "\(id)/b.txt", "\(id)/c.txt"])
        ])[0].text
        #expect(rows == "avatars/\(id)/b.txt files/\(plain.rawValue) photos/\(id)/c.txt")
        #expect(try await ann.list().folders.contains("avatars"))
        #expect(try await ann.list("users").folders == ["users/photos"])

        let copied = home.appending("copy.txt")
        #expect(try await ann.copy(photo, to: copied).path == copied)
        #expect(try await ann.data(at: copied) == Data("c".utf8))
        let moved = try FilePath(validating: "users/photos/\(id)/moved.txt")
        #expect(try await ann.move(copied, to: moved).path == moved)
        #expect(try await ann.data(at: moved) == Data("c".utf8))
        #expect(try await ann.updateMetadata(of: moved, FileMetadataChanges(custom: ["k": "v"])).custom == ["k": "v"])

        let open = try await ann.downloadURL(of: avatar, expiresIn: nil)
        #expect(open.absoluteString.hasSuffix("/object/public/avatars/\(id)/b.txt"))
        let closed = await #expect(throws: FileStorageError.self) {
            () async throws -> Void in _ = try await ann.downloadURL(of: photo, expiresIn: nil)
        }
        #expect(closed?.code == .unsupported)
        // Large ones go another way.
        let large = Data(count: (6 << 20) + 5)
        let film = try FilePath(validating: "users/photos/\(id)/film.mp4")
        #expect(try await ann.put(large, at: film).size == Int64(large.count))
        for path in [plain, avatar, photo, moved, film] { try await ann.delete(path) }
        #expect(try await ann.list(photo.folder).files.isEmpty)
    }
}
