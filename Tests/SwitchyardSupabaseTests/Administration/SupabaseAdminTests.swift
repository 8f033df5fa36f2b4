import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// What is sent, and what answers mean, without a server.
@Suite struct SupabaseAdminTests {
    private typealias Bed = SupabaseAdminBed

    // MARK: The key

    @Test func `A secret key travels alone, and one of the older form as a token too`() async throws {
        let legacy: Secret = "e30.e30.c2ln"
        for (key, bearer) in [("sb_secret_key", nil), (legacy, "Bearer e30.e30.c2ln")] as [(Secret, String?)] {
            let bed = Bed(key: key, Bed.on(.get, Bed.user, Bed.account()))
            _ = try await bed.client.account(Bed.id)
            let headers = bed.transport.requests[0].request.headers
            #expect(headers["apikey"] == key.reveal() && headers["Authorization"] == bearer)
            try bed.transport.verify()
        }
    }

    @Test(arguments: [
        (#"{"message":"Invalid API key","hint":"x"}"#, 401), (#"{"code":"no_authorization","message":"x"}"#, 401),
        (#"{"code":"bad_jwt","message":"x"}"#, 403), (#"{"code":"not_admin","message":"x"}"#, 403), ("", 403),
    ])
    func `A key that is refused is distinguished from a session that is over`(body: String, status: Int) async throws {
        let bed = Bed(Bed.on(.get, Bed.user, body, status: status))
        let error = await #expect(throws: AuthError.self) { try await bed.client.account(Bed.id) }
        #expect(error?.code == .unauthenticated && error?.isRetryable == false)
        #expect(error?.message.contains("serviceKey") == true && error?.message.contains("API Keys") == true)
        #expect(body.contains("not_admin") == error?.message.contains("publishable key"))
    }

    // MARK: Finding

    @Test func `A missing account is reported as the service does, and so is a missing page`() async throws {
        let unknown = Bed(Bed.refusal(.get, Bed.user, "user_not_found", status: 404))
        #expect(try await unknown.client.accounts([.id(Bed.id)]) == [nil])
        let elsewhere = Bed(Bed.on(.get, Bed.user, "404 page not found", status: 404))
        let code = await elsewhere.code { client throws(AuthError) in try await client.accounts([.id(Bed.id)]) }
        #expect(code?.rawValue == "HTTP_404")
        let none = Bed()
        let keys: [AccountKey] = [.id("alice"), .email("alice"), .phoneNumber("call me"), .phoneNumber("5550100")]
        #expect(try await none.client.accounts(keys) == [nil, nil, nil, nil])
        #expect(none.transport.requests.isEmpty)
    }

    @Test func `An address is looked for by the server, and its letters stand for themselves`() async throws {
        let email = #"a_b%C\d@example.com"#
        func row(_ id: String, _ email: String, _ day: Int) -> String {
            #"{"id":"\#(id)","email":"\#(email)","created_at":"2026-01-0\#(day)T00:00:00Z"}"#
        }
        let bed = Bed(
            Bed.list(
                row("1", "xa_b%c0d@example.com", 1), row("2", "axb%c0d@example.com", 2),
                row(Bed.id, #"a_b%c\\d@example.com"#, 3), filter: "a_b%25c_d%40example.com"),
            Bed.on(.get, Bed.user, Bed.account()))
        #expect(try await bed.client.account(email: email).id == Bed.id)
        try bed.transport.verify()
    }

    @Test func `Several numbers share one way through all accounts`() async throws {
        let other = "00000000-0000-4000-8000-000000000002"
        func row(_ id: String, _ phone: String, _ day: Int) -> String {
            #"{"id":"\#(id)","phone":"\#(phone)","created_at":"2026-01-0\#(day)T00:00:00Z"}"#
        }
        let list =
            #"{"users":[\#(row("1", "", 1)),\#(row(Bed.id, "15550100", 2)),\#(row(other, "15550101", 3))]}"#
        let transport = ScriptedTransport(
            order: .any,
            [
                Bed.on(.get, "/admin/users?page=1&per_page=1000&sort=created_at%20asc", list),
                Bed.on(.get, Bed.user, Bed.account()),
                Bed.on(.get, "/admin/users/\(other)", Bed.account(other)),
            ])
        let client = SupabaseAdminClient(
            SupabaseAuthService(
                address: SupabaseAuthBed.address, apiKey: "sb_secret_key", transport: transport,
                clock: ContinuousClock(), now: { Timestamp(microseconds: 0) }))
        let found = try await client.accounts([
            .phoneNumber("+1 555 0101"), .phoneNumber("+4770000000"), .phoneNumber("+15550100"),
        ])
        #expect(found.map { $0?.id } == [other, nil, Bed.id])
        try transport.verify()
    }

    @Test func `An account is disabled until its time has come, and a softly deleted one does not exist`() async throws
    {
        for (more, isDisabled) in [
            (#","banned_until":"2100-01-01T00:00:00Z""#, true), (#","banned_until":"2020-01-01T00:00:00Z""#, false),
            ("", false),
        ] {
            let bed = Bed(Bed.on(.get, Bed.user, Bed.account(Bed.id, more)))
            #expect(try await bed.client.account(Bed.id).isDisabled == isDisabled)
        }
        let deleted = Bed(
            Bed.on(.get, Bed.user, Bed.account(Bed.id, #","deleted_at":"2026-01-01T00:00:00Z""#)))
        #expect(try await deleted.client.accounts([.id(Bed.id)]) == [nil])
    }

    @Test(arguments: [0, -1, 1001])
    func `A page has from one to a thousand accounts`(limit: Int) async {
        let bed = Bed()
        let code = await bed.code { client throws(AuthError) in
            try await client.accountPage(after: nil, limit: limit)
        }
        #expect(code == .invalidArgument && bed.transport.requests.isEmpty)
    }

    @Test func `A page passes by accounts of which only the row is left`() async throws {
        let gone = #"{"id":"1","created_at":"2026-01-01T00:00:00Z","deleted_at":"2026-01-02T00:00:00Z"}"#
        let bed = Bed(
            Bed.on(
                .get, "/admin/users?page=1&per_page=2&sort=created_at%20asc",
                #"{"users":[\#(gone),{"id":"2","created_at":"2026-01-02T00:00:00Z"}]}"#),
            Bed.on(
                .get, "/admin/users?page=1&per_page=4&sort=created_at%20asc",
                #"{"users":[\#(gone),{"id":"2","created_at":"2026-01-02T00:00:00Z"}]}"#))
        let page = try await bed.client.accountPage(after: nil, limit: 1)
        #expect(page.accounts.map(\.id) == ["2"] && page.next == nil)
        try bed.transport.verify()
    }

    // MARK: Changing

    @Test func `An account is sent with all that it has`() async throws {
        let bed = Bed(Bed.on(.post, "/admin/users", Bed.account()))
        try await bed.client.create(
            NewAccount(
                id: Bed.id.uppercased(), email: "alice@example.com", isEmailVerified: true, phoneNumber: "+1 5550100",
                password: "secret", displayName: "Alice", photoURL: URL(string: "https://example.com/a.png"),
                isDisabled: true, claims: ["role": "editor", "team": ["seats": [1, 2.5]]]))
        #expect(
            bed.body(0) == [
                "email": "alice@example.com", "phone": "15550100", "phone_confirm": true, "password": "secret",
                "email_confirm": true,
                "user_metadata": ["full_name": "Alice", "avatar_url": "https://example.com/a.png"],
                "ban_duration": "876000h", "app_metadata": ["role": "editor", "team": ["seats": [1, 2.5]]],
                "id": .string(Bed.id),
            ])
        let plain = Bed(Bed.on(.post, "/admin/users", Bed.account()))
        try await plain.client.create(NewAccount(email: "alice@example.com"))
        #expect(plain.body(0) == ["email": "alice@example.com"])
    }

    @Test func `New claims take away the old ones, and leave what the service keeps`() async throws {
        let old = #","app_metadata":{"provider":"email","providers":["email"],"role":"editor","old":{"a":1}}"#
        let bed = Bed(
            Bed.on(.get, Bed.user, Bed.account(Bed.id, old)), Bed.on(.put, Bed.user, Bed.account()),
            Bed.on(.get, Bed.user, Bed.account(Bed.id, old)), Bed.on(.put, Bed.user, Bed.account()))
        try await bed.client.setClaims(["role": "owner", "new": 1], of: Bed.id)
        #expect(bed.body(1) == ["app_metadata": ["new": 1, "role": "owner", "old": .null]])
        try await bed.client.setClaims([:], of: Bed.id)
        #expect(bed.body(3) == ["app_metadata": ["role": .null, "old": .null]])
        try bed.transport.verify()
    }

    @Test func `Only what is named is sent, and nothing where nothing is`() async throws {
        let bed = Bed(
            Bed.on(.put, Bed.user, Bed.account()), Bed.on(.put, Bed.user, Bed.account()),
            Bed.on(.get, Bed.user, Bed.account()), Bed.on(.get, Bed.user, Bed.account()))
        try await bed.client.update(Bed.id, AccountEdit(displayName: ""))
        #expect(bed.body(0) == ["user_metadata": ["full_name": .null]])
        try await bed.client.setDisabled(false, Bed.id)
        #expect(bed.body(1) == ["ban_duration": "none"])
        #expect(try await bed.client.update(Bed.id, AccountEdit()).id == Bed.id)
        // There is nothing to set: the account has no claims.
        #expect(try await bed.client.update(Bed.id, AccountEdit(claims: [:])).id == Bed.id)
        try bed.transport.verify()
    }

    @Test func `What can be no account is refused before anything is sent`() async {
        let bed = Bed()
        let email = "alice@example.com"
        let accounts: [(NewAccount, AuthError.Code)] = [
            (NewAccount(email: "alice"), .invalidArgument), (NewAccount(email: ""), .invalidArgument),
            (NewAccount(phoneNumber: "5550100"), .invalidArgument), (NewAccount(password: "secret"), .invalidArgument),
            (NewAccount(id: "alice", email: email), .invalidArgument),
            (NewAccount(email: email, password: "12345"), .weakPassword),
            (NewAccount(email: email, password: Secret(String(repeating: "x", count: 73))), .weakPassword),
            (NewAccount(email: email, claims: ["provider": "x"]), .invalidArgument),
            (NewAccount(email: email, claims: ["x": .bytes(Data([1]))]), .invalidArgument),
            (NewAccount(email: email, claims: ["x": [["y": .double(.infinity)]]]), .invalidArgument),
            (NewAccount(email: email, claims: ["x": .integer(1 << 53 + 1)]), .invalidArgument),
        ]
        for (account, expected) in accounts {
            let code = await bed.code { client throws(AuthError) in try await client.create(account) }
            #expect(code == expected, "\(account)")
        }
        for id in ["alice", ""] {
            #expect(await bed.code { client throws(AuthError) in try await client.delete(id) } == .userNotFound)
            let code = await bed.code { client throws(AuthError) in
                try await client.update(id, AccountEdit(displayName: "x"))
            }
            #expect(code == .userNotFound)
        }
        #expect(bed.transport.requests.isEmpty)
    }

    @Test func `What the database refuses is named after what is taken`() async throws {
        let other = #"{"id":"x","email":"bob@example.com","created_at":"2026-01-01T00:00:00Z"}"#
        let failure = Bed.refusal(.put, Bed.user, "unexpected_failure", status: 500)
        let taken = Bed(failure, Bed.list(other, filter: "bob%40example.com"))
        let edit = AccountEdit(email: "Bob@example.com")
        #expect(await taken.code { client throws(AuthError) in try await client.update(Bed.id, edit) } == .emailInUse)
        try taken.transport.verify()

        let free = Bed(failure, Bed.list(filter: "bob%40example.com"))
        #expect(await free.code { client throws(AuthError) in try await client.update(Bed.id, edit) } == .unavailable)
        try free.transport.verify()

        let number = Bed(
            failure,
            Bed.on(
                .get, "/admin/users?page=1&per_page=1000&sort=created_at%20asc",
                #"{"users":[{"id":"x","phone":"15550100","created_at":"2026-01-01T00:00:00Z"}]}"#))
        let code = await number.code { client throws(AuthError) in
            try await client.update(Bed.id, AccountEdit(phoneNumber: "+15550100"))
        }
        #expect(code == .identityInUse)

        // An ID that is taken, whatever the service says first.
        for refusal in [
            Bed.refusal(.post, "/admin/users", "unexpected_failure", status: 500),
            Bed.refusal(.post, "/admin/users", "email_exists", status: 422),
        ] {
            let known = Bed(refusal, Bed.on(.get, Bed.user, Bed.account()))
            let code = await known.code { client throws(AuthError) in
                try await client.create(NewAccount(id: Bed.id, email: "bob@example.com"))
            }
            #expect(code == .identityInUse)
            try known.transport.verify()
        }
    }

    @Test func `A refusal has the meaning that the one table gives it`() async {
        for (name, status, code) in [
            ("email_exists", 422, AuthError.Code.emailInUse), ("phone_exists", 422, .identityInUse),
            ("weak_password", 422, .weakPassword), ("over_request_rate_limit", 429, .rateLimited),
            ("user_not_found", 404, .userNotFound), ("request_timeout", 504, .unavailable),
        ] {
            let bed = Bed(Bed.refusal(.put, Bed.user, name, status: status))
            let found = await bed.code { client throws(AuthError) in
                try await client.update(Bed.id, AccountEdit(displayName: "x"))
            }
            #expect(found == code, "\(name)")
        }
    }

    @Test func `An address does not stop being confirmed, and one that is not already is left`() async throws {
        let bed = Bed(Bed.on(.get, Bed.user, Bed.account()))
        let error = await #expect(throws: AuthError.self) {
            try await bed.client.update(Bed.id, AccountEdit(isEmailVerified: false, displayName: "x"))
        }
        #expect(error?.code == .unsupported && bed.transport.requests.count == 1)
        let waiting = Bed(
            Bed.on(.get, Bed.user, #"{"id":"\#(Bed.id)","email":"alice@example.com"}"#),
            Bed.on(.put, Bed.user, Bed.account()))
        try await waiting.client.update(Bed.id, AccountEdit(isEmailVerified: false, displayName: "x"))
        #expect(waiting.body(1) == ["user_metadata": ["full_name": "x"]])
    }

    @Test func `A hash that is none of bcrypt's is not sent, and other kinds are refused as such`() async throws {
        let good = "$2b$10$abcdefghijklmnopqrstuuXSJobUwokaGZ3.IEDGUkjobfuLnzYCK"
        let bed = Bed(Bed.on(.post, "/admin/users", Bed.account()))
        let account = NewAccount(email: "alice@example.com", password: "is not sent")
        var imported = [
            ImportedAccount(id: Bed.id, account, passwordHash: .bcrypt(Secret(good))),
            ImportedAccount(
                id: "p", account, passwordHash: .pbkdf2SHA256(hash: "x", salt: "y", rounds: 1)),
        ]
        let bad = ["", "plain", String(good.dropLast()), "$2x" + good.dropFirst(3), good + "!"]
        for (index, hash) in bad.enumerated() {
            imported.append(
                ImportedAccount(
                    id: "00000000-0000-4000-8000-00000000000\(index)", account, passwordHash: .bcrypt(Secret(hash))))
        }
        let failures = try await bed.client.importAccounts(imported)
        #expect(failures.count == 6 && failures["p"]?.code == .unsupported && failures[Bed.id] == nil)
        #expect(failures.values.filter { $0.code == .invalidArgument }.count == 5)
        #expect(
            bed.body(0) == ["email": "alice@example.com", "id": .string(Bed.id), "password_hash": .string(good)])
        #expect(failures.values.allSatisfy { !$0.description.contains("abcdefghij") })
        try bed.transport.verify()
    }

    @Test func `Hashes of Argon2 and of keyed scrypt are sent as the service reads them`() async throws {
        let argon2 = "$argon2id$v=19$m=32,t=3,p=2$SFVpOWJ0eXhjRzVkdGN1RQ$RXnb8rh7LaDcn07xsssqqulZYXOM/EUCEFMVcAcyYVk"
        let settings = PasswordHash.ScryptSettings(signerKey: "c2lnbmVy", saltSeparator: "Bw==")
        let bare = PasswordHash.ScryptSettings(
            signerKey: "c2lnbmVy", saltSeparator: "", rounds: 4, memoryCost: 12)
        let sent: [(PasswordHash, String)] = [
            (.argon2(Secret(argon2)), argon2),
            (
                .keyedScrypt(hash: "aGFzaA==", salt: "c2FsdA==", settings),
                "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=c2lnbmVy$c2FsdA==$aGFzaA=="
            ),
            (
                .keyedScrypt(hash: "aGFzaA==", salt: "c2FsdA==", bare),
                "$fbscrypt$v=1,n=12,r=4,p=1,sk=c2lnbmVy$c2FsdA==$aGFzaA=="
            ),
        ]
        for (hash, text) in sent {
            let bed = Bed(Bed.on(.post, "/admin/users", Bed.account()))
            let account = ImportedAccount(id: Bed.id, NewAccount(email: "alice@example.com"), passwordHash: hash)
            #expect(try await bed.client.importAccounts([account]).isEmpty)
            #expect(bed.body(0)["password_hash"]?.string == text)
        }
    }

    @Test func `Hashes of Argon2 and of keyed scrypt that the service cannot read are not sent`() async throws {
        let good = "$argon2id$v=19$m=32,t=3,p=2$SFVpOWJ0eXhjRzVkdGN1RQ$RXnb8rh7LaDcn07xsssqqulZYXOM/EUCEFMVcAcyYVk"
        let changes = [
            ("argon2id", "argon2d"), ("v=19", "v=16"), ("m=32,", ""), ("t=3", "t=0"), ("p=2", "p=-2"),
            ("m=32", "m=99999999999"), ("$SFVpOWJ0eXhjRzVkdGN1RQ", "$"), ("RXnb8", "RXn!8"), ("YVk", "YVk$"),
        ]
        var hashes = changes.map { PasswordHash.argon2(Secret(good.replacing($0, with: $1))) }
        hashes.append(.argon2("plain"))
        let fine = PasswordHash.ScryptSettings(signerKey: "c2lnbmVy", saltSeparator: "Bw==")
        var (slow, large, keyless, apart) = (fine, fine, fine, fine)
        slow.rounds = 0
        large.memoryCost = 40
        keyless.signerKey = ""
        apart.saltSeparator = "$"
        hashes += [slow, large, keyless, apart].map { .keyedScrypt(hash: "aGFzaA==", salt: "c2FsdA==", $0) }
        hashes.append(.keyedScrypt(hash: "", salt: "c2FsdA==", fine))
        hashes.append(.keyedScrypt(hash: "aGFzaA==", salt: "a,b", fine))
        let bed = Bed()
        let failures = try await bed.client.importAccounts(
            hashes.enumerated().map { index, hash in
                let id = "00000000-0000-4000-8000-0000000000\(index + 10)"
                return ImportedAccount(id: id, NewAccount(email: "alice@example.com"), passwordHash: hash)
            })
        #expect(failures.count == hashes.count && Set(failures.values.map(\.code)) == [.invalidArgument])
        #expect(bed.transport.requests.isEmpty)
    }

    @Test func `Whoever is cancelled sends nothing`() async {
        let bed = Bed()
        let calls: [@Sendable (SupabaseAdminClient) async throws -> Void] = [
            { _ = try await $0.accounts([]) }, { _ = try await $0.accounts([.id(Bed.id), .email("a@example.com")]) },
            { _ = try await $0.accountPage(after: nil, limit: 10) },
            { _ = try await $0.create(NewAccount(email: "a@example.com")) },
            { _ = try await $0.update(Bed.id, AccountEdit(displayName: "x")) }, { try await $0.delete(Bed.id) },
            { _ = try await $0.link(.signIn, for: "a@example.com") },
            { _ = try await $0.importAccounts([ImportedAccount(id: Bed.id, NewAccount(email: "a@example.com"))]) },
        ]
        for (index, call) in calls.enumerated() {
            let client = bed.client
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await call(client)
            }
            let error = await #expect(throws: AuthError.self, "call \(index)") { try await task.value }
            #expect(error?.code == .cancelled, "call \(index)")
        }
        #expect(bed.transport.requests.isEmpty)
    }
}
