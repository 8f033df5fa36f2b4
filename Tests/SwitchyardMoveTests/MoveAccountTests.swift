import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@testable import SwitchyardMove

@Suite struct MoveAccountTests {
    let bed = MoveBed()

    @Test func `A password works on the target where its hash is known and accepted`() async throws {
        let (old, new) = (MockBackend(), MockBackend())
        for (id, email) in [("ada", "ada@example.com"), ("bob", "bob@example.com")] {
            try await MockAdminClient(old).create(NewAccount(id: id, email: email, password: "user1password"))
        }
        let file = bed.folder.appendingPathComponent("hashes.jsonl")
        try FileManager.default.createDirectory(at: bed.folder, withIntermediateDirectories: true)
        let hash = "$2b$05$abcdefghijklmnopqrstuuzwGzMsJiHnC0bclquCqnk4cYoQFvaMK"
        try Data(#"{"id":"ada","passwordHash":{"kind":"bcrypt","hash":"\#(hash)"}}"#.utf8).write(to: file)
        let hashes = try PasswordHashes.read(file)
        let app = try await new.infrastructure()
        let move = Move(
            from: try await BackendEnd(old.infrastructure(), name: "old", passwordHashes: hashes),
            to: try await BackendEnd(app, name: "new"))
        let plan = try await move.plan()
        #expect(plan.accounts?.withPassword == 1)
        #expect(plan.accounts?.needingNewPassword == 1)
        #expect(plan.description.contains("2 accounts: 1 with their password, 1 need a new password"))
        _ = try await move.run(plan, journal: bed.folder("journal")).result()
        let user = try await app.auth.signIn(email: "ada@example.com", password: "user1password")
        #expect(user.id == "ada")
        let error = await #expect(throws: AuthError.self) {
            try await app.auth.signIn(email: "bob@example.com", password: "user1password")
        }
        #expect(error != nil)
    }

    @Test func `Where the target gives other IDs, everything follows, and verifying knows it`() async throws {
        let (old, new) = (try await MoveBed.filledMock(documents: 30), MockBackend())
        let target = RenamingEnd(base: try await BackendEnd(new.infrastructure(), name: "new"))
        var options = MoveOptions()
        options.ownerFields = ["owner"]
        let move = Move(from: try await BackendEnd(old.infrastructure(), name: "old"), to: target, options: options)
        let plan = try await move.plan()
        #expect(plan.accounts?.withOtherID == 5)
        let report = try await move.run(plan, journal: bed.folder("journal")).result()
        #expect(report.renamedAccounts == 5)
        let project = try await new.infrastructure().actingAsProject()
        let id = RenamingEnd.id("user1")
        #expect(try await project.storage.document("users/\(id)").exists)
        #expect(try await project.storage.count(Query(in: "users")) == 5)
        let thing = try await project.storage.document("things/t6")
        #expect(thing["owner"] == .string(id))
        #expect(thing["self"]?.referenceValue?.path == "users/\(id)")
        #expect(try await move.verify(plan, journal: bed.folder("journal")).isEqual)
        #expect(try await !move.verify(plan).isEqual)
    }

    @Test func `An account that a backend does not accept gets an ID that is the same in each run`() {
        let account = MovedAccount(ManagedAccount(AuthUser(id: "ada")))
        #expect(UUID(uuidString: account.derivedID) != nil)
        #expect(account.derivedID == MovedAccount(ManagedAccount(AuthUser(id: "ada"))).derivedID)
        #expect(account.derivedID != MovedAccount(ManagedAccount(AuthUser(id: "bob"))).derivedID)
    }
}

/// An end whose accounts have IDs of its own.
private struct RenamingEnd: MoveEnd {
    let base: any MoveEnd
    var name: String { base.name }
    var documents: MoveService<any MoveDocuments> { base.documents }
    var files: MoveService<any MoveFiles> { base.files }
    var accounts: MoveService<any MoveAccounts> {
        base.accounts.service.map { .present(Accounts(base: $0)) } ?? base.accounts
    }

    static func id(_ id: AuthUser.ID) -> AuthUser.ID { "x-\(id)" }

    private struct Accounts: MoveAccounts {
        let base: any MoveAccounts
        var passwordHashes: Set<PasswordHash.Kind> { base.passwordHashes }
        func accepts(_ id: AuthUser.ID) -> Bool { false }
        func page(after place: String?, limit: Int) async throws -> MovedAccountPage {
            try await base.page(after: place, limit: limit)
        }
        func accounts(_ ids: [AuthUser.ID]) async throws -> [MovedAccount?] { try await base.accounts(ids) }
        func add(_ accounts: [MovedAccount], page: String) async throws -> [AccountOutcome] {
            let renamed = accounts.map { account in
                let user = account.account.user
                return MovedAccount(
                    ManagedAccount(
                        AuthUser(
                            id: RenamingEnd.id(account.id), email: user.email, isEmailVerified: user.isEmailVerified,
                            displayName: user.displayName), claims: account.account.claims))
            }
            _ = try await base.add(renamed, page: page)
            return renamed.map { .renamed($0.id) }
        }
    }
}
