import Foundation
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// The demo, as somebody runs it first.
@Suite struct DemoTests {
    @Test func `The demo tells the whole day and the move after it, and ends by itself`() async throws {
        let demo = try ToolRun(["demo"])
        #expect(try await demo.status() == 0, "\(demo.errors)")
        for line in [
            "Alice asks to be on Bob's list", "checked in; the next is due in 3600 s",
            "Alice sees 2 messages, one not sent yet", "Bob sees “In the tunnel.”", "3000 of 3000 kB",
            "no such contact: nothing was written", "cut-over: the new backend serves, and Alice goes on",
            "Everyone else came along, too: Alice, Bob",
        ] { #expect(demo.output.contains(line), "\(demo.output)") }
        #expect(demo.errors.isEmpty)
    }

    @Test func `With a page the demo stays there until Ctrl-C`() async throws {
        let demo = try ToolRun(["demo", "--page"])
        try await demo.prints("until Ctrl-C")
        let line = try #require(demo.lines.first { $0.hasPrefix("The page that shows it: ") })
        let transport = CurlTransport()
        let page = try await transport.send(HTTPRequest(.get, String(line.dropFirst("The page that shows it: ".count))))
        await transport.shutDown()
        #expect(page.status == 200)
        demo.interrupt()
        #expect(try await demo.status() == 0, "\(demo.errors)")
    }
}
