import Glibc
import Synchronization

/// Lets one waiting thread through per `open`: how a test and a server thread take turns.
final class TurnGate: @unchecked Sendable {
    // A POSIX semaphore is made for several threads; the memory lives as long as the gate.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() {
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func open() {
        sem_post(semaphore)
    }

    /// Gives up after five minutes, so that a failing test still ends: longer than any deadline a test may have.
    func wait() {
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        deadline.tv_sec += 300
        while sem_timedwait(semaphore, &deadline) != 0, errno == EINTR {}
    }
}
