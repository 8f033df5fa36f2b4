#if canImport(Darwin)
    package import Darwin
#elseif canImport(Glibc)
    package import Glibc
#elseif canImport(Musl)
    package import Musl
#elseif canImport(Android)
    package import Android
#endif

/// The socket calls that the server needs, with their platform differences.
package enum Socket {
    package enum Transfer {
        case bytes(Int)
        /// The peer has ended its side.
        case end
        /// Nothing can be transferred now.
        case wouldBlock
        case broken
    }

    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        private static let stream = SOCK_STREAM
    #endif

    #if canImport(Darwin)
        private static let sendFlags: Int32 = 0  // SO_NOSIGPIPE is set instead
    #else
        private static let sendFlags = Int32(MSG_NOSIGNAL)
    #endif

    // MARK: Listening

    /// Opens a listening, non-blocking socket on a loopback address.
    ///
    /// - Throws: `.notLoopback` for any other address, before anything is opened.
    static func listen(on address: LoopbackAddress, port: UInt16, backlog: Int32) throws(ServerError) -> Int32 {
        let family = address.isIPv6 ? AF_INET6 : AF_INET
        let descriptor = socket(family, stream, 0)
        guard descriptor >= 0 else { throw .cannotListen(errno) }
        set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        if address.isIPv6 { set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
        prepare(descriptor)
        let bound = address.withSocketAddress(port: port) { pointer, length in bind(descriptor, pointer, length) }
        guard bound == 0,
            // Qualified, since this function has the same name.
            listenCall(descriptor, backlog) == 0
        else {
            let code = errno
            close(descriptor)
            throw .cannotListen(code)
        }
        return descriptor
    }

    /// Connects a non-blocking socket to a port of this machine, which accepts or refuses at once.
    static func connect(to address: LoopbackAddress, port: UInt16) throws(ServerError) -> Int32 {
        let descriptor = socket(address.isIPv6 ? AF_INET6 : AF_INET, stream, 0)
        guard descriptor >= 0 else { throw .cannotStart(errno) }
        let code = address.withSocketAddress(port: port) { pointer, length in connectCall(descriptor, pointer, length) }
        guard code == 0 else {
            let code = errno
            close(descriptor)
            throw .cannotStart(code)
        }
        prepare(descriptor)
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        return descriptor
    }

    /// The port that a socket is bound to.
    static func port(of descriptor: Int32) -> UInt16 {
        var storage = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes in
            _ = getsockname(descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length)
            // The port follows the family in both address types.
            return UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
    }

    enum Accepted {
        case connection(Int32)
        case none
        /// The process has no free descriptor; waiting clients can be accepted only when one is closed.
        case noDescriptor
    }

    static func accept(from listener: Int32) -> Accepted {
        let descriptor = acceptCall(listener)
        guard descriptor >= 0 else { return errno == EMFILE || errno == ENFILE ? .noDescriptor : .none }
        prepare(descriptor)
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        return .connection(descriptor)
    }

    // MARK: Bytes

    package static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .broken
        }
    }

    package static func send(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Transfer {
        while true {
            let count = sendCall(descriptor, buffer)
            if count >= 0 { return .bytes(count) }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .broken
        }
    }

    /// Ends the server's sending side; the other direction stays open.
    package static func finishSending(_ descriptor: Int32) {
        #if canImport(Glibc)
            _ = shutdown(descriptor, Int32(SHUT_WR))
        #else
            _ = shutdown(descriptor, SHUT_WR)
        #endif
    }

    /// Whether the kernel has recorded a failure, such as a reset by the peer.
    static func hasFailed(_ descriptor: Int32) -> Bool {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        return code != 0
    }

    // MARK: Closing

    package static func close(_ descriptor: Int32) { _ = closeCall(descriptor) }

    /// Two connected, blocking sockets, for `send` and any reader.
    ///
    /// - Returns: 0, or -1 with `errno`.
    static func pair(_ ends: inout [Int32]) -> Int32 {
        let result = socketpair(AF_UNIX, stream, 0, &ends)
        #if canImport(Darwin)
            for end in ends where result == 0 { set(end, SOL_SOCKET, SO_NOSIGPIPE, 1) }
        #endif
        return result
    }

    /// Closes with a reset instead of a normal end, so that the peer loses unread bytes.
    static func reset(_ descriptor: Int32) {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close(descriptor)
    }

    static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
            set(descriptor, SOL_SOCKET, SO_NOSIGPIPE, 1)
        #endif
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func sendCall(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
            Darwin.send(descriptor, buffer.baseAddress, buffer.count, sendFlags)
        #elseif canImport(Glibc)
            Glibc.send(descriptor, buffer.baseAddress, buffer.count, sendFlags)
        #elseif canImport(Musl)
            Musl.send(descriptor, buffer.baseAddress, buffer.count, sendFlags)
        #else
            Android.send(descriptor, buffer.baseAddress!, buffer.count, sendFlags)
        #endif
    }
}

// Free functions, because the members of `Socket` hide the system's functions of the same name.
private func listenCall(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }
private func connectCall(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    connect(descriptor, address, length)
}
private func acceptCall(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }
private func closeCall(_ descriptor: Int32) -> Int32 { close(descriptor) }

extension Socket {
    static func isAddressInUse(_ error: ServerError) -> Bool { error == .cannotListen(EADDRINUSE) }
}

/// An address that only this machine can reach: 127.0.0.0/8 or ::1. No other value exists.
package struct LoopbackAddress: Sendable, Hashable, CustomStringConvertible {
    package static let ipv4 = Self(bytes: [127, 0, 0, 1])
    package static let ipv6 = Self(bytes: [UInt8](repeating: 0, count: 15) + [1])

    /// 4 or 16 bytes in network order.
    private let bytes: [UInt8]

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// - Throws: `.notLoopback` for names and for addresses of other machines, including "0.0.0.0" and "::".
    package init(validating text: String) throws(ServerError) {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = withUnsafeBytes(of: &four) { Array($0) }
            guard bytes[0] == 127 else { throw .notLoopback(text) }
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = withUnsafeBytes(of: &six) { Array($0) }
            guard self == .ipv6 else { throw .notLoopback(text) }
        } else {
            throw .notLoopback(text)
        }
    }

    package var isIPv6: Bool { bytes.count == 16 }

    /// The form used in URLs: IPv6 in brackets.
    package var description: String { isIPv6 ? "[::1]" : bytes.map { String($0) }.joined(separator: ".") }

    package func withSocketAddress<R>(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        if isIPv6 {
            var address = sockaddr_in6()
            #if canImport(Darwin)
                address.sin6_len = UInt8(MemoryLayout<sockaddr_in6>.size)
            #endif
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
        var address = sockaddr_in()
        #if canImport(Darwin)
            address.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
        #endif
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
