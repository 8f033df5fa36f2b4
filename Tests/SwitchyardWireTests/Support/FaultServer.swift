import Foundation
import Glibc
import SwitchyardTestSupport
import Synchronization

/// A loopback server that does exactly what a test tells it to, byte by byte; one thread per connection.
final class FaultServer: Sendable {
    private struct State {
        var connections: [Int32] = []
        var accepted = 0
        var isStopped = false
        var running = 0
    }

    let port: Int
    private let descriptor: Int32
    private let state = Mutex(State())

    /// - Parameter serve: runs once per connection; the connection is closed when it returns.
    init(ipv6: Bool = false, backlog: Int32 = 128, serve: @escaping @Sendable (FaultConnection) -> Void) throws {
        let (descriptor, port) = try Self.listen(ipv6: ipv6, backlog: backlog)
        self.descriptor = descriptor
        self.port = port
        Thread.detachNewThread { [self] in accept(serve) }
    }

    /// Answers one request per connection with these bytes, then closes.
    convenience init(answering answer: String) throws {
        try self.init { connection in
            guard connection.readHead() != nil else { return }
            connection.write(answer)
        }
    }

    deinit {
        stop()
    }

    var url: String { "http://127.0.0.1:\(port)" }
    /// Connections so far.
    var acceptedCount: Int { state.withLock(\.accepted) }
    /// Connections whose `serve` has not returned.
    var runningCount: Int { state.withLock(\.running) }

    func stop() {
        let open = state.withLock { state -> [Int32]? in
            guard !state.isStopped else { return nil }
            state.isStopped = true
            return state.connections
        }
        guard let open else { return }
        shutdown(descriptor, Int32(SHUT_RDWR))
        for connection in open { shutdown(connection, Int32(SHUT_RDWR)) }
    }

    private func accept(_ serve: @escaping @Sendable (FaultConnection) -> Void) {
        while true {
            let accepted = Glibc.accept(descriptor, nil, nil)
            if accepted < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                break
            }
            let isStopped = state.withLock { state in
                state.accepted += 1
                state.running += 1
                if !state.isStopped { state.connections.append(accepted) }
                return state.isStopped
            }
            if isStopped {
                close(accepted)
                continue
            }
            Thread.detachNewThread { [weak self] in
                serve(FaultConnection(accepted))
                // Forgotten before it is closed: the number may be somebody else's a moment later.
                self?.forget(accepted)
                close(accepted)
            }
        }
        close(descriptor)
    }

    private func forget(_ connection: Int32) {
        state.withLock { state in
            state.running -= 1
            state.connections.removeAll { $0 == connection }
        }
    }

    static func listen(ipv6: Bool, backlog: Int32) throws -> (descriptor: Int32, port: Int) {
        let descriptor = socket(
            ipv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw POSIXFailure("socket") }
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        let bound: Int32
        var port: UInt16 = 0
        if ipv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_addr = in6addr_loopback
            var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
            bound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    let result = bind(descriptor, address, length)
                    getsockname(descriptor, address, &length)
                    return result
                }
            }
            port = address.sin6_port.bigEndian
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            bound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    let result = bind(descriptor, address, length)
                    getsockname(descriptor, address, &length)
                    return result
                }
            }
            port = address.sin_port.bigEndian
        }
        guard bound == 0, Glibc.listen(descriptor, backlog) == 0 else {
            close(descriptor)
            throw POSIXFailure("bind")
        }
        return (descriptor, Int(port))
    }
}

struct POSIXFailure: Error, CustomStringConvertible {
    let description: String

    init(_ call: String) {
        description = "\(call) failed with error \(errno)"
    }
}

/// One connection of a fault server, used by the thread that serves it.
final class FaultConnection {
    let descriptor: Int32
    private var unread: [UInt8] = []

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
    }

    /// The request line and headers with their line ends, without the empty line; `nil` at the end of the connection.
    func readHead() -> String? {
        while true {
            if let end = unread.firstRange(of: Array("\r\n\r\n".utf8)) {
                let head = String(decoding: unread[..<end.lowerBound], as: UTF8.self)
                unread.removeSubrange(..<end.upperBound)
                return head
            }
            guard fill() else { return nil }
        }
    }

    /// The next `count` bytes, fewer at the end of the connection.
    func read(_ count: Int) -> [UInt8] {
        while unread.count < count, fill() {}
        let taken = Array(unread.prefix(count))
        unread.removeFirst(taken.count)
        return taken
    }

    /// Head and body of a request that declares its length or sends chunks.
    func readRequest() -> (head: String, body: [UInt8])? {
        guard let head = readHead() else { return nil }
        let lines = head.lowercased().split(separator: "\r\n")
        if let length = lines.first(where: { $0.hasPrefix("content-length:") }) {
            return (head, read(Int(length.dropFirst(15).drop { $0 == " " }) ?? 0))
        }
        guard lines.contains(where: { $0.hasPrefix("transfer-encoding: chunked") }) else { return (head, []) }
        var body: [UInt8] = []
        while true {
            var line: [UInt8] = []
            while !line.hasSuffix([0x0D, 0x0A]) {
                let byte = read(1)
                guard !byte.isEmpty else { return nil }
                line += byte
            }
            let size = Int(String(decoding: line.dropLast(2), as: UTF8.self), radix: 16) ?? 0
            body += read(size)
            _ = read(2)
            if size == 0 { return (head, body) }
        }
    }

    /// `false` once the peer is gone.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    @discardableResult
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// Waits until the peer closes, reading whatever comes; how many bytes came.
    @discardableResult
    func drain() -> Int {
        var count = unread.count
        unread = []
        while fill() {
            count += unread.count
            unread = []
        }
        return count
    }

    /// Makes the end of this connection a reset.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }

    private func fill() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        unread += buffer[..<count]
        return true
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ suffix: [UInt8]) -> Bool {
        count >= suffix.count && Array(self.suffix(suffix.count)) == suffix
    }
}

/// An answer with a body of declared length.
func answer(_ body: String, status: String = "200 OK", headers: [String] = []) -> String {
    let lines = ["HTTP/1.1 \(status)"] + headers + ["Content-Length: \(body.utf8.count)", "", ""]
    return lines.joined(separator: "\r\n") + body
}
