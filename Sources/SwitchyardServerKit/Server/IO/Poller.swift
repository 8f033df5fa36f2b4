#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// The state of a descriptor.
struct Readiness {
    let descriptor: Int32
    let canRead: Bool
    let canWrite: Bool
    /// Hung up or failed; always reported.
    let isOver: Bool
}

/// Waits for many descriptors at once with `poll`, level-triggered.
///
/// `epoll` would be better for ten thousand idle connections, but needs headers that Swift's C library modules omit; with the
/// connections of a test or a local server it is not faster.
struct Poller {
    private var entries: [pollfd] = []
    private var places: [Int32: Int] = [:]

    /// Sets the events to wait for; with neither, only failures are reported.
    mutating func watch(_ descriptor: Int32, reading: Bool, writing: Bool) {
        let events = Int16(reading ? POLLIN : 0) | Int16(writing ? POLLOUT : 0)
        if let place = places[descriptor] {
            entries[place].events = events
        } else {
            places[descriptor] = entries.count
            entries.append(pollfd(fd: descriptor, events: events, revents: 0))
        }
    }

    mutating func forget(_ descriptor: Int32) {
        guard let place = places.removeValue(forKey: descriptor) else { return }
        let last = entries.removeLast()
        if place < entries.count {
            entries[place] = last
            places[last.fd] = place
        }
    }

    /// - Parameter timeout: In milliseconds; negative for none.
    mutating func wait(timeout: Int32) -> [Readiness] {
        var due = poll(&entries, nfds_t(entries.count), timeout)
        guard due > 0 else { return [] }
        var found: [Readiness] = []
        found.reserveCapacity(Int(due))
        for entry in entries where entry.revents != 0 {
            let events = Int32(entry.revents)
            found.append(
                Readiness(
                    descriptor: entry.fd, canRead: events & Int32(POLLIN) != 0, canWrite: events & Int32(POLLOUT) != 0,
                    isOver: events & Int32(POLLERR | POLLHUP | POLLNVAL) != 0))
            due -= 1
            if due == 0 { break }
        }
        return found
    }
}

/// Wakes up the waiting loop. A pipe, because every system has one.
struct WakePipe: Sendable {
    let reader: Int32
    private let writer: Int32

    init() throws(ServerError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .cannotStart(errno) }
        reader = ends[0]
        writer = ends[1]
        Socket.prepare(reader)
        Socket.prepare(writer)
    }

    func wake() {
        var byte: UInt8 = 1
        _ = write(writer, &byte, 1)
    }

    func drain() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while read(reader, buffer.baseAddress, buffer.count) > 0 {}
        }
    }

    func close() {
        Socket.close(reader)
        Socket.close(writer)
    }
}
