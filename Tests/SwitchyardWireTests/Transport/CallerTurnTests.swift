import CSwitchyardCurl
import Glibc
import SwitchyardServerKit
import SwitchyardTestSupport
import Synchronization
import Testing

@testable import SwitchyardWire

/// Whoever submits a command carries it out, where nobody else has the turn.
@Suite struct CallerTurnTests {
    @Test func `A request leaves on its caller's thread, and the loop wakes for the answer alone`() async throws {
        let server = try LoopbackServer { _ in .text("fine") }
        let transport = CurlTransport()
        let request = HTTPRequest(.get, server.url("/"))
        _ = try await transport.send(request)
        let before = transport.loopTurnCount
        for _ in 0..<200 { #expect(try await transport.send(request).status == 200) }
        // An answer may come in two pieces, now and then. With a turn for the request it would be two each.
        #expect(transport.loopTurnCount - before <= 300)
        await transport.shutDown()
        await server.stop()
    }

    /// Wakes itself until it has been woken often enough.
    private final class SelfWaking: RawConnectionHandler {
        let calls = Atomic(0)

        func connected(_ connection: any RawConnection) { connection.wake() }
        func received(_ bytes: UnsafeRawBufferPointer, on connection: any RawConnection) {}
        func writable(_ connection: any RawConnection) {}
        func woken(_ connection: any RawConnection) {
            if calls.add(1, ordering: .relaxed).newValue < 50 { connection.wake() } else { connection.close() }
        }
        func closed(_ connection: any RawConnection, error: TransportError?) { calls.store(-1, ordering: .relaxed) }
    }

    @Test func `What runs in a turn may ask for another`() async throws {
        let server = try LoopbackServer { _ in .text("fine") }
        let transport = CurlTransport()
        let handler = SelfWaking()
        transport.open(server.url("/"), connectDeadline: .seconds(10), handler: handler)
        try await eventually("it has been woken and is closed") { handler.calls.load(ordering: .relaxed) == -1 }
        await transport.shutDown()
        await server.stop()
    }

    @Test func `A turn of one's own outlives the signal that writing to a closed connection sends`() {
        // The test program's own handling, if there is any, must not be what saves it.
        let before = signal(SIGPIPE, SIG_DFL)
        defer { _ = signal(SIGPIPE, before) }
        #expect(csigpipe_block())
        #expect(!csigpipe_block())
        pthread_kill(pthread_self(), SIGPIPE)
        csigpipe_allow()
        #expect(csigpipe_block())
        csigpipe_allow()
    }
}
