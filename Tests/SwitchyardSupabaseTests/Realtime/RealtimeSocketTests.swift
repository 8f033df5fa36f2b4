import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// The socket on a real connection to a small server.
struct RealtimeSocketTests {
    private func withStub(
        auth: (any AuthClient)? = nil, clock: any Clock<Duration> = ContinuousClock(),
        settings: SupabaseRealtime = SupabaseRealtime(), _ body: (RealtimeStub, RealtimeSocket) async throws -> Void
    ) async throws {
        let stub = try RealtimeStub()
        let transport = CurlTransport()
        let socket = RealtimeSocket(
            stub.address, tokens: SupabaseTokens(key: "key", auth: auth), transport: transport, clock: clock,
            settings, jitter: { 0 })
        try await body(stub, socket)
        socket.close()
        await transport.shutDown()
        await stub.stop()
    }

    private func broadcast(_ number: Int, topic: String = "realtime:room") -> RealtimeMessage {
        RealtimeMessage(
            topic: topic, event: "broadcast",
            payload: ["type": "broadcast", "event": "e", "payload": .integer(Int64(number))])
    }

    private func received(_ number: Int) -> RealtimeEvent {
        .broadcast(
            RealtimeBroadcast(event: "e", content: .json(.integer(Int64(number))), id: nil, isReplayed: false))
    }

