import SwitchyardWire
import Testing

@Suite struct `A web socket machine` {
    @Test func `A client masks its frames and a server does not`() {
        let client = MachineHolder(.client)
        #expect(client.send(.text("Hello")))
        #expect(client.take() == [0x81, 0x85, 1, 2, 3, 4, 0x49, 0x67, 0x6F, 0x68, 0x6E])
        let server = MachineHolder(.server)
        #expect(server.send(.text("Hello")))
        #expect(server.take() == [0x81, 5] + Array("Hello".utf8))
    }

    @Test(arguments: [0, 1, 7, 8, 9, 125, 126, 127, 65_535, 65_536, 100_003])
    func `What one role sends the other understands`(size: Int) {
        let client = MachineHolder(.client)
        let server = MachineHolder(.server)
        let message = WebSocketMessage.binary((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        #expect(client.send(message))
        #expect(server.feed(client.take()) == [.message(message)])
        #expect(server.send(message))
        #expect(client.feed(server.take()) == [.message(message)])
    }

    @Test func `Many messages leave in one piece`() {
        let client = MachineHolder(.client)
        let server = MachineHolder(.server)
        let messages = (0..<1000).map { WebSocketMessage.text("message \($0)") }
        for message in messages { #expect(client.send(message)) }
        #expect(server.feed(client.take()) == messages.map { .message($0) })
        #expect(client.output.isEmpty)
    }

    @Test func `A long message is sent in fragments when asked for`() {
        let client = MachineHolder(.client, limits: WebSocketLimits(fragmentSize: 1300))
        let server = MachineHolder(.server, limits: WebSocketLimits(frameSize: 1300))
        let message = WebSocketMessage.text(String(repeating: "*", count: 65_536))
        #expect(client.send(message))
        #expect(server.feed(client.take()) == [.message(message)])
    }

    @Test func `The closing handshake ends both sides, whoever begins`() {
        let client = MachineHolder(.client)
        let server = MachineHolder(.server)
        client.close(WebSocketClose(code: 4001, reason: "enough"))
        #expect(!client.send(.text("late")))
        #expect(server.feed(client.take()) == [.closed(WebSocketClose(code: 4001, reason: "enough"))])
        #expect(server.isDone)
        #expect(client.feed(server.take()) == [.closed(WebSocketClose(code: 4001))])
        #expect(!client.isDone)  // It leaves ending the connection to the server.
        client.end()
        #expect(client.isDone && client.events.count == 1)
    }

    private static let hurried = WebSocketKeepAlive(pingAfter: .seconds(10), answerWithin: .seconds(5))

    @Test func `Silence after a ping is noticed`() {
        let client = MachineHolder(.client, keepAlive: Self.hurried, mask: 0)
        #expect(client.deadline == .seconds(10))
        client.tick(.seconds(9))
        #expect(client.output.isEmpty)
        client.tick(.seconds(10))
        #expect(client.take() == [0x89, 0x80, 0, 0, 0, 0])
        #expect(client.deadline == .seconds(15))
        client.tick(.seconds(15))
        #expect(client.events == [.failed(.unanswered)])
        #expect(client.isDone)
    }

    @Test func `Anything that arrives counts as life, and so does not reading`() {
        let client = MachineHolder(.client, keepAlive: Self.hurried)
        client.tick(.seconds(10))
        #expect(client.feed([0x81], at: .seconds(12)).isEmpty)
        #expect(client.deadline == .seconds(22))
        client.setReceiving(false, at: .seconds(13))
        #expect(client.deadline == nil)
        client.setReceiving(true, at: .seconds(100))
        #expect(client.deadline == .seconds(110))
        #expect(client.events.isEmpty)
    }

    @Test func `An unanswered close frame and a silent end of the connection are failures`() {
        let client = MachineHolder(.client)
        client.close(.normal)
        client.tick(.seconds(5))
        #expect(client.events == [.failed(.closeUnanswered)])
        let other = MachineHolder(.client)
        other.end()
        #expect(other.events == [.failed(.cutOff)])
    }

    @Test func `A flood of pings that no one drains costs bounded memory`() {
        let server = MachineHolder(.server)
        let client = MachineHolder(.client)
        var flood: [UInt8] = []
        for number in 0..<10_000 {
            _ = client.ping(Array("\(number)".utf8) + [UInt8](repeating: 0, count: 100))
            flood += client.take()
        }
        #expect(server.feed(flood).isEmpty)
        #expect(server.output.count < 70_000)
        let pongs = client.feed(server.take())
        guard case .pong(let last) = pongs.last else {
            Issue.record("no pong")
            return
        }
        #expect(last.starts(with: Array("9999".utf8)))
    }
}
