import Synchronization

/// The limits of a project. Hosted plans differ; these are the limits of a large one.
package struct RealtimeLimits: Hashable, Sendable {
    package var clients = 10_000
    package var channelsPerClient = 100
    package var joinsPerSecond = 2_500
    /// The average over a minute, in both directions and for all clients.
    package var messagesPerSecond = 2_500
    package var presencePerSecond = 1_000
    package var broadcastSize = 3_000_500
    package var frameSize = 5_000_000
    /// How long a client may stay silent.
    package var idle = Duration.seconds(60)
    /// How long a poll waits for messages.
    package var pollWindow = Duration.seconds(10)
    /// How long a session lives without polls.
    package var pollPatience = Duration.seconds(30)

    package init() {}
}

/// Counts events per second, over a number of seconds.
final class RealtimeMeter: Sendable {
    private struct State {
        var counts: [Int]
        var second: Int64 = 0
        var sum = 0
    }

    private let limit: Int
    private let state: Mutex<State>

    /// - Parameter seconds: The number of seconds to average over.
    init(perSecond limit: Int, over seconds: Int = 1) {
        self.limit = limit * seconds
        state = Mutex(State(counts: Array(repeating: 0, count: seconds)))
    }

    /// - Returns: Whether they are within the limit; only then are they counted.
    func count(_ more: Int = 1, at second: Int64) -> Bool {
        return state.withLock { state in
            let size = Int64(state.counts.count)
            if second > state.second {
                for gone in max(state.second + 1, second - size + 1)...second {
                    let place = Int(((gone % size) + size) % size)
                    state.sum -= state.counts[place]
                    state.counts[place] = 0
                }
                state.second = second
            }
            guard state.sum + more <= limit else { return false }
            state.sum += more
            state.counts[Int(((state.second % size) + size) % size)] += more
            return true
        }
    }

    var sum: Int { state.withLock(\.sum) }
}
