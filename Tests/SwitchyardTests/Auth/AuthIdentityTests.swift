import SwitchyardMock
import Testing

@testable import Switchyard

@Suite struct AuthIdentityTests {
    private struct Silence: ClientLayer {}

    @Test func `Through layers and over a switch it is the same auth client`() {
        let (one, other) = (MockAuthClient(), MockAuthClient())
        #expect(one.identity != nil && one.identity != other.identity)
        #expect(one.layered(Silence()).identity == one.identity)
        let board = Switchboard<any AuthClient>(one)
        let before = Routed(board).identity
        board.replace(with: other)
        #expect(Routed(board).layered(Silence()).identity == before)
        #expect(Routed<any AuthClient>(Switchboard(one)).identity != before)
    }
}
