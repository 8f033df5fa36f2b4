import Synchronization

/// An HTTP proxy: answers plain requests itself, tunnels others to the port they want on this machine, and keeps what it
/// was asked.
final class TestProxy: Sendable {
    private final class Heads: Sendable {
        let all = Mutex<[String]>([])
    }

    private let heads: Heads
    private let server: FaultServer

    init(tunnelAnswer: String = "HTTP/1.1 200 Connection established\r\n\r\n") throws {
        let heads = Heads()
        self.heads = heads
        server = try FaultServer { connection in
            while let (head, _) = connection.readRequest() {
                heads.all.withLock { $0.append(head) }
                guard head.hasPrefix("CONNECT ") else {
                    connection.write(answer("by the proxy"))
                    continue
                }
                connection.write(tunnelAnswer)
                guard tunnelAnswer.hasPrefix("HTTP/1.1 200") else { return }
                let target = head.split(separator: " ")[1]
                return connection.relay(toPort: target.split(separator: ":").last.flatMap { Int($0) } ?? 0)
            }
        }
    }

    var url: String { server.url }
    var requestLines: [String] { heads.all.withLock { $0.map { String($0.split(separator: "\r\n")[0]) } } }
    /// Everything it received before tunnels began.
    var text: String { heads.all.withLock { $0.joined(separator: "\n") } }
}
