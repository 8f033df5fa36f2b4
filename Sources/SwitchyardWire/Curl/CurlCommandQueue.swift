#if os(Linux)
    import Synchronization

    /// A command from another thread to the loop.
    enum CurlCommand {
        case start(CurlExchange)
        case cancel(CurlExchange)
        case resumeReceiving(CurlExchange)
        case resumeSending(CurlExchange)
        case open(CurlRawConnection)
        case wake(CurlRawConnection)
        case cancelConnection(CurlRawConnection)
        /// A job of a task that prefers the loop's thread. It must be run in any case.
        case run(UnownedJob)
    }

    /// Passes commands to the loop, waking it only if it sleeps: under load most submissions need no system call.
    final class CurlCommandQueue: Sendable {
        private struct State {
            var commands: [CurlCommand] = []
            var isAsleep = false
            var isClosed = false
        }

        private let state = Mutex(State())

        enum Submission {
            case queued
            /// Queued, and the loop must be woken.
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

        /// Refuses all further commands. Returns whether the loop must be woken.
        func close() -> Bool {
            state.withLock { state in
                state.isClosed = true
                defer { state.isAsleep = false }
                return state.isAsleep
            }
        }

        // MARK: The loop

        /// Swaps the submitted commands for an empty array, and returns whether the queue is closed.
        func exchange(_ batch: inout [CurlCommand]) -> Bool {
            state.withLock { state in
                state.isAsleep = false
                swap(&batch, &state.commands)
                return state.isClosed
            }
        }

        /// Returns `true` if the loop may sleep now: from here on, a submission wakes it.
        func fallAsleep() -> Bool {
            state.withLock { state in
                guard state.commands.isEmpty, !state.isClosed else { return false }
                state.isAsleep = true
                return true
            }
        }
    }

    // Jobs of tasks that prefer the loop's thread are commands like others, so transfers get their turn between any two of
    // them.
    extension CurlLoop: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            // Only a preference: if the loop has ended, the task continues elsewhere.
            if !submit(.run(job)) { globalConcurrentExecutor.enqueue(job) }
        }

        func run(_ job: UnownedJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
#endif
