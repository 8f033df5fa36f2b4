import SwitchyardMock
import Testing

@testable import Switchyard

@Suite struct AuthIdentityTests {
    private struct Silence: CallInterceptor {}

    @Test func `Through layers and over a switch it is the same auth client`() {
        let (one, other) = (MockAuthClient(), MockAuthClient())
        #expect(one.identity != nil && one.identity != other.identity)
        #expect(one.intercepted(by: Silence()).identity == one.identity)
        let board = Switchboard<any AuthClient>(one)
        let before = Routed(Route(board)).identity
        board.connect(other)
        #expect(Routed(Route(board)).intercepted(by: Silence()).identity == before)
        #expect(Routed<any AuthClient>(Route(Switchboard(one))).identity != before)
    }
}
