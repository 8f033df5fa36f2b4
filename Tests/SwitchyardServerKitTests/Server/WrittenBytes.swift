import Synchronization

/// A number that a handler raises and a test reads.
final class WrittenBytes: Sendable {
    private let count = Atomic(0)

    func add(_ more: Int) { count.add(more, ordering: .relaxed) }
    var value: Int { count.load(ordering: .relaxed) }
}
