import SwitchyardTestSupport
import Synchronization

final class Counter: Sendable {
    private let state = Atomic(0)

    var value: Int { state.load(ordering: .relaxed) }

    func add(_ count: Int) {
        state.add(count, ordering: .relaxed)
    }
}
