#if os(Linux)
    import Glibc

    /// A detached thread on which no signal is ever delivered, so that a write to a closed socket (OpenSSL has no
    /// other way of writing) cannot end the process: a blocked SIGPIPE stays with the thread that caused it.
    enum LoopThread {
        private final class Body {
            let run: @Sendable () -> Void

            init(_ run: @escaping @Sendable () -> Void) {
                self.run = run
            }
        }

        /// - Throws: `.outOfResources` when the system has no thread to give.
        static func start(_ run: @escaping @Sendable () -> Void) throws(TransportError) {
            // Set in the creator, the mask holds from the thread's first instruction, and for resolver threads too.
            var blocked = sigset_t()
            var previous = sigset_t()
            sigfillset(&blocked)
            for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP] { sigdelset(&blocked, fault) }
            pthread_sigmask(SIG_SETMASK, &blocked, &previous)
            defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }

            var thread = pthread_t()
            let body = Unmanaged.passRetained(Body(run))
            let result = pthread_create(
                &thread, nil,
                { user in
                    Unmanaged<Body>.fromOpaque(user!).takeRetainedValue().run()
                    return nil
                }, body.toOpaque())
            guard result == 0 else {
                body.release()
                throw TransportError(
                    .outOfResources, "no thread could be started (error \(result))", isRetryable: true)
            }
            pthread_detach(thread)
        }
    }
#endif
