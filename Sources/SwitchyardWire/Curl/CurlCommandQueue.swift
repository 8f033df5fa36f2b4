#if os(Linux)
    import Synchronization

    /// What is to be done with libcurl's handles.
    enum CurlCommand {
        case start(CurlExchange)
        case cancel(CurlExchange)
        case resumeReceiving(CurlExchange)
        case resumeSending(CurlExchange)
        case open(CurlRawConnection)
        case wake(CurlRawConnection)
        case cancelConnection(CurlRawConnection)
    }

    /// Keeps commands until somebody has his turn with the handles, and knows whether the loop has to be woken for them.
    final class CurlCommandQueue: Sendable {
        private struct State {
            var commands: [CurlCommand] = []
            /// Pieces of tasks that want to run on the loop's thread; each must be run, whatever happens.
            var jobs: [UnownedJob] = []
            var isAsleep = false
            var isClosed = false
        }

        private let state = Mutex(State())

        /// `false` if the loop is ending.
        func submit(_ command: CurlCommand) -> Bool {
            state.withLock { state in
                if !state.isClosed { state.commands.append(command) }
                return !state.isClosed
            }
        }

        /// `false` if the loop is ending.
        func submit(_ job: UnownedJob) -> Bool {
            state.withLock { state in
                if !state.isClosed { state.jobs.append(job) }
                return !state.isClosed
            }
        }

        /// No further command is accepted.
        func close() { state.withLock { $0.isClosed = true } }

        /// Whether the loop sleeps. It counts as awake from here on, so that one of many wakes it.
        func mustWake() -> Bool {
            state.withLock { state in
                defer { state.isAsleep = false }
                return state.isAsleep
            }
        }

        var isEmpty: Bool { state.withLock { $0.commands.isEmpty } }

        /// Everything submitted so far, in exchange for an empty array, unless it is more than `limit`.
        func take(_ batch: inout [CurlCommand], atMost limit: Int) -> Bool {
            state.withLock { state in
                guard state.commands.count <= limit else { return false }
                swap(&batch, &state.commands)
                return true
            }
        }

        // MARK: The loop

        /// Everything submitted so far, in exchange for empty arrays; whether the queue is closed.
        func exchange(_ batch: inout [CurlCommand], _ jobs: inout [UnownedJob]) -> Bool {
            state.withLock { state in
                state.isAsleep = false
                swap(&batch, &state.commands)
                swap(&jobs, &state.jobs)
                return state.isClosed
            }
        }

        /// `true` if the loop may sleep now: from here on it has to be woken.
        func fallAsleep() -> Bool {
            state.withLock { state in
                guard state.commands.isEmpty, state.jobs.isEmpty, !state.isClosed else { return false }
                state.isAsleep = true
                return true
            }
        }
    }
#endif
