import SwitchyardBytes
package import SwitchyardServerKit

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A TCP client that sends exactly what a test tells it to.
///
/// Its calls block, so each runs on a thread of its own: the pool's threads are needed by the handlers under test.
package final class PlainClient: Sendable {
    package struct Failure: Error, CustomStringConvertible { package let description: String }

    private let descriptor: Int32

    /// Connects; `receiveBuffer` makes the kernel take little, for tests of back-pressure.
    package init(_ server: LoopbackServer, address: LoopbackAddress = .ipv4, receiveBuffer: Int32? = nil) async throws {
        let port = server.port
        descriptor = try await Self.onThread {
            #if canImport(Glibc)
                let stream = Int32(SOCK_STREAM.rawValue)
            #else
                let stream = SOCK_STREAM
            #endif
            let descriptor = socket(address.isIPv6 ? AF_INET6 : AF_INET, stream, 0)
            if var size = receiveBuffer {
                setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            }
            var limit = timeval(tv_sec: 30, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            let result = address.withSocketAddress(port: port) { connect(descriptor, $0, $1) }
            guard result == 0 else {
                Socket.close(descriptor)
                throw Failure(description: "connect: \(errno)")
            }
            return descriptor
        }
    }

    deinit { Socket.close(descriptor) }

    package func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    package func send(_ bytes: [UInt8]) async throws {
        let descriptor = descriptor
        try await Self.onThread {
            var sent = 0
            while sent < bytes.count {
                let result = bytes.withUnsafeBytes { Socket.send(descriptor, .init(rebasing: $0[sent...])) }
                guard case .bytes(let count) = result else { throw Failure(description: "send: \(result)") }
                sent += count
            }
        }
    }

    /// What has arrived when `isEnough` first holds, or at the end of the connection.
    package func receive(until isEnough: @escaping @Sendable ([UInt8]) -> Bool = { _ in false }) async throws -> [UInt8]
    {
        let descriptor = descriptor
        return try await Self.onThread {
            var all: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            while !isEnough(all) {
                switch buffer.withUnsafeMutableBytes({ Socket.receive(descriptor, into: $0) }) {
                case .bytes(let count): all += buffer[..<count]
                case .end: return all
                case .wouldBlock: throw Failure(description: "nothing came; so far \(all.count) bytes")
                case .broken: throw Failure(description: "reset after \(all.count) bytes")
                }
            }
            return all
        }
    }

    package func text(until end: String? = nil) async throws -> String {
        String(
            decoding: try await receive { bytes in end.map { bytes.ends(with: Array($0.utf8)) } ?? false },
            as: UTF8.self)
    }

    /// Status and body of one request, exactly as it is written here, on a connection of its own that ends with the answer.
    ///
    /// - Parameter lines: The request line and header fields, without a length.
    package static func ask(
        _ server: LoopbackServer, _ lines: String..., body: String = ""
    ) async throws -> (status: Int, head: String, body: String) {
        let client = try await PlainClient(server)
        let head = lines + ["Connection: close"] + (body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"])
        try await client.send(head.map { $0 + "\r\n" }.joined() + "\r\n" + body)
        let answer = try await client.text()
        let end = answer.firstRange(of: "\r\n\r\n")
        return (
            Int(answer.dropFirst(9).prefix(3)) ?? 0, String(end.map { answer[..<$0.lowerBound] } ?? ""),
            end.map { String(answer[$0.upperBound...]) } ?? ""
        )
    }

    package func finishSending() { Socket.finishSending(descriptor) }

    package static func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedContinuation { (continuation: CheckedContinuation<Result<T, any Error>, Never>) in
            do {
                try LoopThread.start { continuation.resume(returning: Result { try body() }) }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }.get()
    }
}

extension [UInt8] {
    package func ends(with suffix: [UInt8]) -> Bool {
        count >= suffix.count && self[(count - suffix.count)...].elementsEqual(suffix)
    }
}
