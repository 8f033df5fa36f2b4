import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardMove
import SwitchyardTestSupport
import Synchronization

/// Backends with random contents, and folders that are removed at the end.
final class MoveBed: Sendable {
    let folder: URL

    init() {
        folder = ScratchSpace.url.appendingPathComponent("move-\(UInt64.random(in: 0 ... .max))", isDirectory: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func folder(_ name: String) -> URL { folder.appendingPathComponent(name, isDirectory: true) }

    /// A mock with documents in three collections, one of them below documents, with accounts, and with files.
    static func filledMock(documents: Int, seed: UInt64 = 1) async throws -> MockBackend {
        let backend = MockBackend()
        var random = SeededGenerator(seed: seed)
        let project = try await backend.infrastructure().actingAsProject()
        var writes: [DocumentWrite] = []
        for number in 0..<documents {
            var data = random.data()
            data["owner"] = .string("user\(number % 5)")
            data["self"] = .reference(DocumentReference("users/\("user\(number % 5)")"))
            let path: StoragePath =
                switch number % 3 {
                case 0: "things/\("t\(number)")"
                case 1: "users/\("user\(number % 5)")/notes/\("n\(number)")"
                default: "orders/\("o\(number)")"
                }
            writes.append(try .set(path, data: data))
        }
        for number in 0..<5 {
            writes.append(try .set("users/\("user\(number)")", data: ["n": .integer(Int64(number))]))
        }
        try await project.storage.writeInBulk(writes)
        let admin = MockAdminClient(backend)
        for number in 0..<5 {
            try await admin.create(
                NewAccount(
                    id: "user\(number)", email: "user\(number)@example.com", isEmailVerified: number % 2 == 0,
                    displayName: "Name \(number)", claims: ["level": .integer(Int64(number))]))
        }
        for number in 0..<7 {
            try await project.files.put(
                Data((0..<random.int(0..<3000)).map { _ in UInt8(random.int(0..<256)) }),
                at: "photos/\("user\(number % 5)")/\("\(number).png")",
                options: UploadOptions(contentType: "image/png", custom: ["number": "\(number)"]))
        }
        return backend
    }
}

/// An end that fails once, at the write of a number, before or after it has taken place.
struct FailingEnd: MoveEnd {
    let base: any MoveEnd
    let fuse: Fuse

    var name: String { base.name }
    func prepare() async throws { try await base.prepare() }
    var documents: MoveService<any MoveDocuments> {
        base.documents.service.map { .present(Documents(base: $0, fuse: fuse)) } ?? base.documents
    }
    var accounts: MoveService<any MoveAccounts> {
        base.accounts.service.map { .present(Accounts(base: $0, fuse: fuse)) } ?? base.accounts
    }
    var files: MoveService<any MoveFiles> {
        base.files.service.map { .present(Files(base: $0, fuse: fuse)) } ?? base.files
    }

    final class Fuse: Sendable {
        private let left: Mutex<Int>
        private let happensAfter: Bool
        private let action: @Sendable () throws -> Void

        init(at count: Int, after happensAfter: Bool, _ action: @escaping @Sendable () throws -> Void) {
            left = Mutex(count)
            self.happensAfter = happensAfter
            self.action = action
        }

        func pass<Result>(_ body: () async throws -> Result) async throws -> Result {
            let isLast = left.withLock { left in
                left -= 1
                return left == 0
            }
            if isLast, !happensAfter { try action() }
            let result = try await body()
            if isLast, happensAfter { try action() }
            return result
        }
    }

    private struct Documents: MoveDocuments {
        let base: any MoveDocuments
        let fuse: Fuse
        var limits: ValueLimits { base.limits }
        var requirements: [String] { base.requirements }
        func collections(under document: StoragePath?) async throws -> [String]? {
            try await base.collections(under: document)
        }
        func count(of collection: String) async throws -> Int { try await base.count(of: collection) }
        func ranges(of collection: String, into count: Int) async throws -> [DocumentRange] {
            try await base.ranges(of: collection, into: count)
        }
        func page(of range: DocumentRange, after place: String?, limit: Int) async throws -> DocumentPage {
            try await base.page(of: range, after: place, limit: limit)
        }
        func documents(_ paths: [StoragePath]) async throws -> [DocumentSnapshot] { try await base.documents(paths) }
        func write(_ documents: [DocumentSnapshot], of collection: String, page: String) async throws -> [Rejection] {
            try await fuse.pass { try await base.write(documents, of: collection, page: page) }
        }
    }

    private struct Accounts: MoveAccounts {
        let base: any MoveAccounts
        let fuse: Fuse
        var passwordHashes: Set<PasswordHash.Kind> { base.passwordHashes }
        func accepts(_ id: AuthUser.ID) -> Bool { base.accepts(id) }
        func page(after place: String?, limit: Int) async throws -> MovedAccountPage {
            try await base.page(after: place, limit: limit)
        }
        func accounts(_ ids: [AuthUser.ID]) async throws -> [MovedAccount?] { try await base.accounts(ids) }
        func add(_ accounts: [MovedAccount], page: String) async throws -> [AccountOutcome] {
            try await fuse.pass { try await base.add(accounts, page: page) }
        }
    }

    private struct Files: MoveFiles {
        let base: any MoveFiles
        let fuse: Fuse
        func forEachPage(_ body: ([FileMetadata]) async throws -> Void) async throws {
            try await base.forEachPage(body)
        }
        func contents(of path: FilePath) -> FileContents { base.contents(of: path) }
        func write(
            _ file: FileMetadata, _ contents: @escaping @Sendable () -> FileContents
        ) async throws -> FileMetadata { try await fuse.pass { try await base.write(file, contents) } }
        func metadata(of path: FilePath) async throws -> FileMetadata? { try await base.metadata(of: path) }
    }
}
