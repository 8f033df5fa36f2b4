import Synchronization

/// The state of one write, for a client with a queue: the queue notes what happens to it, and the receipt's
/// ``WriteReceipt/states`` follow.
///
/// It begins as ``WriteReceipt/State/local``. After a final state, nothing more is noted. Note states one after the other.
public final class WriteProgress: Sendable {
    public typealias State = WriteReceipt.State

    private struct Followers {
        var state = State.local
        var hasEnded = false
        var open: [Int: EventStream<State, Never>.Continuation] = [:]
        var last = 0

        /// - Returns: The followers to finish, outside the lock.
        mutating func end() -> [EventStream<State, Never>.Continuation] {
            hasEnded = true
            defer { open = [:] }
            return Array(open.values)
        }
    }

    private let followers = Mutex(Followers())

    public init() {}

    /// The newest state.
    public var state: State { followers.withLock { $0.state } }

    /// Notes a new state; the same as before is not repeated.
    public func note(_ state: State) {
        let ended = followers.withLock { followers -> [EventStream<State, Never>.Continuation] in
            guard !followers.hasEnded, followers.state != state else { return [] }
            followers.state = state
            for follower in followers.open.values { follower.yield(state) }
            return state.isFinal ? followers.end() : []
        }
        for follower in ended { follower.finish() }
    }

    /// Ends the streams although the write has no final state: its client was shut down, and the write may still be queued.
    public func end() {
        for follower in followers.withLock({ $0.end() }) { follower.finish() }
    }

    /// The newest state, and all that follow.
    public var states: EventStream<State, Never> {
        EventStream { [self] continuation in
            let id = followers.withLock { followers -> Int? in
                continuation.yield(followers.state)
                guard !followers.hasEnded else { return nil }
                followers.last += 1
                followers.open[followers.last] = continuation
                return followers.last
            }
            guard let id else {
                continuation.finish()
                return {}
            }
            return { [weak self] in self?.followers.withLock { _ = $0.open.removeValue(forKey: id) } }
        }
    }
}
