import Switchyard
import Testing

@Suite struct MixedFailureTests {
    private let documents = SnapshotStream<Int, StorageError>.just(1)
    private let files = SnapshotStream<String, FileStorageError>.just("a")
    private let states = SnapshotStream<Bool, Never>.just(true)

    @Test func `Streams that fail in different ways combine to one that fails with any error`() async throws {
        let both: SnapshotStream<(Int, String), any Error> = combineLatest(documents, files)
        for try await (number, text) in both { #expect(number == 1 && text == "a") }
        let all: SnapshotStream<(Int, String, Bool), any Error> = combineLatest(documents, files, states)
        for try await (number, text, flag) in all { #expect(number == 1 && text == "a" && flag) }
        let failing = combineLatest(documents, SnapshotStream<Int, FileStorageError>.failing(.init(.notFound, "Gone.")))
        let error = await #expect(throws: FileStorageError.self) { for try await _ in failing {} }
        #expect(error?.code == .notFound)
    }

    @Test func `A stream that cannot fail takes over the failure of the other`() async throws {
        let first: SnapshotStream<(Int, Bool), StorageError> = combineLatest(documents, states)
        for try await (number, flag) in first { #expect(number == 1 && flag) }
        let second: SnapshotStream<(Bool, Int), StorageError> = combineLatest(states, documents)
        for try await (flag, number) in second { #expect(number == 1 && flag) }
        let neither: SnapshotStream<(Bool, Bool), Never> = combineLatest(states, states)
        for await (left, right) in neither { #expect(left && right) }
    }

    @Test func `Streams without their kind of failure fit into one list`() async throws {
        let streams = [
            documents.mapElements { "\($0)" }.erasingFailure(), files.erasingFailure(),
            SnapshotStream<String, StorageError>.failing(.init(.unauthorized, "No.")).erasingFailure(),
        ]
        var texts: [String] = []
        let error = await #expect(throws: StorageError.self) {
            for stream in streams { for try await text in stream { texts.append(text) } }
        }
        #expect(texts == ["1", "a"] && error?.code == .unauthorized)
        let events = EventStream<Int, StorageError>.failing(.init(.unavailable, "Gone.")).erasingFailure()
        await #expect(throws: StorageError.self) { for try await _ in events {} }
    }
}
