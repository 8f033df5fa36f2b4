import SwitchyardWire
import Testing

/// The catalogue against the machine alone: what it makes of the bytes, and what it answers.
@Suite struct `The machine and the catalogue` {
    /// Feeds a case to a machine that echoes, and checks the events and the bytes for the server.
    private func check(_ item: CatalogueCase, writes: [[UInt8]]) {
        let client = MachineHolder(.client, limits: WebSocketLimits(fragmentSize: item.fragmentSize))
        var output: [UInt8] = []
        for write in writes {
            for case .message(let message) in client.feed(write) { _ = client.send(message) }
            output += client.take()
        }
        let messages = client.events.compactMap { if case .message(let message) = $0 { message } else { nil } }
        #expect(messages == item.messages, "\(item.number)")
        let reader = ReplyReader()
        var replies = reader.read(output)
        switch item.outcome {
        case .normal:
            _ = client.feed(closeFrame(1000))
            replies += reader.read(client.take())
            #expect(replies == item.replies.map { .reply($0) } + [.close(.normal)], "\(item.number)")
            #expect(client.events.last == .closed(.normal), "\(item.number)")
        case .closed(let close):
            #expect(replies.last == .close(WebSocketClose(code: close.code)), "\(item.number)")
            #expect(client.events.last == .closed(close), "\(item.number)")
        case .failed(let violation):
            #expect(replies.last == .close(violation.close), "\(item.number)")
            #expect(client.events.last == .failed(.violation(violation)), "\(item.number)")
        }
        #expect(reader.violation == nil, "\(item.number)")
    }

    @Test(arguments: CatalogueCase.all)
    func `Every case passes as it is sent, octet by octet, and in one piece`(item: CatalogueCase) {
        let bytes = Array(item.writes.joined())
        check(item, writes: item.writes)
        check(item, writes: bytes.map { [$0] })
        check(item, writes: [bytes])
    }

    @Test(arguments: CatalogueCase.large)
    func `Every case about size passes`(item: CatalogueCase) {
        check(item, writes: item.writes)
    }

    @Test func `The catalogue is complete`() {
        let counts = Dictionary(grouping: CatalogueCase.all + CatalogueCase.large) {
            $0.number.split(separator: ".")[0]
        }
        .mapValues(\.count)
        #expect(counts == ["1": 16, "2": 11, "3": 7, "4": 10, "5": 20, "6": 145, "7": 37, "9": 54, "10": 1])
        #expect(Set((CatalogueCase.all + CatalogueCase.large).map(\.number)).count == 301)
    }
}
