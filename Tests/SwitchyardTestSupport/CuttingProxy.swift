import Foundation
import Synchronization

/// Passes bytes on to a server on this machine, and cuts its connections when a test says so.
package final class CuttingProxy: Sendable {
    package let port: Int
    private let target: Int
    private let listener: Int32
    private let state = Mutex(State())

    private struct State {
        /// Both ends of each connection.
        var connections: [Int: [Int32]] = [:]
        var lastID = 0
        var isStopped = false
        var accepted = 0
    }

    struct Failed: Error { let call: String }

    package init(to target: Int) throws {
        self.target = target
        port = try freePort()
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard CuttingProxy.withAddress(port, { bind(listener, $0, $1) }) == 0, listen(listener, 512) == 0 else {
            close(listener)
            throw Failed(call: "bind")
        }
        let thread = Thread { [weak self, listener] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                guard let self else {
                    close(client)
                    return
                }
                self.serve(client)
            }
        }
        thread.start()
    }

    deinit { stop() }

    /// How many connections there have been.
    package var acceptedCount: Int { state.withLock { $0.accepted } }

    /// Cuts every connection there is, in the middle of whatever travels. New ones are taken at once.
    package func cutAll() {
        state.withLock { state in
            for ends in state.connections.values {
                for end in ends { shutdown(end, Int32(SHUT_RDWR)) }
            }
        }
    }

    package func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopped = true }
            return !state.isStopped
        }
        guard isFirst else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        cutAll()
    }

    private func serve(_ client: Int32) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var yes: Int32 = 1
        for end in [client, server] {
            setsockopt(end, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        }
        guard CuttingProxy.withAddress(target, { connect(server, $0, $1) }) == 0 else {
            close(client)
            close(server)
            return
        }
        let id = state.withLock { state in
            state.lastID += 1
            state.accepted += 1
            state.connections[state.lastID] = [client, server]
            return state.lastID
        }
        // The last of the two directions to end closes both.
        let directions = Countdown(2)
        for (from, to) in [(client, server), (server, client)] {
            let thread = Thread { [weak self] in
                CuttingProxy.pump(from, to)
                shutdown(from, Int32(SHUT_RDWR))
                shutdown(to, Int32(SHUT_RDWR))
                guard directions.countDown() == 0 else { return }
                self?.state.withLock { _ = $0.connections.removeValue(forKey: id) }
                close(from)
                close(to)
            }
            thread.stackSize = 256 << 10
            thread.start()
        }
    }

    private final class Countdown: Sendable {
        private let left: Mutex<Int>

        init(_ count: Int) { left = Mutex(count) }

        func countDown() -> Int {
            left.withLock { left in
                left -= 1
                return left
            }
        }
    }

    private static func pump(_ from: Int32, _ to: Int32) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(from, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            var sent = 0
            while sent < count {
                let more = buffer[sent..<count].withUnsafeBytes {
                    send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard more > 0 else { return }
                sent += more
            }
        }
    }

    private static func withAddress(
        _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
