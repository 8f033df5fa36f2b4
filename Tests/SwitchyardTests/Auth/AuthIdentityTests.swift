import SwitchyardMock
import Testing

@testable import Switchyard

@Suite struct AuthIdentityTests {
    private struct Silence: ClientLayer {}

    @Test func `Through layers and over a switch it is the same auth client`() {
        let (one, other) = (MockAuthClient(), MockAuthClient())
        #expect(one.identity != nil && one.identity != other.identity)
        #expect(LayeredAuthClient(one, Silence()).identity == one.identity)
        let board = Switchboard<any AuthClient>(one)
        let before = SwitchableAuthClient(board: board).identity
        board.replace(with: other)
        #expect(LayeredAuthClient(SwitchableAuthClient(board: board), Silence()).identity == before)
        #expect(SwitchableAuthClient(board: Switchboard(one)).identity != before)
    }
}
