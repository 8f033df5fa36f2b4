#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// Starts a separate detached thread, since code that blocks in the kernel must not use the threads of Swift concurrency.
///
/// All signals are blocked on it, so that a write to a closed socket (OpenSSL has no other way of writing) cannot end the
/// process: a blocked SIGPIPE stays with the thread that caused it.
package enum LoopThread {
    /// The system could not start a thread.
    package struct Refusal: Error {
        package let code: Int32
        package init(code: Int32) { self.code = code }
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    package static func start(_ run: @escaping @Sendable () -> Void) throws(Refusal) {
        // Set in the creating thread, so that the mask applies from the thread's first instruction, and to the threads that it
        // starts.
        var blocked = sigset_t()
        var previous = sigset_t()
        sigfillset(&blocked)
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP] { sigdelset(&blocked, fault) }
        pthread_sigmask(SIG_SETMASK, &blocked, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }

        let body = Unmanaged.passRetained(Body(run)).toOpaque()
        #if canImport(Darwin)
            var thread: pthread_t?
            let code = pthread_create(&thread, nil, { LoopThread.enter($0) }, body)
        #else
            var thread = pthread_t()
            let code = pthread_create(&thread, nil, { $0.flatMap(LoopThread.enter) }, body)
        #endif
        guard code == 0 else {
            Unmanaged<Body>.fromOpaque(body).release()
            throw Refusal(code: code)
        }
        #if canImport(Darwin)
            if let thread { pthread_detach(thread) }
        #else
            pthread_detach(thread)
        #endif
    }

    private static func enter(_ body: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run()
        return nil
    }
}
