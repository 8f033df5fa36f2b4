#if canImport(Darwin)
    package import Darwin
#elseif canImport(Glibc)
    package import Glibc
#elseif canImport(Musl)
    package import Musl
#elseif canImport(Android)
    package import Android
#endif

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
