import SwitchyardBytes
import Testing

@testable import SwitchyardPage

@Suite struct EventHubTests {
    @Test func `A reader who reads nothing is cut off, and no one waits for it`() async {
        let hub = EventHub(capacity: 1 << 16, patience: 8)
        let slow = hub.read(after: nil)
        let fast = hub.read(after: nil)
        #expect(hub.readers == 2)
        var count = 0
        var bytes = fast.next.makeAsyncIterator()
        for number in 1...100 {
            hub.send("data", ["n": .number(number)])
            if await bytes.next() != nil { count += 1 }
        }
        #expect(count == 100)
        #expect(hub.readers == 1)
        var rest = 0
        for await _ in slow.next { rest += 1 }
        #expect(rest <= 8)
        fast.end()
        #expect(hub.readers == 0)
        #expect(hub.aloneSince != nil)
    }

    @Test func `The ring is bounded, and what fell out of it is a gap`() {
        let hub = EventHub(capacity: 1000)
        for number in 1...100 { hub.send("data", ["n": .number(number)]) }
        let text = { (bytes: [UInt8]) in String(decoding: bytes, as: UTF8.self) }
        #expect(text(hub.read(after: 1).first).contains("event: gap"))
        let missed = text(hub.read(after: 98).first)
        #expect(missed.contains("id: 99\n") && missed.contains("id: 100\n") && !missed.contains("id: 98\n"))
        #expect(hub.read(after: 100).first.isEmpty)
        #expect(text(hub.read(after: nil).first).contains("id: 100\nevent: ready"))
        hub.close()
        #expect(hub.readers == 0)
    }
}
