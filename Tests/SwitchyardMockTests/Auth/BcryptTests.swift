import Switchyard
import Testing

@testable import SwitchyardMock

/// Hashes that other implementations have made.
@Suite struct BcryptTests {
    @Test(arguments: [
        ("correct horse 7 battery", "$2b$04$abcdefghijklmnopqrstuuxdHMWXqoHNsTNDwLuQb/2kOU4V8v6pW"),
        ("", "$2b$04$......................w74bL5gU7LSJClZClCa.Pkz14aTv/XO"),
        ("Grüße 😀", "$2y$05$abcdefghijklmnopqrstuugDr0Ol4JwU.08QXKlXH3woDpG47Ao3K"),
        ("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
        (String(repeating: "x", count: 72), "$2b$04$DCq7YPn5Rq63x1Lad4cll.nJmTn/7Df9/c5/AzVmvwunbnvRmjrMC"),
        (String(repeating: "x", count: 80), "$2b$04$DCq7YPn5Rq63x1Lad4cll.nJmTn/7Df9/c5/AzVmvwunbnvRmjrMC"),
    ])
    func `The password of a hash is known, and no other`(_ password: String, _ text: String) throws {
        let hash = try #require(Bcrypt(text))
        #expect(hash.accepts(Array(password.utf8)))
        #expect(!hash.accepts(Array("y\(password)".utf8)) && !hash.accepts(Array(password.utf8.dropLast(20)) + [1]))
    }

    @Test(arguments: [
        "", "plain", "$2b$04$abcdefghijklmnopqrstuuxdHMWXqoHNsTNDwLuQb/2kOU4V8v6p",
        "$2x$04$abcdefghijklmnopqrstuuxdHMWXqoHNsTNDwLuQb/2kOU4V8v6pW",
        "$2b$03$abcdefghijklmnopqrstuuxdHMWXqoHNsTNDwLuQb/2kOU4V8v6pW",
        "$2b$4$abcdefghijklmnopqrstuuxdHMWXqoHNsTNDwLuQb/2kOU4V8v6pW1",
        "$2b$04$abcdefghijklmnopqrstuuxdHMWXqoHNsTNDwLuQb-2kOU4V8v6pW",
        "a$2b$04$abcdefghijklmnopqrstuuxdHMWXqoHNsTNDwLuQb/2kOU4V8v6pW",
    ])
    func `A text that is no hash is none, and no one is taken over with it`(_ text: String) async throws {
        #expect(Bcrypt(text) == nil)
        let admin = MockAdminClient(MockBackend())
        let account = ImportedAccount(
            id: "ada", NewAccount(email: "ada@example.com"), passwordHash: .bcrypt(Secret(text)))
        #expect(try await admin.importAccounts([account])["ada"]?.code == .invalidArgument)
        #expect(try await admin.accounts([.id("ada")]) == [nil])
    }
}