    @Test func `Events come in order, whichever way the server frames them`() async throws {
        try await withStub { stub, socket in
            let channel = try socket.join("room", RealtimeConfiguration())
            #expect(try await channel.next() == .joined)
            #expect(try await channel.next() == .confirmed)
            for number in 0..<50 { try await stub.send(broadcast(number)) }
            try await stub.send(frame: [4, 13, 1, 0, 1] + Array("realtime:roome50".utf8))
            for number in 0...50 { #expect(try await channel.next() == received(number)) }
        }
    }

    @Test func `A connection that is cut is made again, and its channels joined`() async throws {
        try await withStub { stub, socket in
            let channel = try socket.join("room", RealtimeConfiguration(isPrivate: true, awaitsDatabase: true))
            for _ in 0..<3 {
                #expect(try await channel.next() == .joined)
                #expect(try await channel.next() == .confirmed)
                stub.dropConnections()
                #expect(try await channel.next() == .interrupted)
            }
            #expect(try await channel.next() == .joined)
            #expect(stub.openings == 4)
        }
    }

    @Test func `Where no web socket comes through, long polling brings the same events`() async throws {
        try await withStub { stub, socket in
            stub.refuseWebSockets(with: .text("Upgrade what?", status: 400))
            let channel = try socket.join("room", RealtimeConfiguration(acknowledges: true))
            #expect(try await channel.next() == .joined)
            #expect(try await channel.next() == .confirmed)
            for number in 0..<5 { try await stub.send(broadcast(number)) }
            for number in 0..<5 { #expect(try await channel.next() == received(number)) }
            try await channel.broadcast("e", ["x": 1])
            #expect(stub.received.last?.payload == ["type": "broadcast", "event": "e", "payload": ["x": 1]])
            stub.forgetSessions()
            #expect(try await channel.next() == .interrupted)
            #expect(try await channel.next() == .joined)
        }
    }

    @Test func `A refusal of the service itself is reported with its reason`() async throws {
        try await withStub { stub, socket in
            stub.refuseWebSockets(with: .json(Array(#"{"error":"Tenant not found"}"#.utf8), status: 404))
            let channel = try socket.join("room", RealtimeConfiguration())
            await #expect(throws: RealtimeFailure(.refused, "Tenant not found")) { _ = try await channel.next() }
        }
    }

    @Test func `A channel that a policy forbids ends, and its topic is free again`() async throws {
        try await withStub { stub, socket in
            stub.refuseJoins("Unauthorized: no")
            let channel = try socket.join("room", RealtimeConfiguration(isPrivate: true))
            let failure = await #expect(throws: RealtimeFailure.self) { _ = try await channel.next() }
            #expect(failure?.kind == .unauthorized)
            stub.refuseJoins(nil)
            let other = try socket.join("room", RealtimeConfiguration(isPrivate: true))
            #expect(try await other.next() == .joined)
        }
    }

    @Test func `A topic is joined once`() async throws {
        try await withStub { stub, socket in
            let channel = try socket.join("room", RealtimeConfiguration())
            #expect(throws: RealtimeFailure(.topicInUse)) { try socket.join("room", RealtimeConfiguration()) }
            channel.leave()
            #expect(try await channel.next() == nil)
            let other = try socket.join("room", RealtimeConfiguration())
            #expect(try await other.next() == .joined)
        }
    }

    @Test func `A channel without a reader is left`() async throws {
        try await withStub { stub, socket in
            var channel: RealtimeChannel? = try socket.join("room", RealtimeConfiguration())
            #expect(try await channel?.next() == .joined)
            channel = nil
            try await eventually("the channel is left") { stub.count(of: "phx_leave") == 1 }
        }
    }

    @Test func `Channels follow whoever is signed in`() async throws {
        let auth = SteeredAuthClient("ann")
        try await withStub(auth: auth) { stub, socket in
            let channel = try socket.join("room", RealtimeConfiguration())
            #expect(try await channel.next() == .joined)
            #expect(stub.received.first?.payload["access_token"] == "ann")
            auth.become("ben")
            try await eventually("the new token is pushed") { stub.count(of: "access_token") == 1 }
            #expect(stub.received.last { $0.event == "access_token" }?.payload["access_token"] == "ben")
            auth.become(nil)
            try await eventually("the channel has no members") { stub.count(of: "phx_join") == 2 }
            #expect(stub.received.last { $0.event == "phx_join" }?.payload["access_token"] == nil)
        }
    }

    @Test func `A token that was asked for earlier, and comes later, does not take the newer one's place`() async throws
    {
        let auth = SteeredAuthClient("ann")
        try await withStub(auth: auth) { stub, socket in
            let channel = try socket.join("room", RealtimeConfiguration())
            #expect(try await channel.next() == .joined)
            let hold = auth.holdNextToken()
            let late = Task { await socket.followToken() }
            _ = await hold.asked.value
            auth.become("ben")
            try await eventually("the new token is pushed") { stub.count(of: "access_token") == 1 }
            hold.gate.resolve(())
            await late.value
            // Behind whatever was sent because of it.
            try await channel.broadcast("e", [:])
            try await eventually("all is sent") { stub.count(of: "broadcast") == 1 }
            #expect(stub.received.filter { $0.event == "access_token" }.map { $0.payload["access_token"] } == ["ben"])
        }
    }

    @Test func `A token that was renewed meanwhile is pushed with the next heartbeat`() async throws {
        let clock = ManualClock()
        let renewals = Mutex(1)
        let auth = FixedAuthClient(provider: .supabase) { _ in "token-\(renewals.withLock { $0 })" }
        try await withStub(auth: auth, clock: clock, settings: SupabaseRealtime(heartbeat: .seconds(5))) {
            stub, socket in
            let channel = try socket.join("room", RealtimeConfiguration())
            #expect(try await channel.next() == .joined)
            renewals.withLock { $0 = 2 }
            try await eventually("the heartbeat is due") {
                clock.deadlines.contains { clock.now.duration(to: $0) == .seconds(5) }
            }
            clock.advance(by: .seconds(5))
            try await eventually("the new token is pushed") { stub.count(of: "access_token") == 1 }
            #expect(stub.received.last { $0.event == "access_token" }?.payload["access_token"] == "token-2")
        }
    }

    @Test func `Another provider's session without a role joins nothing, and the channel's end says why`()
        async throws
    {
        let auth = FixedAuthClient { _ in FixedAuthClient.token(["sub": "alice"]) }
        try await withStub(auth: auth) { stub, socket in
            let channel = try socket.join("room", RealtimeConfiguration(isPrivate: true))
            let failure = await #expect(throws: RealtimeFailure.self) { _ = try await channel.next() }
            #expect(failure?.kind == .unauthenticated)
            #expect(failure?.problem == .missingClaim("role"))
            #expect(stub.openings == 0, "nothing was sent")
            let error = MessagingError(try #require(failure))
            #expect(error.code == .unauthenticated && error.message.contains("“role”"))
            #expect(error.message.contains("“elsewhere”"))
            #expect(error.underlying as? SupabaseTokenProblem == .missingClaim("role"))
        }
    }

    @Test(arguments: [("alice", true), ("6f1b4a0e-0c1f-4a63-9a55-1d4f1d6f7a10", false)])
    func `A policy that lets no one in is suspected of wanting a UUID where the subject is none`(
        _ subject: AuthUser.ID, _ isSuspected: Bool
    ) async throws {
        try await withStub(auth: FixedAuthClient.signedIn(subject)) { stub, socket in
            stub.refuseJoins("Unauthorized: You do not have permissions to read from this Channel topic: room")
            let channel = try socket.join("room", RealtimeConfiguration(isPrivate: true))
            let failure = await #expect(throws: RealtimeFailure.self) { _ = try await channel.next() }
            #expect(failure?.problem == (isSuspected ? .subjectIsNoUUID : nil))
            let error = MessagingError(try #require(failure))
            #expect(error.code == .unauthorized)
            #expect(error.message.contains("auth.uid()") == isSuspected)
        }
    }

    @Test func `With long polling only, no web socket is tried`() async throws {
        try await withStub(settings: SupabaseRealtime(mode: .longPolling)) { stub, socket in
            stub.refuseWebSockets(with: .json(Array(#"{"error":"Tenant not found"}"#.utf8), status: 404))
            let channel = try socket.join("room", RealtimeConfiguration())
            #expect(try await channel.next() == .joined)
            #expect(try await channel.next() == .confirmed)
            try await stub.send(broadcast(1))
            #expect(try await channel.next() == received(1))
            stub.forgetSessions()
            #expect(try await channel.next() == .interrupted)
            #expect(try await channel.next() == .joined)
        }
    }

    @Test func `A token that the service refuses is replaced once, and then the channel ends`() async throws {
        let clock = ManualClock()
        let auth = SteeredAuthClient("ann")
        try await withStub(auth: auth, clock: clock) { stub, socket in
            let channel = try socket.join("room", RealtimeConfiguration())
            #expect(try await channel.next() == .joined)
            #expect(try await channel.next() == .confirmed)
            stub.refuseJoins("InvalidJWTToken: expired")
            stub.dropConnections()
            #expect(try await channel.next() == .interrupted)
            let failure = Task { try await channel.next() }
            try await eventually("the pause is made") {
                clock.deadlines.contains { clock.now.duration(to: $0) < .seconds(1) }
            }
            clock.advance(by: .seconds(1))
            // The old token is refused, and so is the new one.
            await #expect(throws: RealtimeFailure.self) { _ = try await failure.value }
            #expect(
                stub.received.filter { $0.event == "phx_join" }.map { $0.payload["access_token"] } == [
                    "ann", "ann", "new-ann",
                ])
        }
    }

    @Test func `A reader who is too slow learns that something is lost`() async throws {
        try await withStub { stub, socket in
            let channel = try socket.join("room", RealtimeConfiguration(), inboxLimit: 10)
            #expect(try await channel.next() == .joined)
            #expect(try await channel.next() == .confirmed)
            for number in 0..<50 { try await stub.send(broadcast(number)) }
            // Behind all the others on the same connection.
            let other = try socket.join("other", RealtimeConfiguration())
            #expect(try await other.next() == .joined)
            var events: [RealtimeEvent] = []
            while let event = try await channel.next() {
                events.append(event)
                if event == .overflowed { break }
            }
            #expect(events == (0..<9).map { received($0) } + [.overflowed])
            try await stub.send(broadcast(99))
            #expect(try await channel.next() == received(99))
        }
    }

    @Test func `After what was lost, the next confirmation is delivered`() async throws {
        let inbox = RealtimeInbox(limit: 2)
        inbox.deliver(.confirmed)
        for event in [received(1), .interrupted, .joined, .confirmed, .interrupted] { inbox.deliver(event) }
        #expect(try await inbox.next() == .confirmed)
        inbox.deliver(.joined)
        #expect(try await inbox.next() == .overflowed)
        inbox.deliver(.confirmed)
        #expect(try await inbox.next() == .confirmed)
    }

    @Test func `A socket that is given up holds nothing`() async throws {
        let stub = try RealtimeStub()
        let transport = CurlTransport()
        weak var weakSocket: RealtimeSocket?
        do {
            let socket = RealtimeSocket(
                stub.address, tokens: SupabaseTokens(key: "key", auth: nil), transport: transport)
            weakSocket = socket
            let channel = try socket.join("room", RealtimeConfiguration())
            #expect(try await channel.next() == .joined)
        }
        try await eventually("the socket is gone") { weakSocket == nil }
        await transport.shutDown()
        await stub.stop()
    }
}
