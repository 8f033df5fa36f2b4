import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

/// What a mock reports to the observer of what goes on below its clients.
@Suite struct MockEventsTests {
    private let time = TestTime()
    private let network = MockNetwork()
    private let log = EventLog()

    private func device() async throws -> Infrastructure {
        var options = InfrastructureOptions(observer: log)
        options.now = { [time] in time.now }
        let backend = MockBackend(now: { [time] in time.now })
        return try await InfrastructureFactory(MockModule(backend: backend, network: network)).make(
            InfrastructureSelection(default: .mock), in: options)
    }

    @Test func `A connection that comes back is reported while a stream is open`() async throws {
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

    @Test func `Each refresh of a token is reported, with the failure if there was one`() async throws {
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

    @Test
    func `A write that does not get through says why and until when, and an observer is notified of each cause once`()
        async throws
    {
        let clock = ManualClock()
        let network = MockNetwork(clock: clock)
        let mock = MockModule(backend: MockBackend(now: { [time] in time.now }), network: network)
        let device = try await InfrastructureFactory(mock).make(
            InfrastructureSelection(default: .mock), in: InfrastructureOptions(observer: log))
        let storage = try #require(device.storage.unwrapped(as: MockStorageClient.self))
        storage.controls.fail(.send, times: 3, with: StorageError(.unavailable, "The server is busy."))
        try await device.storage.disableNetwork()
        let receipt = try await device.storage.setDocument("a/1", ["n": 1])
        try await device.storage.enableNetwork()
        let pending = Gathered(device.storage.pendingWrites())
        for attempt in 1...3 {
            try await eventually("it waits for attempt \(attempt + 1)") {
                pending.last?.first?.attempts == attempt && pending.last?.first?.nextAttempt != nil
            }
            let write = try #require(pending.last?.first)
            #expect(write.lastError?.code == .unavailable)
            let pause = Duration.seconds(1 << (attempt - 1))
            #expect(write.nextAttempt?.seconds == time.now.seconds + pause.components.seconds)
            try await eventually("it sleeps") { clock.sleeperCount == 1 }
            clock.advance(by: pause)
        }
        _ = try await receipt.acknowledged()
        try await eventually("nothing waits") { pending.last?.isEmpty == true }
        let failures = log.kinds.compactMap { kind -> InfrastructureEvent.Failure? in
            if case .pendingWrites(1, let failure?) = kind { failure } else { nil }
        }
        #expect(failures == [.init(.unavailable, "The server is busy.")])
        pending.stop()
        await device.shutDown()
    }

    @Test func `A write that waits for the network has been tried once, and an observer gets the reason`() async throws
    {
        let device = try await device()
        var reported: [InfrastructureEvent.Failure] {
            log.kinds.compactMap { if case .pendingWrites(_, let failure?) = $0 { failure } else { nil } }
        }
        func attempts() async throws -> [Int] {
            for try await queue in device.storage.pendingWrites() { return queue.map(\.attempts) }
            return []
        }
        network.isOnline = false
        try await device.storage.setDocument("a/1", ["n": 1])
        try await device.storage.setDocument("a/2", ["n": 2])
        #expect(try await attempts() == [1, 0])
        #expect(reported.map(\.code) == [.unavailable])
        #expect(reported.first?.message.hasPrefix("The mock's network is off.") == true)
        try await device.storage.retryPendingWrites()
        #expect(try await attempts() == [2, 0])
        #expect(reported.count == 1)

        network.isOnline = true
        try await device.storage.waitForPendingWrites()
        try await device.storage.disableNetwork()
        try await device.storage.setDocument("a/1", ["n": 3])
        #expect(try await attempts() == [0], "what the app has switched off is no failure")
        network.isOnline = false
        #expect(try await attempts() == [0])
        #expect(reported.count == 1)
        try await device.storage.enableNetwork()
        #expect(try await attempts() == [1])
        #expect(reported.count == 2)
        await device.shutDown()
    }

    @Test func `A cause is reported again only once another one or a success came, and no time is shown while offline`()
        async throws
    {
        let network = MockNetwork(clock: ManualClock())
        let mock = MockModule(backend: MockBackend(), network: network)
        let device = try await InfrastructureFactory(mock).make(
            InfrastructureSelection(default: .mock), in: InfrastructureOptions(observer: log))
        let storage = try #require(device.storage.unwrapped(as: MockStorageClient.self))
        let pending = Gathered(device.storage.pendingWrites())
        var first: PendingWrite? { pending.last?.first }
        var reported: Int { log.kinds.count { if case .pendingWrites(_, _?) = $0 { true } else { false } } }
        let busy = StorageError(.unavailable, "The server is busy.")

        storage.controls.fail(.send, times: 2, with: busy)
        try await device.storage.disableNetwork()
        try await device.storage.setDocument("a/1", ["n": 1])
        try await device.storage.enableNetwork()
        try await eventually("the first attempt has failed") { first?.attempts == 1 && first?.nextAttempt != nil }
        network.isOnline = false
        try await eventually("the second one, too, and no other is planned") {
            first?.attempts == 2 && first?.nextAttempt == nil
        }
        #expect(first?.lastError?.message.hasPrefix("The mock's network is off.") == true)
        network.isOnline = true
        try await eventually("the third attempt has failed") { first?.attempts == 3 && first?.nextAttempt != nil }
        try await device.storage.retryPendingWrites()
        try await eventually("it is sent") { pending.last?.isEmpty == true }
        #expect(reported == 3, "the server is busy, the network is off, the server is busy")

        storage.controls.fail(.send, with: busy)
        try await device.storage.disableNetwork()
        try await device.storage.setDocument("a/1", ["n": 2])
        try await device.storage.enableNetwork()
        try await eventually("the observer is notified again") { reported == 4 }
        try await device.storage.retryPendingWrites()
        try await device.storage.waitForPendingWrites()
        #expect(storage.controls.unused.isEmpty)
        pending.stop()
        await device.shutDown()
    }
}
