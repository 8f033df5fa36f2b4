import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

@Suite struct FirebaseMessagingTests {
    private let push = PlatformPushToken(apns: Data([0x74, 0x0F, 0xAB]))

    @Test func `Registering makes an installation and hands over the platform's token`() async throws {
        let bed = try MessagingBed(MessagingBed.installed(), MessagingBed.registered())
        try await bed.client.setPlatformToken(push)
        #expect(bed.transport.requests.isEmpty, "nothing is registered before it is asked for")
        let token = try await bed.client.token()
        #expect(token.value.reveal() == MessagingBed.id)
        let proposed = try #require(bed.body(0)["fid"]?.string)
        #expect(FirebaseInstallation.isID(proposed), "the proposal has the form of a name")
        #expect(bed.body(0)["authVersion"]?.string == "FIS_v2" && bed.body(0)["appId"]?.string == "1:1:ios:abc")
        #expect(bed.body(0)["sdkVersion"]?.string?.hasPrefix("i:") == true)
        #expect(bed.header("x-goog-api-key", 0) == "the-key")
        #expect(bed.header("X-Goog-Firebase-Installations-Auth", 1) == "auth-1", "bare on Apple's platforms")
        let ios = bed.body(1)["ios"]
        #expect(ios?["apns_token"]?.string == "740fab" && ios?["apns_environment"]?.string == "PROD")
        #expect(ios?["bundle_id"]?.string == "com.example.app" && ios?["app_version"]?.string == "1.4")
        #expect(bed.body(1)["fcm_sdk_version"]?.string?.hasPrefix("fcm-") == true, "else the answer is of an old kind")
        #expect(try await bed.client.token() == token)
        try bed.transport.verify()
    }

