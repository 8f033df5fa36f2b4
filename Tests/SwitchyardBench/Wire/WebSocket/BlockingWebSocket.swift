#if os(Linux)
    import CSwitchyardLibraries
    import Foundation
    import SwitchyardWire

    /// A bare loop with a libcurl connection on one thread: the baseline for the asynchronous client. It implements just enough
    /// of the protocol for one message at a time.
    final class BlockingWebSocket {
        private let easy: ccurl_easy
        private var descriptor: Int32 = -1
        private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
        private var encoder = WebSocketEncoder(role: .client)

        /// - Parameter url: A URL with the scheme `http`, and nothing after the port.
        init(_ url: String, path: String = "/") throws {
            if let problem = ccurl_load() { throw BenchFailure(String(cString: problem)) }
            guard let easy = ccurl_easy_new() else { throw BenchFailure("out of memory") }
            self.easy = easy
            ccurl_set_string(easy, CCURL_OPT_URL, url)
            ccurl_set_long(easy, CCURL_OPT_NOSIGNAL, 1)
            ccurl_set_long(easy, CCURL_OPT_CONNECT_ONLY, 1)
            guard ccurl_easy_perform(easy) == CCURL_OK, ccurl_info_socket(easy, &descriptor) == CCURL_OK else {
                throw BenchFailure("cannot connect to the server")
            }
            try send(
                Array(
                    """
                    GET \(path) HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                    Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n
                    """.utf8))
            var head: [UInt8] = []
            while !String(decoding: head, as: UTF8.self).hasSuffix("\r\n\r\n") {
                let count: Int = try receive()
                head += buffer[..<count]
            }
        }

        deinit {
            ccurl_easy_free(easy)
            buffer.deallocate()
        }

        /// Sends the message and waits for as many bytes as its echo has.
        func roundTrip(_ message: WebSocketMessage, echoSize: Int) throws {
            try send(message)
            var count = 0
            while count < echoSize { count += try receive() }
        }

        func send(_ message: WebSocketMessage) throws {
            var output: [UInt8] = []
            encoder.append(message, to: &output)
            try send(output)
        }

        /// The next bytes, including their framing.
        func receive() throws -> [UInt8] {
            let count: Int = try receive()
            return Array(buffer[..<count])
        }

        private func send(_ bytes: [UInt8]) throws {
            var sent = 0
            while sent < bytes.count {
                var count = 0
                let result = bytes.withUnsafeBytes { ccurl_send(easy, $0.baseAddress! + sent, $0.count - sent, &count) }
                switch result {
                case CCURL_OK: sent += count
                case CCURL_AGAIN: try wait(POLLOUT)
                default: throw BenchFailure("libcurl reports error \(result)")
                }
            }
        }

        private func receive() throws -> Int {
            while true {
                var count = 0
                let result = ccurl_receive(easy, buffer.baseAddress, buffer.count, &count)
                switch result {
                case CCURL_OK where count > 0: return count
                case CCURL_AGAIN: try wait(POLLIN)
                default: throw BenchFailure("libcurl reports error \(result)")
                }
            }
        }

        private func wait(_ events: Int32) throws {
            var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            guard poll(&entry, 1, 30_000) != 0 else { throw BenchFailure("the web socket is silent") }
        }
    }
#endif
