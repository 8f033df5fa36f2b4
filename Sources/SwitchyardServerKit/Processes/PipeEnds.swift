#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// The two ends of a pipe. No other process that is started meanwhile inherits them: the shell would keep open what it waits
/// to see closed.
package struct PipeEnds {
    package let reader: Int32
    package let writer: Int32

    /// - Parameter writable: Whether something is written to it, which must not end this process if no one reads any more.
    package init(writable: Bool = false) throws(ServerError) {
        var ends: [Int32] = [-1, -1]
        guard (writable ? Socket.pair(&ends) : pipe(&ends)) == 0 else { throw .cannotStart(errno) }
        (reader, writer) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }
}
