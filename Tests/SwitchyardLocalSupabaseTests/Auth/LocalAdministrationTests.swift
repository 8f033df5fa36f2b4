import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// What the project's own server does with accounts.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LocalAdministrationTests {
    @Test func `An account moves here with its id and with the hash of its password`() async throws {
        try await SupabaseBed.with { bed in
            let key = bed.supabase.serviceKey
            let id = "6f2b9ee6-8f0e-4c3f-9d6b-5b6f5a1d0c11"
            let hash = try await bed.value("select extensions.crypt('old secret', extensions.gen_salt('bf', 4))") ?? ""
            let account: JSON = [
                "id": .string(id), "email": "ann@example.com", "password_hash": .string(hash), "email_confirm": true,
            ]
            #expect(try await bed.auth(.post, "/admin/users", account, as: key).json["id"]?.string == id)
            let right = try await bed.auth(
                .post, "/token?grant_type=password", ["email": "ann@example.com", "password": "old secret"])
            #expect(right.json["user"]?["id"]?.string == id)
            let wrong = try await bed.auth(
                .post, "/token?grant_type=password", ["email": "ann@example.com", "password": "another"])
            #expect(wrong.code == "invalid_credentials")
            // What is no ID is refused with a name, what is no hash and an ID that is taken are not.
            for (name, value, code) in [
                ("id", "no-id", "validation_failed"), ("password_hash", "plain text", "unexpected_failure"),
                ("id", id, "unexpected_failure"),
            ] {
                let refused = try await bed.auth(
                    .post, "/admin/users", .object(["email": "bob@example.com", name: .string(value)]), as: key)
                #expect(refused.code == code, "\(name)")
            }
            let both: JSON = ["email": "bob@example.com", "password": "secret", "password_hash": .string(hash)]
            #expect(try await bed.auth(.post, "/admin/users", both, as: key).status == 400)
        }
    }

    @Test func `A soft deletion keeps the row, with no one to be found in it`() async throws {
        try await SupabaseBed.with { bed in
            let key = bed.supabase.serviceKey
            let ann = try await bed.signUp()
            let id = try #require(ann.json["user"]?["id"]?.string)
            let deleted = try await bed.auth(.delete, "/admin/users/\(id)", ["should_soft_delete": true], as: key)
            #expect(deleted.status == 200)
            #expect(try await bed.value("select count(*) from auth.users where deleted_at is not null") == "1")
            #expect(try await bed.value("select count(*) from auth.users where email like '%ann%'") == "0")
            #expect(try await bed.value("select count(*) from auth.sessions") == "0")
            #expect(try await bed.auth(.get, "/user", as: ann.token).status == 403)
            #expect(try await bed.refresh(ann.refreshToken).status == 400)
            let gone = try await bed.auth(
                .post, "/token?grant_type=password", ["email": "ann@example.com", "password": "secret"])
            #expect(gone.code == "invalid_credentials")
            let again = try await bed.signUp()
            #expect(again.json["user"]?["id"]?.string != id, "the address is free")
        }
    }

    @Test func `Lists of accounts come newest first, in pages that name the next and the last`() async throws {
        try await SupabaseBed.with { bed in
            let key = bed.supabase.serviceKey
            for name in ["ann", "bob", "cy"] {
                _ = try await bed.signUp(name)
                bed.advance(1)
            }
            let first = try await bed.auth(.get, "/admin/users?page=1&per_page=2", as: key)
            let names = first.json["users"]?.array?.compactMap { $0["email"]?.string }
            #expect(names == ["cy@example.com", "bob@example.com"])
            #expect(first.headers["X-Total-Count"] == "3")
            #expect(first.headers["Link"]?.contains("page=2&per_page=2>; rel=\"next\"") == true)
            #expect(first.headers["Link"]?.contains("page=2&per_page=2>; rel=\"last\"") == true)
            let last = try await bed.auth(.get, "/admin/users?page=2&per_page=2", as: key)
            #expect(last.json["users"]?.array?.count == 1)
            #expect(last.headers["Link"]?.contains("rel=\"next\"") == false)

            func addresses(_ query: String) async throws -> [String?]? {
                try await bed.auth(.get, "/admin/users?\(query)", as: key).json["users"]?.array?.map {
                    $0["email"]?.string
                }
            }
            #expect(
                try await addresses("page=1&per_page=2&sort=created_at%20asc") == [
                    "ann@example.com", "bob@example.com",
                ])
            #expect(try await addresses("sort=created_at+desc&filter=b_b@") == ["bob@example.com"])
            for sort in ["email%20asc", "created_at%20up"] {
                let refused = try await bed.auth(.get, "/admin/users?sort=\(sort)", as: key)
                #expect(refused.code == "validation_failed", "\(sort)")
            }
        }
    }

    @Test func `An administrator's new address confirms nothing, and a new password ends sessions`() async throws {
        try await SupabaseBed.with { bed in
            let key = bed.supabase.serviceKey
            let made = try await bed.auth(
                .post, "/admin/users", ["email": "ann@example.com", "phone": "+15550100", "password": "x"], as: key)
            let id = try #require(made.json["id"]?.string)
            #expect(made.json["app_metadata"]?["providers"] == ["email", "phone"])
            let changed = try await bed.auth(
                .put, "/admin/users/\(id)", ["email": "anna@example.com", "password": "a secret"], as: key)
            #expect(changed.json["email"] == "anna@example.com" && changed.json["email_confirmed_at"] == nil)
            _ = try await bed.auth(.put, "/admin/users/\(id)", ["email_confirm": true], as: key)
            let session = try await bed.auth(
                .post, "/token?grant_type=password", ["email": "anna@example.com", "password": "a secret"])
            #expect(session.status == 200)
            let weak = try await bed.auth(.put, "/admin/users/\(id)", ["password": ""], as: key)
            #expect(weak.code == "weak_password")
            _ = try await bed.auth(.put, "/admin/users/\(id)", ["password": "another secret"], as: key)
            #expect(try await bed.refresh(session.refreshToken).code == "refresh_token_not_found")
            // The unique index refuses it, and no one says so.
            _ = try await bed.signUp("bob")
            let taken = try await bed.auth(.put, "/admin/users/\(id)", ["email": "bob@example.com"], as: key)
            #expect((taken.status, taken.code) == (500, "unexpected_failure"))
        }
    }

    @Test func `A link is made without a mail, and signs in`() async throws {
        try await SupabaseBed.with { bed in
            let key = bed.supabase.serviceKey
            _ = try await bed.signUp()
            let link = try await bed.auth(
                .post, "/admin/generate_link", ["type": "magiclink", "email": "ann@example.com"], as: key)
            #expect(link.json["verification_type"] == "magiclink")
            #expect(link.json["action_link"]?.string?.contains("/auth/v1/verify?token=") == true)
            let mail = try await bed.mail(to: "ann@example.com")
            #expect(mail.isNull, "nothing was sent")
            let hash = try #require(link.json["hashed_token"])
            let session = try await bed.auth(.post, "/verify", ["type": "magiclink", "token_hash": hash])
            #expect(session.json["user"]?["email"] == "ann@example.com")
            let unknown = try await bed.auth(
                .post, "/admin/generate_link", ["type": "recovery", "email": "unknown@example.com"], as: key)
            #expect(unknown.code == "user_not_found")
            // Whoever is unknown signs up by a link that signs in.
            let newcomer = try await bed.auth(
                .post, "/admin/generate_link", ["type": "magiclink", "email": "bob@example.com"], as: key)
            #expect(newcomer.json["verification_type"] == "signup")
            // Known and unconfirmed, without a password.
            let again = try await bed.auth(
                .post, "/admin/generate_link", ["type": "signup", "email": "bob@example.com"], as: key)
            #expect(again.json["id"] == newcomer.json["id"] && again.json["id"] != nil)
            let outsider = try await bed.auth(
                .post, "/admin/generate_link", ["type": "magiclink", "email": "ann@example.com"], as: session.token)
            #expect(outsider.code == "not_admin")
        }
    }

    @Test func `A number that is set up for tests always gets its code`() async throws {
        try await SupabaseBed.with {
            $0.auth.phoneCodes = ["491700000001": "424242"]
        } _: { bed in
            for _ in 1...2 {
                #expect(try await bed.auth(.post, "/otp", ["phone": "+491700000001"]).status == 200)
                let session = try await bed.auth(
                    .post, "/verify", ["type": "sms", "phone": "+491700000001", "token": "424242"])
                #expect(session.json["user"]?["phone"] == "491700000001")
            }
            _ = try await bed.auth(.post, "/otp", ["phone": "+491700000002"])
            let guess = try await bed.auth(
                .post, "/verify", ["type": "sms", "phone": "+491700000002", "token": "424242"])
            #expect(guess.status == 403 || guess.code == "otp_expired")
        }
    }

    @Test func `A permanent user's new address waits for its mail, though addresses are confirmed by themselves`()
        async throws
    {
        try await SupabaseBed.with {
            $0.auth.confirmsEmailChangeTwice = false
        } _: { bed in
            let ann = try await bed.signUp()
            let waiting = try await bed.auth(.put, "/user", ["email": "anna@example.com"], as: ann.token)
            #expect(waiting.json["email"] == "ann@example.com")
            #expect(waiting.json["new_email"] == "anna@example.com")
            let mail = try await bed.mail(to: "anna@example.com")
            let hash = try #require(mail["token_hash"])
            let changed = try await bed.auth(.post, "/verify", ["type": "email_change", "token_hash": hash])
            #expect(changed.json["user"]?["email"] == "anna@example.com")
        }
    }
}
