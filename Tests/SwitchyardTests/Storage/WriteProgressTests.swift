import Switchyard
import SwitchyardMock
import Testing

/// The states of a write, as a client with a queue of its own notes them.
@Suite(.timeLimit(.minutes(1))) struct WriteProgressTests {
    private let progress = WriteProgress()
    private let answer = WriteReceipt.Acknowledgement(commitTime: Timestamp(microseconds: 7), updateTimes: [nil])

    private func receipt() -> WriteReceipt {
        WriteReceipt(batchID: "b", progress: progress) { .failure(StorageError(.internal, "Not asked.")) }
    }

    @Test func `A follower sees each state, and the end after a final one`() async {
        let states = await receipt().states.begun()
        progress.note(.sent)
        progress.note(.sent)
        progress.note(.local)
        progress.note(.sent)
        progress.note(.acknowledged(answer))
        progress.note(.local)
        #expect(await states.all == [.local, .sent, .local, .sent, .acknowledged(answer)])
        #expect(await receipt().states.all == [.acknowledged(answer)])
    }

    @Test func `A write that was merged into a later one says into which`() async {
        let states = await receipt().states.begun()
        progress.note(.superseded(by: "c"))
        #expect(await states.all == [.local, .superseded(by: "c")])
        #expect(progress.state.isFinal)
    }

    @Test func `Without a final state the stream ends where it is`() async {
        let states = await receipt().states.begun()
        progress.note(.sent)
        progress.end()
        #expect(await states.all == [.local, .sent])
        #expect(await receipt().states.all == [.sent])
    }

    @Test func `Each loop follows by itself, and one that is left is forgotten`() async {
        let (one, two) = (await receipt().states.begun(), await receipt().states.begun())
        for await state in one where state == .local { break }
        progress.note(.rejected(StorageError(.notFound, "Text.")))
        #expect(await two.all == [.local, .rejected(StorageError(.notFound, "Text."))])
    }

    @Test func `A provider that only answers has two states, one that knows the answer has one`() async {
        let waiting = WriteReceipt(batchID: "b") { [answer] in .success(answer) }
        #expect(await waiting.states.all == [.local, .acknowledged(answer)])
        let refused = WriteReceipt(batchID: "b") { .failure(StorageError(.notFound, "Text.")) }
        #expect(await refused.states.all == [.local, .rejected(StorageError(.notFound, "Text."))])
        let shutDown = WriteReceipt(batchID: "b") { .failure(StorageError(.shutDown, "Text.")) }
        #expect(await shutDown.states.all == [.local])
        #expect(await WriteReceipt(batchID: "b", acknowledged: answer).states.all == [.acknowledged(answer)])
        let error = StorageError(.notFound, "Text.")
        let rejected = WriteReceipt(batchID: "b", rejected: error)
        #expect(await rejected.states.all == [.rejected(error)])
        let thrown = await #expect(throws: StorageError.self) { try await rejected.acknowledged(within: .seconds(1)) }
        #expect(thrown == error)
        #expect(waiting == rejected && waiting != WriteReceipt(batchID: "c", rejected: error))
    }

    @Test func `On an infrastructure a rejection names the operation, as the thrown error does`() async throws {
        let backend = try await Infrastructure(.mock)
        let mock = try #require(backend.storage.mock)
        mock.controls.fail(.send, with: StorageError(.unauthorized, "No.", isRetryable: false))
        try await backend.storage.disableNetwork()
        let receipt = try await backend.storage.setDocument("users/a", ["n": 1])
        let states = await receipt.states.begun()
        try await backend.storage.enableNetwork()
        let error = try #require(await #expect(throws: StorageError.self) { try await receipt.acknowledged() })
        #expect(error.message == "Writing “users/a” failed: No.")
        #expect(await states.all == [.local, .sent, .rejected(error)])
        let missing = try await backend.storage.updateDocument("users/missing", ["n": 1])
        let refusal = try #require(await #expect(throws: StorageError.self) { try await missing.acknowledged() })
        #expect(await missing.states.all == [.rejected(refusal)])
        await backend.shutDown()
    }
}

extension EventStream where Failure == Never {
    /// Everything up to the end.
    fileprivate var all: [Element] {
        get async { await reduce(into: []) { $0.append($1) } }
    }
}
