#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

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
