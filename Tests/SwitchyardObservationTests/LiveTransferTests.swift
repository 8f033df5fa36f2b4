import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardObservation
import SwitchyardTestSupport
import Testing

@MainActor @Suite struct LiveTransferTests {
    private let clock = ManualClock()
    private let network: MockNetwork
    private let files: MockFileStorageClient

    init() {
        network = MockNetwork(clock: clock, latency: .seconds(1))
        files = MockFileStorageClient(MockBackend(), network: network, partSize: 4)
    }

    /// Begins an upload of six bytes in two parts, and sends the first.
    private func begin() async throws -> LiveTransfer<FileMetadata> {
        let upload = LiveTransfer(try await files.upload(.data(Data(repeating: 7, count: 6)), to: "a.bin"))
        for _ in 0..<2 {
            try await eventually("a request is on its way") { clock.sleeperCount == 1 }
            clock.advance(by: .seconds(1))
        }
        try await eventually("the first part has arrived") { upload.completedBytes == 4 && clock.sleeperCount == 1 }
        return upload
    }

    @Test func `An upload shows how far it is, and then its result`() async throws {
        let upload = try await begin()
        guard case .running = upload.state else {
            Issue.record("It is \(upload.state).")
            return
        }
        #expect(upload.totalBytes == 6 && upload.fraction == 4.0 / 6 && upload.output == nil)
        clock.advance(by: .seconds(1))
        try await eventually("the result") { upload.output?.size == 6 }
        guard case .finished = upload.state else {
            Issue.record("It is \(upload.state).")
            return
        }
        #expect(upload.fraction == 1 && upload.error == nil)
    }

    @Test func `A paused upload says so, and goes on`() async throws {
        let upload = try await begin()
        await upload.pause().value
        try await eventually("the pause") { if case .paused = upload.state { true } else { false } }
        try await eventually("nothing is on its way") { clock.sleeperCount == 0 }
        await upload.resume().value
        try await eventually("the end") {
            if clock.sleeperCount > 0 { clock.advance(by: .seconds(1)) }
            return upload.output?.size == 6
        }
    }

    @Test func `A cancelled upload has failed, and says why`() async throws {
        let upload = try await begin()
        await upload.cancel().value
        try await eventually("the failure") { if case .failed = upload.state { true } else { false } }
        #expect(upload.error?.code == .cancelled && upload.output == nil)
    }

    @Test func `A transfer goes on without its object`() async throws {
        var upload: LiveTransfer<FileMetadata>? = try await begin()
        let transfer = try #require(upload?.transfer)
        weak let left = upload
        upload = nil
        #expect(left == nil)
        clock.advance(by: .seconds(1))
        #expect(try await transfer.result().size == 6)
    }
}
