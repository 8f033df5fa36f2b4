import Synchronization

/// The number of bytes of a streamed body that a handler has produced.
final class WrittenCount: Sendable {
    private let count = Atomic(0)

    func add(_ more: Int) { count.add(more, ordering: .relaxed) }
    var value: Int { count.load(ordering: .relaxed) }
}