    @Test(arguments: [
        ("app.example.com", "app.example.com"), ("https://app.example.com", "app.example.com"),
        ("http://localhost:8080/push/", "localhost:8080"),
    ])
    func `A browser's subscription is registered in its own way`(origin: String, sent: String) async throws {
        let bed = try MessagingBed(MessagingBed.installed(), MessagingBed.registered(), appID: "1:1:web:abc")
        try await bed.client.setPlatformToken(MessagingBed.browser(origin: origin))
        _ = try await bed.client.token()
        #expect(bed.header("X-Goog-Firebase-Installations-Auth", 1) == "FIS auth-1")
        #expect(bed.body(0)["sdkVersion"]?.string?.hasPrefix("w:") == true)
        #expect(
            bed.body(1)["web"] == [
                "endpoint": "https://push.example/x", "p256dh": "P", "auth": "A", "origin": .string(sent),
            ])
        let code = await bed.code { () async throws(MessagingError) in
            try await bed.client.setPlatformToken(PlatformPushToken(.webPush, token: "no subscription"))
        }
        #expect(code == .invalidArgument)
    }

    @Test func `The token of a push service that Firebase does not know is refused`() async throws {
        let bed = try MessagingBed()
        do throws(MessagingError) {
            try await bed.client.setPlatformToken(PlatformPushToken(.init(rawValue: "pigeon"), token: "x"))
            #expect(Bool(false), "it was taken")
        } catch {
            #expect(error.code == .invalidArgument && error.message.contains("webPush"))
        }
        try bed.transport.verify()
    }

    @Test func `Without a push service everything about push is refused, with the reason`() async throws {
        let bed = try MessagingBed(hasPushService: false)
        #expect(bed.client.capabilities == MessagingCapabilities())
        do throws(MessagingError) {
            _ = try await bed.client.token()
            #expect(Bool(false), "there was a token")
        } catch {
            #expect(error.code == .unsupported && error.message.contains("no push service"))
        }
        for code in [
            await bed.code({ () async throws(MessagingError) in try await bed.client.setPlatformToken(push) }),
            await bed.code({ () async throws(MessagingError) in try await bed.client.subscribe(to: "news") }),
            await bed.code({ () async throws(MessagingError) in try await bed.client.deleteToken() }),
        ] {
            #expect(code == .unsupported)
        }
        let without = try MessagingBed(appID: nil)
        let code = await without.code { () async throws(MessagingError) in try await without.client.token() }
        #expect(code == .unsupported && !without.client.capabilities.push)
    }

    @Test func `Before the platform's token there is none`() async throws {
        let bed = try MessagingBed()
        let code = await bed.code { () async throws(MessagingError) in try await bed.client.token() }
        #expect(code == .noPlatformToken && bed.transport.requests.isEmpty)
    }

    @Test func `A registration outlasts the client, and is renewed when its reasons change or a week is over`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("messaging-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try MessagingBed(MessagingBed.installed(), MessagingBed.registered(), folder: folder)
        try await first.client.setPlatformToken(push)
        let token = try await first.client.token()
        let file = folder.appendingPathComponent("messaging/installation.json")
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)

        let again = try MessagingBed(folder: folder)
        #expect(try await again.client.token() == token)
        try again.transport.verify()

        let updated = try MessagingBed(
            MessagingBed.registered("c0000000000000000000_2"), appVersion: "1.5", folder: folder)
        #expect(try await updated.client.token().value.reveal() == "c0000000000000000000_2")
        #expect(updated.body(0)["ios"]?["app_version"]?.string == "1.5")

        let later = try MessagingBed(
            MessagingBed.generated("auth-2"), MessagingBed.registered(), appVersion: "1.5", folder: folder)
        later.now += 7 * 86_400 + 1
        _ = try await later.client.token()
        #expect(
            later.header("X-Goog-Firebase-Installations-Auth", 1) == "auth-2", "the installation's token ran out too")
        #expect(later.header("Authorization", 0) == "FIS_v2 refresh")
        try later.transport.verify()
    }

    @Test func `A new push token registers again, none ends the registration`() async throws {
        let bed = try MessagingBed(
            MessagingBed.installed(), MessagingBed.registered(), MessagingBed.registered("c0000000000000000000_2"),
            .on(.delete, "\(MessagingBed.registrations)/c0000000000000000000_2", .json("{}")))
        try await bed.client.setPlatformToken(push)
        _ = try await bed.client.token()
        try await bed.client.setPlatformToken(PlatformPushToken(apns: Data([1]), isSandbox: true))
        #expect(bed.body(2)["ios"]?["apns_environment"]?.string == "SANDBOX")
        #expect(try await bed.client.token().value.reveal() == "c0000000000000000000_2")
        try await bed.client.setPlatformToken(nil)
        try bed.transport.verify()
    }

    @Test func `A push token that changes while the one before is being registered is registered too`() async throws {
        let gate = Gate()
        let bed = try MessagingBed(
            MessagingBed.installed(),
            .on(
                .post, MessagingBed.registrations,
                ScriptedReply.json(#"{"name":"projects/demo/registrations/\#(MessagingBed.id)"}"#).delayed(until: gate)),
            MessagingBed.registered("c0000000000000000000_2"))
        let (client, push) = (bed.client, push)
        try await client.setPlatformToken(push)
        let token = Task { try await client.token() }
        try await eventually("the first token is on its way") { gate.waiting == 1 }
        try await client.setPlatformToken(PlatformPushToken(apns: Data([1])))
        gate.open()
        #expect(try await token.value.value.reveal() == "c0000000000000000000_2")
        #expect(bed.body(2)["ios"]?["apns_token"]?.string == "01")
        #expect(try await client.token().value.reveal() == "c0000000000000000000_2")
        try bed.transport.verify()
    }

    @Test func `A push token that is withdrawn while it is being registered leaves no registration`() async throws {
        let gate = Gate()
        let bed = try MessagingBed(
            MessagingBed.installed(),
            .on(
                .post, MessagingBed.registrations,
                ScriptedReply.json(#"{"name":"projects/demo/registrations/\#(MessagingBed.id)"}"#).delayed(until: gate)),
            .on(.delete, "\(MessagingBed.registrations)/\(MessagingBed.id)", .json("{}")))
        let (client, push) = (bed.client, push)
        try await client.setPlatformToken(push)
        let code = Task { await bed.code { () async throws(MessagingError) in try await client.token() } }
        try await eventually("the token is on its way") { gate.waiting == 1 }
        try await client.setPlatformToken(nil)
        gate.open()
        #expect(await code.value == .noPlatformToken)
        try bed.transport.verify()
    }

    @Test(arguments: [401, 404])
    func `An installation that the server has forgotten is recreated`(status: Int) async throws {
        let bed = try MessagingBed(
            MessagingBed.installed(), MessagingBed.registered(),
            MessagingBed.notGenerated(status == 401 ? .status(401) : MessagingBed.unknown),
            MessagingBed.installed("c0000000000000000000_3", token: "auth-3"),
            MessagingBed.registered("c0000000000000000000_3"))
        try await bed.client.setPlatformToken(push)
        _ = try await bed.client.token()
        bed.now += 7 * 86_400
        #expect(try await bed.client.token().value.reveal() == "c0000000000000000000_3")
        #expect(bed.header("X-Goog-Firebase-Installations-Auth", 4) == "auth-3")
        try bed.transport.verify()
    }

    @Test func `A token of the installation that is not taken is replaced, once`() async throws {
        let bed = try MessagingBed(
            MessagingBed.installed(), MessagingBed.registered(status: 401), MessagingBed.generated("auth-2"),
            MessagingBed.registered(status: 401))
        try await bed.client.setPlatformToken(push)
        let code = await bed.code { () async throws(MessagingError) in try await bed.client.token() }
        #expect(code == .unauthenticated)
        try bed.transport.verify()
    }

    @Test func `A name that is taken is replaced by another, a mishap of the server is tried again once`() async throws
    {
        let bed = try MessagingBed(
            .on(.post, MessagingBed.installations, .json(#"{"error":{"status":"ALREADY_EXISTS"}}"#, status: 409)),
            .on(.post, MessagingBed.installations, .text("oops", status: 503)),
            MessagingBed.installed(), MessagingBed.registered())
        try await bed.client.setPlatformToken(push)
        _ = try await bed.client.token()
        #expect(bed.body(0)["fid"]?.string != bed.body(1)["fid"]?.string)
        #expect(bed.body(1)["fid"]?.string == bed.body(2)["fid"]?.string)
        try bed.transport.verify()
    }

    @Test(arguments: [
        (400, MessagingError.Code.invalidArgument), (403, .unauthorized), (429, .rateLimited), (404, .invalidArgument),
    ])
    func `What is wrong with the configuration says so`(status: Int, code: MessagingError.Code) async throws {
        let bed = try MessagingBed(
            .on(
                .post, MessagingBed.installations,
                .json(
                    #"{"error":{"code":\#(status),"status":"\#(["", "INVALID_ARGUMENT", "PERMISSION_DENIED", "NOT_FOUND", "RESOURCE_EXHAUSTED"][status == 400 ? 1 : status == 403 ? 2 : status == 404 ? 3 : 4])"}}"#,
                    status: status)))
        try await bed.client.setPlatformToken(push)
        let found = await bed.code { () async throws(MessagingError) in try await bed.client.token() }
        #expect(found == code)
    }

    @Test func `A key that the project does not take has the code that documents have for it`() async throws {
        let answer =
            #"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","#
            + #""details":[{"reason":"API_KEY_INVALID"}]}}"#
        let bed = try MessagingBed(.on(.post, MessagingBed.installations, .json(answer, status: 400)))
        try await bed.client.setPlatformToken(push)
        let error = await #expect(throws: MessagingError.self) { try await bed.client.token() }
        #expect(error?.code == .unauthenticated && error?.isRetryable == false)
        #expect(error?.message.contains("(API_KEY_INVALID). Copy apiKey") == true)
        try bed.transport.verify()
    }

    @Test func `Deleting ends registration and installation, whether the server still knows them or not`() async throws
    {
        let bed = try MessagingBed(
            MessagingBed.installed(), MessagingBed.registered(),
            .on(.delete, "\(MessagingBed.registrations)/\(MessagingBed.id)", MessagingBed.unknown),
            .on(.delete, "\(MessagingBed.installations)/\(MessagingBed.id)", MessagingBed.unknown))
        try await bed.client.setPlatformToken(push)
        _ = try await bed.client.token()
        try await bed.client.deleteToken()
        try await bed.client.deleteToken()
        #expect(bed.header("Authorization", 3) == "FIS_v2 refresh")
        try bed.transport.verify()
    }

    @Test func `A proxy's page is not taken for a registration that is gone`() async throws {
        let bed = try MessagingBed(
            MessagingBed.installed(), MessagingBed.registered(),
            .on(.delete, "\(MessagingBed.registrations)/\(MessagingBed.id)", MessagingBed.page),
            .on(.delete, "\(MessagingBed.registrations)/\(MessagingBed.id)", .json("{}")),
            .on(.delete, "\(MessagingBed.installations)/\(MessagingBed.id)", .json("{}")))
        try await bed.client.setPlatformToken(push)
        _ = try await bed.client.token()
        let code = await bed.code { () async throws(MessagingError) in try await bed.client.deleteToken() }
        #expect(code == .unavailable)
        try await bed.client.deleteToken()
        try bed.transport.verify()
    }

    @Test func `Topics are joined and left in the name of the registration`() async throws {
        let place = "\(MessagingBed.registrations)/\(MessagingBed.id)/topicSubscriptions/news"
        let bed = try MessagingBed(
            MessagingBed.installed(), MessagingBed.registered(), .on(.post, "\(place):subscribe", .status(200)),
            .on(.post, "\(place):unsubscribe", .json("{}")))
        try await bed.client.setPlatformToken(push)
        try await bed.client.subscribe(to: "news")
        try await bed.client.unsubscribe(from: "news")
        #expect(bed.header("X-Goog-Firebase-Installations-Auth", 2) == "auth-1")
        #expect(bed.transport.requests[2].body.isEmpty)
        try bed.transport.verify()
    }

    @Test func `A topic's old prefix is dropped`() async throws {
        #expect(try MessagingTopic(validating: "/topics/news") == "news")
        for text in ["/topics/", "/topics/a/b", "/topics//topics/a", "topics/a"] {
            #expect(throws: MessagingError.self) { try MessagingTopic(validating: text) }
        }
        let bed = try MessagingBed(
            MessagingBed.installed(), MessagingBed.registered(),
            .on(
                .post, "\(MessagingBed.registrations)/\(MessagingBed.id)/topicSubscriptions/news:subscribe",
                .status(200)
            ))
        try await bed.client.setPlatformToken(push)
        try await bed.client.subscribe(to: "/topics/news")
        try bed.transport.verify()
    }

    @Test(arguments: [MessagingBed.browser(), PlatformPushToken(.fcm, token: "android")])
    func `Topics of a browser or of Android are a server's business`(token: PlatformPushToken) async throws {
        let bed = try MessagingBed()
        try await bed.client.setPlatformToken(token)
        for isOn in [true, false] {
            do throws(MessagingError) {
                if isOn {
                    try await bed.client.subscribe(to: "news")
                } else {
                    try await bed.client.unsubscribe(from: "news")
                }
                #expect(Bool(false), "the topic was taken")
            } catch {
                #expect(error.code == .unsupported && error.message.contains("FirebaseMessageSender"))
                #expect(error.message.contains(token.service.rawValue))
            }
        }
        #expect(bed.transport.requests.isEmpty)
    }

    @Test func `The token of Android's library is the name, without a call to anybody`() async throws {
        let bed = try MessagingBed(appID: "1:1:android:abc")
        try await bed.client.setPlatformToken(PlatformPushToken(.fcm, token: "first"))
        #expect(try await bed.client.token().value.reveal() == "first")
        var tokenUpdates = bed.client.tokenStream().makeAsyncIterator()
        #expect(try await tokenUpdates.next()??.value.reveal() == "first")
        try await bed.client.setPlatformToken(PlatformPushToken(.fcm, token: "second"))
        #expect(try await tokenUpdates.next()??.value.reveal() == "second")
        try await bed.client.deleteToken()
        try bed.transport.verify()
    }

    @Test func `Many who ask at once cost one registration`() async throws {
        let bed = try MessagingBed(MessagingBed.installed(), MessagingBed.registered())
        try await bed.client.setPlatformToken(push)
        let tokens = try await withThrowingTaskGroup(of: MessagingToken.self) { group in
            for _ in 0..<10 { group.addTask { try await bed.client.token() } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
        try bed.transport.verify()
    }

    @Test func `Nothing secret goes to another machine in clear text`() async throws {
        var hosts = FirebaseConfiguration.Hosts()
        hosts.installations = "http://10.0.0.1"
        let first = try MessagingBed(hosts: hosts)
        hosts = FirebaseConfiguration.Hosts()
        hosts.registrations = "http://registrations.example.com"
        let second = try MessagingBed(MessagingBed.installed(), hosts: hosts)
        for bed in [first, second] {
            try await bed.client.setPlatformToken(push)
            let code = await bed.code { () async throws(MessagingError) in try await bed.client.token() }
            #expect(code == .invalidArgument)
            try bed.transport.verify()
        }
    }

    @Test func `Names of installations have their form, and are never the same`() {
        var generator = SeededGenerator(seed: 7)
        let names = (0..<1000).map { _ in FirebaseInstallation.makeID(using: &generator) }
        #expect(names.allSatisfy(FirebaseInstallation.isID) && Set(names).count == 1000)
        #expect(Set(names.compactMap(\.first)) == ["c", "d", "e", "f"])
        for text in [
            "", "aIrBbg6RTkSzQJbQG3ZsVe", "cIrBbg6RTkSzQJbQG3ZsV", "cIrBbg6RTkSzQJbQG3ZsV/", "cIrBbg6RTkSzQJbQG3ZsVee",
        ] {
            #expect(!FirebaseInstallation.isID(text))
        }
    }
}
