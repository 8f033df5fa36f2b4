import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// What an installation and its registration are worth, and when they are replaced.
@Suite struct FirebaseInstallationTests {
    private let push = PlatformPushToken(apns: Data([0x74, 0x0F, 0xAB]))
    private let other = "c0000000000000000000_2"

    @Test func `A registration in a different installation's name is asked for again`() async throws {
        let bed = try MessagingBed(
            MessagingBed.installed(), MessagingBed.registered(other), MessagingBed.generated("auth-2"),
            MessagingBed.registered())
        try await bed.client.setPlatformToken(MessagingBed.browser())
        #expect(try await bed.client.token().value.reveal() == MessagingBed.id)
        #expect(bed.header("X-Goog-Firebase-Installations-Auth", 3) == "FIS auth-2")
        try bed.transport.verify()
    }

    @Test func `A registration that stays in another's name is none, after the third time`() async throws {
        let bed = try MessagingBed(
            MessagingBed.installed(), MessagingBed.registered(other), MessagingBed.generated("auth-2"),
            MessagingBed.registered(other), MessagingBed.generated("auth-3"), MessagingBed.registered(other))
        try await bed.client.setPlatformToken(MessagingBed.browser())
        do throws(MessagingError) {
            _ = try await bed.client.token()
            #expect(Bool(false), "it was taken")
        } catch {
            #expect(error.code == .unavailable && error.message.contains("a different installation"))
        }
        try bed.transport.verify()
    }

    @Test(arguments: ["", #""fid":"","#])
    func `An answer that names no installation has taken ours`(fid: String) async throws {
        let answer = #"{\#(fid)"refreshToken":"refresh","authToken":{"token":"auth-1","expiresIn":"604800s"}}"#
        let bed = try MessagingBed(
            .on(.post, MessagingBed.installations, .json(answer)), MessagingBed.registered(),
            .on(.delete, "\(MessagingBed.registrations)/\(MessagingBed.id)", .json("{}")))
        try await bed.client.setPlatformToken(push)
        _ = try await bed.client.token()
        let proposed = try #require(bed.body(0)["fid"]?.string)
        bed.transport.expect(.on(.delete, "\(MessagingBed.installations)/\(proposed)", .json("{}")))
        try await bed.client.deleteToken()
        try bed.transport.verify()
    }

    @Test func `A token of an installation is over in its last hour, and on a clock that was set back`() {
        func time(_ seconds: Int64) -> Timestamp { Timestamp(microseconds: (1_800_000_000 + seconds) * 1_000_000) }
        let installation = FirebaseInstallation(
            id: MessagingBed.id, refreshToken: "r", token: "t", issuedAt: time(0), expiresAt: time(604_800))
        #expect(installation.isGood(at: time(0)))
        #expect(installation.isGood(at: time(604_800 - 3601)))
        #expect(!installation.isGood(at: time(604_800 - 3599)))
        #expect(!installation.isGood(at: time(-2)))
    }

    @Test func `A registration dated in the future is renewed`() async throws {
        let bed = try MessagingBed(
            MessagingBed.installed(), MessagingBed.registered(), MessagingBed.generated("auth-2"),
            MessagingBed.registered())
        try await bed.client.setPlatformToken(push)
        _ = try await bed.client.token()
        bed.now -= 10
        _ = try await bed.client.token()
        #expect(bed.header("X-Goog-Firebase-Installations-Auth", 3) == "auth-2")
        try bed.transport.verify()
    }

    @Test func `Many who need a new token of the installation at once cost one`() async throws {
        let gate = Gate()
        let join = ScriptedExchange.on(
            .post, "\(MessagingBed.registrations)/\(MessagingBed.id)/topicSubscriptions/news:subscribe", .status(200))
        let bed = try MessagingBed(
            MessagingBed.installed(), MessagingBed.registered(),
            .on(
                .post, "\(MessagingBed.installations)/\(MessagingBed.id)/authTokens:generate",
                ScriptedReply.json(#"{"token":"auth-2","expiresIn":"604800s"}"#).delayed(until: gate)),
            join, join, join, join, join)
        try await bed.client.setPlatformToken(push)
        _ = try await bed.client.token()
        bed.now += 604_800 - 60
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<5 { group.addTask { try await bed.client.subscribe(to: "news") } }
            try await eventually("a new token is asked for") { gate.waiting == 1 }
            gate.open()
            try await group.waitForAll()
        }
        try bed.transport.verify()
    }

    @Test func `A topic is joined in the name of the installation that had to be recreated on the way`() async throws {
        let bed = try MessagingBed(
            MessagingBed.installed(), MessagingBed.registered(),
            .on(
                .post, "\(MessagingBed.registrations)/\(MessagingBed.id)/topicSubscriptions/news:subscribe",
                .status(401)
            ), MessagingBed.notGenerated(MessagingBed.unknown), MessagingBed.installed(other, token: "auth-2"),
            MessagingBed.registered(other),
            .on(.post, "\(MessagingBed.registrations)/\(other)/topicSubscriptions/news:subscribe", .status(200)))
        try await bed.client.setPlatformToken(push)
        try await bed.client.subscribe(to: "news")
        #expect(bed.header("X-Goog-Firebase-Installations-Auth", 6) == "auth-2")
        #expect(try await bed.client.token().value.reveal() == other)
        try bed.transport.verify()
    }

    @Test func `A proxy's page does not cost the device its name`() async throws {
        let place = "\(MessagingBed.registrations)/\(MessagingBed.id)/topicSubscriptions/news:subscribe"
        let bed = try MessagingBed(
            MessagingBed.installed(), MessagingBed.registered(), .on(.post, place, .status(401)),
            MessagingBed.notGenerated(MessagingBed.page))
        try await bed.client.setPlatformToken(push)
        let code = await bed.code { () async throws(MessagingError) in try await bed.client.subscribe(to: "news") }
        #expect(code == .unavailable)
        #expect(try await bed.client.token().value.reveal() == MessagingBed.id)
        try bed.transport.verify()
    }
}
