import Foundation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Just enough HTTP for an example: one small request per connection. Use a real server for anything else.
final class SmallServer: Sendable {
    private let descriptor: Int32
    private let port: UInt16

    struct Failed: Error {}

    init(_ answer: @escaping @Sendable (SmallRequest) async -> SmallAnswer) throws {
        signal(SIGPIPE, SIG_IGN)
        let descriptor = makeSocket()
        var address = loopback(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        guard isOpen else { throw Failed() }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread {
                    let request = SmallRequest(readAll(connection, isRequest: true))
                    Task {
                        let answer = await answer(request)
                        send(
                            connection,
                            "HTTP/1.1 \(answer.status) -\r\nContent-Length: \(answer.text.utf8.count)\r\n\r\n\(answer.text)"
                        )
                        close(connection)
                    }
                }
            }
        }
    }

    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// Sends a request, as an app would.
    func ask(_ method: String, _ path: String, _ token: String?, body: String = "") async -> SmallAnswer {
        let port = port
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let connection = makeSocket()
                var address = loopback(port)
                _ = withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
                let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
                send(
                    connection,
                    "\(method) \(path) HTTP/1.1\r\n\(authorization)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                let parts = readAll(connection, isRequest: false).split(separator: "\r\n\r\n", maxSplits: 1)
                close(connection)
                let status = parts.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
                continuation.resume(returning: SmallAnswer(status, parts.count > 1 ? String(parts[1]) : ""))
            }
        }
    }
}

struct SmallRequest: Sendable {
    var method = ""
    var path = ""
    /// By lower-case names.
    var headers: [String: String] = [:]
    var body = ""

    init(_ text: String) {
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let lines = (parts.first ?? "").split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count == 3 else { return }
        method = String(words[0])
        path = String(words[1])
        for line in lines.dropFirst() {
            let pair = line.split(separator: ":", maxSplits: 1)
            if pair.count == 2 { headers[pair[0].lowercased()] = pair[1].trimmingCharacters(in: .whitespaces) }
        }
        body = parts.count > 1 ? String(parts[1]) : ""
    }
}

struct SmallAnswer: Sendable {
    let status: Int
    let text: String

    init(_ status: Int, _ text: String) {
        self.status = status
        self.text = text
    }
}

private func makeSocket() -> Int32 {
    #if canImport(Glibc)
        socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
        socket(AF_INET, SOCK_STREAM, 0)
    #endif
}

private func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return address
}

private func send(_ connection: Int32, _ text: String) {
    let bytes = Array(text.utf8)
    var sent = 0
    while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        sent += count
    }
}

/// A request ends where its length says so, an answer with its connection.
private func readAll(_ connection: Int32, isRequest: Bool) -> String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while bytes.count < 1 << 20 {
        if isRequest {
            let request = SmallRequest(String(decoding: bytes, as: UTF8.self))
            if let length = request.headers["content-length"].flatMap({ Int($0) }), request.body.utf8.count >= length {
                break
            }
        }
        let count = read(connection, &chunk, chunk.count)
        guard count > 0 else { break }
        bytes += chunk[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
}
