#if os(Linux)
    import Glibc

    /// Who may use libcurl's handles at the moment.
    ///
    /// A lock of the C library and not `Mutex`: a thread that holds it may try again, as code below libcurl's callbacks
    /// does, and is told that it is taken.
    final class TurnLock: @unchecked Sendable {
        // The lock locks itself.
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

        init() {
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
        }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        func lock() { pthread_mutex_lock(mutex) }
        func tryLock() -> Bool { pthread_mutex_trylock(mutex) == 0 }
        func unlock() { pthread_mutex_unlock(mutex) }
    }
#endif
