#if os(Linux)
    import Foundation
    import SwitchyardWire

    /// The server for the web socket figures, in a separate process: one blocking thread per connection, to cost as little as
    /// possible.
    enum EchoServer {
        /// Prints its port, and serves until standard input ends.
        static func serve() throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let port = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> UInt16 in
                    guard bind(listener, address, length) == 0, listen(listener, 16) == 0 else { return 0 }
                    getsockname(listener, address, &length)
                    return pointer.pointee.sin_port.bigEndian
                }
            }
            guard port != 0 else { throw BenchFailure("the echo server cannot listen") }
            Thread.detachNewThread {
                while true {
                    let connection = accept(listener, nil, nil)
                    guard connection >= 0 else { return }
                    var one: Int32 = 1
                    setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
                    Thread.detachNewThread { echo(connection) }
                }
            }
            print(port)
            fflush(nil)
            while let data = try FileHandle.standardInput.read(upToCount: 1), !data.isEmpty {}
        }

        private static func echo(_ connection: Int32) {
            defer { close(connection) }
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
            defer { buffer.deallocate() }
            guard upgrade(connection, buffer) else { return }
            var machine = WebSocketMachine(role: .server, at: .now)
            var events: [WebSocketMachine.Event] = []
            let now = ContinuousClock.now
            while !machine.isDone {
                let count = recv(connection, buffer.baseAddress, buffer.count, 0)
                guard count > 0 else { return }
                machine.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: now, into: &events)
                for case .message(let message) in events { _ = machine.send(message) }
                events.removeAll(keepingCapacity: true)
                guard sendAll(connection, machine.takeOutput()) else { return }
            }
        }

        private static func upgrade(_ connection: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Bool {
            var head: [UInt8] = []
            while !String(decoding: head, as: UTF8.self).hasSuffix("\r\n\r\n") {
                let count = recv(connection, buffer.baseAddress, buffer.count, 0)
                guard count > 0 else { return false }
                head += buffer[..<count]
            }
            var fields = HTTPHeaders()
            for line in String(decoding: head, as: UTF8.self).split(separator: "\r\n").dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2 { fields.add(String(parts[0]), String(parts[1].drop { $0 == " " })) }
            }
            let answer = WebSocketUpgrade.answer(to: fields)
            let lines = answer.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
            return sendAll(connection, Array("HTTP/1.1 \(answer.status) Answer\r\n\(lines)\r\n".utf8))
        }

        private static func sendAll(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
            bytes.withUnsafeBytes { bytes in
                var sent = 0
                while sent < bytes.count {
                    let count = send(connection, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
                    guard count > 0 else { return false }
                    sent += count
                }
                return true
            }
        }
    }
#endif
