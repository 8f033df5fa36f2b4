import Foundation
import Switchyard
import SwitchyardTestSupport
import Testing

@testable import SwitchyardMock

@Suite struct MockAdminTests {
    private let backend = MockBackend()

    private func failure<Value>(_ body: () async throws(AuthError) -> Value) async -> ErrorCode? {
        do throws(AuthError) {
            _ = try await body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `An infrastructure has an admin, whose accounts its devices sign in to`() async throws {
        let infrastructure = try await Infrastructure(.mock(backend))
        let admin = try await infrastructure.admin()
        let made = try await admin.create(
            NewAccount(email: "ada@example.com", password: "secret", claims: ["role": "editor", "level": 3]))
        let user = try await infrastructure.auth.signIn(email: "ada@example.com", password: "secret")
        #expect(user.id == made.id && made.user.lastSignInAt == nil)
        #expect(try await admin.account(made.id).user.lastSignInAt != nil)
        let token = try await infrastructure.auth.accessToken().value
        let verified = try await infrastructure.tokenVerifier().verify(token)
        #expect(verified.role == "editor")
        #expect(verified.claims["level"] == 3 && verified.claims["sub"] == .string(made.id))
        await infrastructure.shutDown()
    }

    @Test func `The project's own storage stands above the rules, and has no queue and no cache`() async throws {
        let backend = MockBackend(rules: MockRules { _ in false })
        let infrastructure = try await Infrastructure(.mock(backend))
        let storage = try await infrastructure.actingAsProject().storage
        try await storage.setDocument("notes/1", ["text": "kept"])
        #expect(try await storage.document("notes/1").data?["text"] == "kept")
        #expect(!storage.capabilities.offline)
        await #expect(throws: StorageError.self) { try await infrastructure.storage.document("notes/1") }
        await infrastructure.shutDown()
    }

    @Test func `Without a network nothing can be administered`() async throws {
        let network = MockNetwork()
        let admin = MockAdminClient(backend, network: network)
        let made = try await admin.create(NewAccount())
        network.isOnline = false
        #expect(await failure { () async throws(AuthError) in try await admin.account(made.id) } == .unavailable)
        #expect(
            await failure { () async throws(AuthError) in try await admin.accountPage(after: nil, limit: 1) }
                == .unavailable)
        #expect(await failure { () async throws(AuthError) in try await admin.delete(made.id) } == .unavailable)
        #expect(await failure { () async throws(AuthError) in try await admin.customToken(for: "x") } == .unavailable)
        network.isOnline = true
        #expect(try await admin.account(made.id) == made)
    }

    @Test func `Calls are scripted, fail and lose their answers as a test wants it`() async throws {
        let admin = MockAdminClient(backend)
        admin.controls.fail(.createAccount, with: .rateLimited)
        #expect(await failure { () async throws(AuthError) in try await admin.create(NewAccount()) } == .rateLimited)
        admin.controls.loseAnswers()
        let lost = await failure { () async throws(AuthError) in
            try await admin.create(NewAccount(email: "a@example.com"))
        }
        #expect(lost == .unavailable)
        #expect(try await admin.account(email: "a@example.com").email == "a@example.com")
        admin.controls.answer(.accountPage, with: AccountPage(accounts: [], next: nil))
        #expect(try await admin.accountPage(after: nil, limit: 10).accounts.isEmpty)
        admin.controls.isRecording = true
        _ = try await admin.link(.signIn, for: "a@example.com")
        #expect(admin.controls.calls.map(\.description) == ["account link signIn"])
    }

    @Test func `A link is taken for a while, and no mail is sent for it`() async throws {
        let time = MovedClock()
        let backend = MockBackend(now: { time.now })
        let admin = MockAdminClient(backend)
        let auth = MockAuthClient(backend)
        try await admin.create(NewAccount(email: "ada@example.com", password: "secret"))
        let redirect = try #require(URL(string: "https://app.example.com/in?from=mail"))
        let link = try await admin.link(.signIn, for: "ADA@example.com", redirectURL: redirect)
        #expect(link.absoluteString.hasPrefix("https://app.example.com/in?from=mail&mode=signIn&code="))
        #expect(backend.accounts.mails.isEmpty)
        time.advance(601)
        #expect(
            await failure { () async throws(AuthError) in
                try await auth.signIn(with: .emailLink(email: "ada@example.com", link))
            } == .codeExpired)
    }

