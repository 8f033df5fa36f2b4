import Switchyard
import Synchronization

/// What a stream has delivered so far, gathered by a task that ends with this value.
final class Gathered<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])
    private let failure = Mutex<(any Error)?>(nil)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init<Stream: AsyncSequence & Sendable>(_ stream: Stream) where Stream.Element == Element {
        task.withLock { task in
            task = Task { [weak self] in
                do {
                    for try await element in stream { self?.elements.withLock { $0.append(element) } }
                } catch {
                    self?.failure.withLock { $0 = error }
                }
            }
        }
    }

    var all: [Element] { elements.withLock { $0 } }
    var last: Element? { elements.withLock { $0.last } }
    var error: (any Error)? { failure.withLock { $0 } }
    func stop() { task.withLock { $0?.cancel() } }
    deinit { stop() }
}
