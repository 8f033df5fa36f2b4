#if os(Linux)
    import Synchronization

    /// What other threads ask the loop to do.
    enum CurlCommand {
        case start(CurlExchange)
        case cancel(CurlExchange)
        case resumeReceiving(CurlExchange)
        case resumeSending(CurlExchange)
        case open(CurlRawConnection)
        case wake(CurlRawConnection)
        case cancelConnection(CurlRawConnection)
        /// A piece of a task that wants to run on the loop's thread; must be run, whatever happens.
        case run(UnownedJob)
    }

    /// Hands commands to the loop, waking it only when it sleeps: under load most submissions cost no system call.
    final class CurlCommandQueue: Sendable {
        private struct State {
            var commands: [CurlCommand] = []
            var isAsleep = false
            var isClosed = false
        }

        private let state = Mutex(State())

        enum Submission {
            case queued
            /// Queued, and the loop has to be woken.
            case queuedAsleep
            /// Not queued: the loop is ending.
            case refused
        }

        func submit(_ command: CurlCommand) -> Submission {
            state.withLock { state in
                guard !state.isClosed else { return .refused }
                state.commands.append(command)
                defer { state.isAsleep = false }
                return state.isAsleep ? .queuedAsleep : .queued
            }
        }

        /// No further command is accepted. Whether the loop has to be woken.
        func close() -> Bool {
            state.withLock { state in
                state.isClosed = true
                defer { state.isAsleep = false }
                return state.isAsleep
            }
        }

        // MARK: The loop

        /// Everything submitted so far, in exchange for an empty array; whether the queue is closed.
        func exchange(_ batch: inout [CurlCommand]) -> Bool {
            state.withLock { state in
                state.isAsleep = false
                swap(&batch, &state.commands)
                return state.isClosed
            }
        }

        /// `true` if the loop may sleep now: from here on a submission wakes it.
        func fallAsleep() -> Bool {
            state.withLock { state in
                guard state.commands.isEmpty, !state.isClosed else { return false }
                state.isAsleep = true
                return true
            }
        }
    }
#endif
