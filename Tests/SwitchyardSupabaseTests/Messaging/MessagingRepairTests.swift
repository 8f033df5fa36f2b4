import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// What was registered and subscribed to is delivered again: after restarts, sign-outs, refusals and time without a connection.
@Suite(.timeLimit(.minutes(2))) struct MessagingRepairTests {
    private func withStub(_ body: (MessagingStub) async throws -> Void) async throws {
        let stub = try MessagingStub()
        do {
            try await body(stub)
        } catch {
            await stub.stop()
            throw error
        }
        await stub.stop()
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = ScratchSpace.url.appendingPathComponent("messaging-\(UInt64.random(in: 0..<UInt64.max))")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    /// Sends to the topic “news” and to the installation until both have arrived.
    private func expectBoth(
        _ token: MessagingToken, _ stub: MessagingStub, _ messages: EventStream<RemoteMessage, MessagingError>
    ) async throws {
        await stub.send("switchyard:topic:news", ["id": "a", "title": "News"])
        await stub.send("switchyard:installation:\(token.value.reveal())", ["id": "b", "title": "You"])
        var titles: Set<String> = []
        for try await message in messages {
            titles.insert(message.title ?? "")
            if titles.count == 2 { break }
        }
        #expect(titles == ["News", "You"])
    }

    enum FirstCall: CaseIterable { case permission, platformToken, token }

    @Test(arguments: FirstCall.allCases)
    func `Registration and topics are taken up again whatever was asked first`(_ call: FirstCall) async throws {
        let platform = PlatformPushToken(.apns, token: "platform")
        try await withFolder { folder in
            try await withStub { stub in
                let first = try stub.client(folder: folder)
                try await first.setPlatformToken(platform)
                let token = try await first.token()
                try await first.subscribe(to: "news")
                await first.shutDown()
                try await eventually("the connection is closed") { stub.connections == 0 }

                let second = try stub.client(folder: folder)
                switch call {
                case .permission: _ = await second.permission
                case .platformToken: try await second.setPlatformToken(platform)
                case .token: #expect(try await second.token() == token)
                }
                let messages = await second.messageStream().begun()
                try await eventually("both channels are joined again", within: .seconds(20)) { stub.joins == 4 }
                try await expectBoth(token, stub, messages)
                await second.shutDown()
            }
        }
    }

    @Test(arguments: ["alice", "ben"])
    func `Who signs in again receives messages again`(_ next: String) async throws {
        try await withStub { stub in
            let auth = SteeredAuthClient("alice")
            let client = try stub.client(as: auth)
            try await client.subscribe(to: "news")
            let token = try await client.token()
            let messages = await client.messageStream().begun()
            auth.become(nil)
            try await eventually("no one may listen") { stub.refusals == 2 }
            auth.become(next)
            try await eventually("the installation is theirs", within: .seconds(20)) { stub.owners == [next] }
            // Once that is done, nothing is joined again any more.
            #expect(try await client.token() == token)
            try await eventually("both channels are joined again", within: .seconds(20)) {
                stub.joinedTopics.count == 2
            }
            try await expectBoth(token, stub, messages)
            await client.shutDown()
        }
    }

    @Test func `The installation serves the user who signs in instead`() async throws {
        try await withStub { stub in
            let auth = SteeredAuthClient("alice")
            let client = try stub.client(as: auth)
            try await client.subscribe(to: "news")
            let token = try await client.token()
            let messages = await client.messageStream().begun()
            auth.become("ben")
            try await eventually("the installation is theirs", within: .seconds(20)) { stub.owners == ["ben"] }
            #expect(try await client.token() == token)
            try await eventually("both channels are joined", within: .seconds(20)) { stub.joinedTopics.count == 2 }
            try await expectBoth(token, stub, messages)
            #expect(stub.calls == ["switchyard_register", "switchyard_register"])
            await client.shutDown()
        }
    }

    @Test(arguments: [true, false])
    func `A channel that was refused is tried again after a while`(_ isTopic: Bool) async throws {
        try await withStub { stub in
            let clock = ManualClock()
            let client = try stub.client(clock: clock)
            let channel: MessageChannel
            if isTopic {
                try await client.subscribe(to: "news")
                channel = .topic("news")
            } else {
                channel = .installation(try await client.token().value.reveal())
            }
            let messages = await client.messageStream().begun()
            stub.refuseJoins(true)
            stub.dropConnections()
            try await eventually("the pause before the next connection", within: .seconds(20)) {
                clock.sleeps { $0 < .seconds(1) }
            }
            clock.advance(by: .seconds(1))
            try await eventually("the channel is refused, and the pause before the next try", within: .seconds(20)) {
                stub.refusals == 1 && clock.sleeps { $0 == .seconds(60) }
            }
            stub.refuseJoins(false)
            let refused = clock.now
            // Little by little, so that nothing that is under way runs out of time.
            try await eventually("the channel is joined again", within: .seconds(60)) {
                clock.advance(by: .milliseconds(500))
                return stub.joins == 2
            }
            #expect(refused.duration(to: clock.now) >= .seconds(60))
            #expect(stub.refusals == 1)
            await stub.send(channel.name, ["id": "a", "title": "Again"])
            for try await message in messages {
                #expect(message.title == "Again")
                break
            }
            // The registration may have been what was lost.
            if !isTopic { #expect(stub.calls == ["switchyard_register", "switchyard_register"]) }
            await client.shutDown()
        }
    }

    @Test(.timeLimit(.minutes(1))) func `Messages that arrive do not wait for the question what was missed`()
        async throws
    {
        try await withStub { stub in
            let client = try stub.client()
            try await client.subscribe(to: "news")
            let messages = await client.messageStream().begun()
            let gate = Gate()
            stub.holdMissed(at: gate)
            stub.dropConnections()
            try await eventually("the channel is joined again, and the database is asked", within: .seconds(20)) {
                stub.joins == 2 && gate.waiting > 0
            }
            await stub.send("switchyard:topic:news", ["id": "a", "title": "Live"])
            for try await message in messages {
                #expect(message.title == "Live" && gate.waiting > 0)
                break
            }
            gate.open()
            await client.shutDown()
        }
    }

    @Test func `An app that starts without a connection is registered when there is one`() async throws {
        try await withFolder { folder in
            try await withStub { stub in
                let first = try stub.client(folder: folder)
                let token = try await first.token()
                try await first.subscribe(to: "news")
                await first.shutDown()
                try await eventually("the connection is closed") { stub.connections == 0 }

                stub.failCalls(with: 500)
                let clock = ManualClock()
                let second = try stub.client(folder: folder, clock: clock)
                let messages = await second.messageStream().begun()
                try await eventually("the topic is joined, and the pause before the next try", within: .seconds(20)) {
                    // Twenty seconds are what a join may take.
                    stub.joins == 3 && clock.sleeps { $0 == .seconds(60) } && !clock.sleeps { $0 == .seconds(20) }
                }
                stub.failCalls(with: nil)
                // Little by little, so that nothing that is under way runs out of time.
                try await eventually("the installation is joined", within: .seconds(60)) {
                    clock.advance(by: .milliseconds(250))
                    return stub.joinedTopics.count == 2
                }
                try await expectBoth(token, stub, messages)
                await second.shutDown()
            }
        }
    }

    @Test func `Who is signed in later than the app starts is registered then`() async throws {
        try await withFolder { folder in
            try await withStub { stub in
                let first = try stub.client(folder: folder)
                let token = try await first.token()
                try await first.subscribe(to: "news")
                await first.shutDown()
                try await eventually("the connection is closed") { stub.connections == 0 }

                let auth = SteeredAuthClient(nil)
                let second = try stub.client(as: auth, folder: folder)
                let messages = await second.messageStream().begun()
                // By the socket, for the registration, and for what has not been delivered yet.
                try await eventually("sign-ins are followed") { auth.watcherCount == 3 }
                auth.become("alice")
                try await eventually("both channels are joined", within: .seconds(20)) { stub.joins == 4 }
                try await expectBoth(token, stub, messages)
                #expect(stub.refusals == 0)
                await second.shutDown()
            }
        }
    }
}

extension ManualClock {
    /// Whether somebody is to sleep for as long as that from now on.
    fileprivate func sleeps(_ isRight: (Duration) -> Bool) -> Bool {
        deadlines.contains { isRight(now.duration(to: $0)) }
    }
}