    @Test func `A custom token is good for an hour, and its claims outlast a second factor`() async throws {
        let time = MovedClock()
        let backend = MockBackend(now: { time.now })
        let admin = MockAdminClient(backend)
        let auth = MockAuthClient(backend)
        let token = try await admin.customToken(for: "ada", claims: ["tenant": "acme"])
        try await auth.signIn(with: .customToken(token))
        let enrollment = try await auth.beginSecondFactor(.totp)
        let code = try #require(backend.accounts.oneTimeCode(for: enrollment.sharedKey))
        try await auth.confirmSecondFactor(enrollment, code: code, displayName: nil)

        let other = MockAuthClient(backend)
        do throws(AuthError) {
            try await other.signIn(with: .customToken(token))
            Issue.record("The second factor was not asked for.")
        } catch {
            let challenge = try #require(error.challenge)
            try await other.answer(challenge, with: SecondFactorAnswer(factor: challenge.factors[0].id, code: code))
        }
        let session = try await other.accessToken()
        let verified = try backend.accounts.verify(session.value, checksRevocation: true)
        #expect(verified.claims["tenant"] == "acme")
        time.advance(3601)
        #expect(
            await failure { () async throws(AuthError) in
                try await MockAuthClient(backend).signIn(with: .customToken(token))
            } == .codeExpired)
    }

    @Test func `Names that every token uses are no names of claims`() async throws {
        let admin = MockAdminClient(backend)
        for name in ["sub", "exp", "jti"] {
            #expect(
                await failure { () async throws(AuthError) in
                    try await admin.create(NewAccount(claims: [name: "x"]))
                } == .invalidArgument)
        }
    }

    @Test func `Claims and imported passwords are saved in a folder, where older files are read too`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mock-admin-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let claims: [String: DocumentValue] = ["level": 3, "whole": 2.0, "in": ["a": [true, .null]]]
        do {
            let backend = try MockBackend(folder: folder)
            let admin = MockAdminClient(backend)
            let account = NewAccount(email: "ada@example.com", claims: claims)
            let hash = PasswordHash.pbkdf2SHA256(
                hash: "Eg+2z/z4syxD5yJSVsT4N6hlSMkszDVICAWYfLcL4Xs=", salt: "c2FsdA==", rounds: 1)
            #expect(try await admin.importAccounts([ImportedAccount(id: "ada", account, passwordHash: hash)]).isEmpty)
            let eve = ImportedAccount(
                id: "eve", NewAccount(email: "eve@example.com"),
                passwordHash: .bcrypt("$2b$04$abcdefghijklmnopqrstuuxdHMWXqoHNsTNDwLuQb/2kOU4V8v6pW"))
            #expect(try await admin.importAccounts([eve]).isEmpty)
            backend.close()
        }
        let backend = try MockBackend(folder: folder)
        #expect(try await MockAdminClient(backend).account("ada").claims == claims)
        #expect(try await MockAuthClient(backend).signIn(email: "ada@example.com", password: "password").id == "ada")
        let eve = MockAuthClient(backend)
        #expect(try await eve.signIn(email: "eve@example.com", password: "correct horse 7 battery").id == "eve")
        try await MockAdminClient(backend).update("eve", AccountEdit(password: "another one"))
        #expect(try await eve.signIn(email: "eve@example.com", password: "another one").id == "eve")
        backend.close()

        let old = """
            {"id":"bob","isEmailVerified":false,"isAnonymous":false,"isDisabled":false,"identities":{},"factors":[],\
            "createdAt":0,"lastSignInAt":0}
            """
        let bob = try JSONDecoder().decode(MockAccount.self, from: Data(old.utf8))
        #expect(bob.claims == nil && bob.lastSignInAt == Date(timeIntervalSinceReferenceDate: 0))
        let session = try JSONDecoder().decode(
            MockSession.self, from: Data(#"{"refreshToken":"r","userID":"bob","provedAt":0}"#.utf8))
        #expect(session.claims == nil)
    }

    @Test func `PBKDF2 gives the keys that are published for it`() {
        func key(_ password: String, _ salt: String, _ rounds: Int, _ length: Int) -> String {
            PBKDF2.key(Array(password.utf8), salt: Array(salt.utf8), rounds: rounds, length: length)
                .map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        }
        #expect(key("password", "salt", 1, 32) == "120fb6cffcf8b32c43e7225256c4f837a86548c92ccc35480805987cb70be17b")
        #expect(key("password", "salt", 4096, 20) == "c5e478d59288c841aa530db6845c4c8d962893a0")
        #expect(
            key("passwordPASSWORDpassword", "saltSALTsaltSALTsaltSALTsaltSALTsalt", 4096, 40)
                == "348c89dbcbd32b2f32d814b8116e84cf2b17347ebc1800181c4e2a1fb8dd53e1c635518c7dac47e9")
    }
}
