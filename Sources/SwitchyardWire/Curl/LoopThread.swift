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

        static func start(_ run: @escaping @Sendable () -> Void) {
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
            // The system is out of threads or memory: nothing can be carried out any more.
            guard result == 0 else { fatalError("no thread could be started (error \(result))") }
            pthread_detach(thread)
        }
    }
#endif
