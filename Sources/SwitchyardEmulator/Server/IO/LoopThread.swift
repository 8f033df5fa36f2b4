#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// A thread of our own, which Swift's concurrency must not lend for something that waits in the kernel.
enum LoopThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a new, detached thread.
    static func start(_ body: @escaping @Sendable () -> Void) throws(ServerError) {
        let box = Unmanaged.passRetained(Body(body))
        #if canImport(Darwin)
            var thread: pthread_t?
            let code = pthread_create(
                &thread, nil,
                { user in
                    Unmanaged<Body>.fromOpaque(user).takeRetainedValue().run()
                    return nil
                }, box.toOpaque())
        #else
            var thread = pthread_t()
            let code = pthread_create(
                &thread, nil,
                { user in
                    Unmanaged<Body>.fromOpaque(user!).takeRetainedValue().run()
                    return nil
                }, box.toOpaque())
        #endif
        guard code == 0 else {
            box.release()
            throw .cannotStart(code)
        }
        #if canImport(Darwin)
            if let thread { pthread_detach(thread) }
        #else
            pthread_detach(thread)
        #endif
    }
}
