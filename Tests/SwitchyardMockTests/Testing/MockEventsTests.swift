import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

/// What a mock tells the observer of what goes on below its clients.
@Suite struct MockEventsTests {
    private let time = TestTime()
    private let network = MockNetwork()
    private let log = EventLog()

    private func device() async throws -> Infrastructure {
        var surroundings = InfrastructureSurroundings(observer: log)
        surroundings.now = { [time] in time.now }
        let backend = MockBackend(now: { [time] in time.now })
        return try await InfrastructureFactory(MockModule(backend: backend, network: network)).make(
            InfrastructureSelection(default: .mock), in: surroundings)
    }

    @Test func `A connection that comes back is told while a stream is open`() async throws {
        let device = try await device()
        network.isOnline = false
        network.isOnline = true
        #expect(log.reconnects == [])
        let stream = Gathered(device.storage.snapshots(of: "a/1" as StoragePath))
        try await eventually("the stream is open") { stream.last != nil }
        network.isOnline = false
        #expect(log.reconnects == [])
        network.isOnline = true
        network.isOnline = false
        network.isOnline = true
        #expect(log.reconnects == [1, 1])
        stream.stop()
        await device.shutDown()
    }

    @Test func `Each refresh of a token is told, with the failure if there was one`() async throws {
        let device = try await device()
        try await device.auth.signUp(email: "alice@example.com", password: "secret")
        _ = try await device.auth.accessToken()
        var refreshes: [InfrastructureEvent.Kind] {
            log.kinds.filter { if case .tokenRefreshed = $0 { true } else { false } }
        }
        #expect(refreshes == [])
        time.advance(by: .seconds(7200))
        network.isOnline = false
        await #expect(throws: AuthError.self) { try await device.auth.accessToken() }
        network.isOnline = true
        _ = try await device.auth.accessToken()
        _ = try await device.auth.accessToken()
        #expect(
            refreshes == [
                .tokenRefreshed(failure: .init(.unavailable, "The mock's network is off.")),
                .tokenRefreshed(failure: nil),
            ])
        await device.shutDown()
    }
}
