import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Links that an administrator asks for, without a server.
@Suite struct SupabaseAdminLinkTests {
    private typealias Bed = SupabaseAdminBed

    private static let link = #"{"action_link":"https://demo.supabase.co/auth/v1/verify?token=x","id":"\#(Bed.id)""#

    @Test func `A link that signs in is made for those only who are known`() async throws {
        let bed = Bed(Bed.refusal(.post, "/admin/generate_link", "user_not_found", status: 404))
        #expect(
            await bed.code { client throws(AuthError) in try await client.link(.signIn, for: "a@example.com") }
                == .userNotFound)
        #expect(bed.body(0) == ["type": "recovery", "email": "a@example.com"])
        #expect(bed.transport.requests.count == 1)
    }

    @Test func `An account that a link has made because the other was deleted meanwhile is taken back`() async throws {
        let bed = Bed(
            Bed.on(.post, "/admin/generate_link", Self.link + #","verification_type":"recovery"}"#),
            Bed.on(.post, "/admin/generate_link", Self.link + #","verification_type":"signup"}"#),
            Bed.on(.delete, Bed.user))
        #expect(
            await bed.code { client throws(AuthError) in try await client.link(.signIn, for: "a@example.com") }
                == .userNotFound)
        try bed.transport.verify()
    }

    @Test func `A confirmation is for who is known and waits for it`() async throws {
        let known = Bed(Bed.refusal(.post, "/admin/generate_link", "email_exists", status: 422))
        #expect(
            await known.code { client throws(AuthError) in
                try await client.link(.emailConfirmation, for: "a@example.com")
            } == .invalidArgument)
        #expect(known.body(0) == ["type": "signup", "email": "a@example.com"])
        let unknown = Bed(
            Bed.on(
                .post, "/admin/generate_link",
                #"{"code":"validation_failed","message":"Signup requires a valid password"}"#, status: 400))
        #expect(
            await unknown.code { client throws(AuthError) in
                try await client.link(.emailConfirmation, for: "a@example.com")
            } == .userNotFound)
    }

    @Test func `A link that would lead elsewhere is not given out`() async throws {
        let target = try #require(URL(string: "https://app.example.com/back?a=b"))
        let path = "/admin/generate_link?redirect_to=https%3A%2F%2Fapp.example.com%2Fback%3Fa%3Db"
        let led = Bed(Bed.on(.post, path, Self.link + #","redirect_to":"\#(target.absoluteString)"}"#))
        let url = try await led.client.link(.passwordReset, for: "a@example.com", redirectURL: target)
        #expect(url.absoluteString.hasPrefix("https://demo.supabase.co/auth/v1/verify"))
        let astray = Bed(Bed.on(.post, path, Self.link + #","redirect_to":"https://demo.example.com"}"#))
        let error = await #expect(throws: AuthError.self) {
            try await astray.client.link(.passwordReset, for: "a@example.com", redirectURL: target)
        }
        #expect(error?.code == .invalidArgument && error?.message.contains("Redirect URLs") == true)
    }
}
