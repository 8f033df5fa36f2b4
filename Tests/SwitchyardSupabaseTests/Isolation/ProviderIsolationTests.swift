import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// What people try through the clients of an app who want to see or do more than they may. None of it works.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct ProviderIsolationTests {
    /// Whether the attempt was answered with nothing, or with a refusal.
    private func isNothing(_ attempt: () async throws -> Bool) async throws -> Bool {
        do {
            return try await attempt()
        } catch let error as StorageError {
            guard [.unauthorized, .unauthenticated, .notFound].contains(error.code) else { throw error }
        } catch let error as FileStorageError {
            guard [.unauthorized, .unauthenticated, .notFound].contains(error.code) else { throw error }
        }
        return true
    }

    private typealias Attempt = (name: String, run: () async throws -> Bool)

    private func reads(_ secret: StoragePath, by eve: any StorageClient) throws -> [Attempt] {
        let query = Query(in: secret.collection)
        let group = Query(group: secret.collection.id)
        return [
            ("reads it", { try await !eve.document(secret, from: .server).exists }),
            ("asks for it and others", { try await !eve.documents([secret], from: .server)[0].exists }),
            ("asks for its collection", { try await eve.documents(query, from: .server).isEmpty }),
            ("asks for the group", { try await eve.documents(group, from: .server).isEmpty }),
            (
                "asks for its text",
                { try await eve.documents(query.where("text", .equal, "mine"), from: .server).isEmpty }
            ),
            (
                "closes the condition",
                {
                    let field = try FieldPath(components: ["text' or true --"])
                    return try await eve.documents(query.where(field, .notEqual, "') or (true"), from: .server)
                        .isEmpty
                }
            ),
            (
                "begins at the cursor before it",
                {
                    let early = query.ordered(by: .documentID).starting(at: .string("!"))
                    return try await eve.documents(early, from: .server).isEmpty
                }
            ),
            ("counts", { try await eve.count(query) == 0 }), ("counts the group", { try await eve.count(group) == 0 }),
            ("sums", { try await eve.sum(of: "n", in: query) == 0 }),
            ("lists collections", { try await !eve.collections().contains(secret.collection) }),
            (
                "listens to it",
                {
                    for try await snapshot in eve.snapshots(of: secret) where !snapshot.metadata.isFromCache {
                        return !snapshot.exists
                    }
                    return true
                }
            ),
        ]
    }

    private func writes(_ secret: StoragePath, by eve: any StorageClient) -> [Attempt] {
        func attempt(_ name: String, _ write: @escaping () async throws -> Void) -> Attempt {
            (
                name,
                {
                    try await write()
                    return false
                }
            )
        }
        return [
            attempt("sets it") { try await eve.setDocument(secret, ["text": "x"]).acknowledged() },
            attempt("merges into it") { try await eve.mergeDocument(secret, ["n": .increment(1)]).acknowledged() },
            attempt("updates it") { try await eve.updateDocument(secret, ["text": "x"]).acknowledged() },
            attempt("deletes it") { try await eve.deleteDocument(secret).acknowledged() },
            attempt("hides it in a batch of his own") {
                var batch = WriteBatch()
                batch.append(try .set(secret.collection.document("own-\(RandomID.make())"), ["text": "x"]))
                batch.append(.delete(secret))
                try await eve.commit(batch).acknowledged()
            },
            attempt("changes it in a transaction") {
                try await eve.transaction { transaction in
                    let seen = try await transaction.document(secret)
                    #expect(!seen.exists)
                    try await transaction.set(secret, ["text": "x"])
                }
            },
        ]
    }

    private func check(_ attempts: [Attempt]) async throws {
        for attempt in attempts {
            let isNothing = try await isNothing(attempt.run)
            #expect(isNothing, "\(attempt.name)")
        }
    }

    // MARK: Documents

    @Test func `No one reads, counts, receives or changes another's documents`() async throws {
        let site = try await IsolationSite.shared.value
        // In a collection of its own, since other tests write into others of hers at the same time.
        let diary = "diary-\(RandomID.make(length: 8))"
        let secret = try CollectionPath(validating: "users/\(site.ann.user.id)/\(diary)").document(RandomID.make())
        try await site.ann.storage.setDocument(secret, ["text": "mine", "n": 1]).acknowledged()
        try await check(try reads(secret, by: site.ben.storage) + writes(secret, by: site.ben.storage))
        let kept = try await site.ann.storage.document(secret, from: .server)
        #expect(kept.data == ["text": "mine", "n": 1])
        #expect(try await site.ann.storage.count(Query(in: secret.collection)) == 1)
    }

    @Test func `A live query of a group that many write to shows its listener's own`() async throws {
        let site = try await IsolationSite.shared.value
        let name = "g\(RandomID.make(length: 8))"
        let seen = Mutex<(paths: Set<StoragePath>, count: Int)>(([], 0))
        let ben = site.ben.storage
        let watching = Task {
            for try await snapshot in ben.snapshots(of: Query(group: name)) {
                seen.withLock { seen in
                    seen.paths.formUnion(snapshot.documents.map(\.path))
                    seen.count = snapshot.documents.count
                }
            }
        }
        for number in 0..<10 {
            for person in [site.ann, site.ben] {
                let path = try CollectionPath(validating: "users/\(person.user.id)/\(name)").document("d\(number)")
                try await person.storage.setDocument(path, ["n": .integer(Int64(number))]).acknowledged()
            }
        }
        try await eventually("all of his own are there") { seen.withLock { $0.count } == 10 }
        #expect(seen.withLock { seen in seen.paths.allSatisfy { $0.rawValue.hasPrefix("users/\(site.ben.user.id)/") } })
        watching.cancel()
        _ = try? await watching.value
    }

    // MARK: Files

    @Test(arguments: ["private", "users/photos", "avatars"])
    func `No one reads, lists, signs, replaces or takes another's files, whatever bucket they are in`(
        folder: String
    ) async throws {
        let site = try await IsolationSite.shared.value
        let secret = try FilePath(validating: "\(folder)/\(site.ann.user.id)/\(RandomID.make()).txt")
        let own = try FilePath(validating: "\(folder)/\(site.ben.user.id)/\(RandomID.make()).txt")
        let (ann, ben) = (site.ann.files, site.ben.files)
        let eve = try #require(ben.unwrapped(as: SupabaseFileStorageAdapter.self))
        let beside = try #require(own.folder).appending("beside.txt")
        try await ann.put(Data("hers".utf8), at: secret)
        try await ben.put(Data("his".utf8), at: own)
        func attempt(_ name: String, _ write: @escaping () async throws -> Void) -> Attempt {
            (
                name,
                {
                    try await write()
                    return false
                }
            )
        }
        var attempts: [Attempt] = [
            attempt("replaces it") { try await ben.put(Data("his".utf8), at: secret) },
            attempt("replaces it in parts") { try await ben.put(Data(count: (6 << 20) + 1), at: secret) },
            attempt("changes what is noted about it") {
                _ = try await ben.updateMetadata(of: secret, FileMetadataChanges(contentType: "text/x"))
            },
            attempt("copies over it") { _ = try await ben.copy(own, to: secret) },
            attempt("signs an upload over it") { _ = try await eve.uploadURL(for: secret, replacesExisting: true) },
            attempt("moves it") { _ = try await ben.move(secret, to: beside) },
            attempt("deletes it") { try await ben.delete(secret) },
        ]
        // What anybody may read is no secret.
        if folder != "avatars" {
            attempts += [
                attempt("reads it") { _ = try await ben.data(at: secret) },
                attempt("asks about it") { _ = try await ben.metadata(of: secret) },
                attempt("signs it") { _ = try await ben.downloadURL(of: secret, expiresIn: .seconds(60)) },
                attempt("copies it") { _ = try await ben.copy(secret, to: own) },
            ]
        }
        attempts.append(
            ("lists it", { try await !ben.list(secret.folder).files.contains { $0.path == secret } }))
        try await check(attempts)
        #expect(try await ann.data(at: secret) == Data("hers".utf8))
        #expect(try await ann.metadata(of: secret).contentType == "text/plain")
        #expect(try await ben.data(at: own) == Data("his".utf8))
    }

    // MARK: Tokens

    @Test func `Tokens that are stale, altered or made up open nothing, and no channel`() async throws {
        let site = try await IsolationSite.shared.value
        let secret = try CollectionPath(validating: "users/\(site.ann.user.id)/diary").document(RandomID.make())
        try await site.ann.storage.setDocument(secret, ["text": "mine", "n": 1]).acknowledged()
        let file = try FilePath(validating: "private/\(RandomID.make()).txt")
        try await site.ann.files.put(Data("hers".utf8), at: file)
        let claims: JSON = [
            "sub": .string(site.ann.user.id), "role": "authenticated", "aud": "authenticated", "exp": 4_000_000_000,
        ]
        let good = site.supabase.accessToken(for: site.ben.user.id).split(separator: ".").map(String.init)
        let hers = Base64.encode(claims.bytes(), alphabet: .url)
        let forged = [
            ("made up", FixedAuthClient.token(claims)), ("with another's claims", "\(good[0]).\(hers).\(good[2])"),
            ("without a signature", "eyJhbGciOiJub25lIn0.\(hers)."),
            ("stale", site.supabase.accessToken(for: site.ann.user.id, validFor: -3600)),
            ("risen", FixedAuthClient.token(["sub": "x", "role": "service_role", "exp": 4_000_000_000])),
        ]
        for (name, token) in forged {
            let eve = try await site.impostor(token)
            let document = await #expect(throws: StorageError.self, "\(name)") {
                () async throws -> Void in _ = try await eve.storage.document(secret, from: .server)
            }
            #expect(document?.code == .unauthenticated, "\(name)")
            let download = await #expect(throws: FileStorageError.self, "\(name)") {
                () async throws -> Void in _ = try await eve.files.data(at: file)
            }
            #expect(download?.code == .unauthenticated, "\(name)")
            let transport = CurlTransport()
            let auth = FixedAuthClient(provider: .supabase, user: site.ann.user.id) { _ in token }
            let socket = RealtimeSocket(
                site.supabase.server.url("/realtime/v1"),
                tokens: SupabaseTokens(key: Secret(site.supabase.anonKey), auth: auth), transport: transport)
            let channel = try socket.join("documents:users/ann/diary", RealtimeConfiguration(isPrivate: true))
            await #expect(throws: RealtimeFailure.self, "\(name)") {
                () async throws -> Void in while try await channel.next() != nil {}
            }
            socket.close()
            await transport.shutDown()
            await eve.storage.shutDown()
            await eve.files.shutDown()
        }
    }
}
