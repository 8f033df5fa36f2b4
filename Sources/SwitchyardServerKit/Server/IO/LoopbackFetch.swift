import SwitchyardBytes

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// A GET request from one local server to another on this machine, with a short answer.
///
/// It does not use a transport, since these differ by platform and are chosen by the providers, which no local server imports.
package struct LoopbackFetch: Sendable {
    private let address: LoopbackAddress
    private let port: UInt16
    private static let patience: Int32 = 5000
    private static let limit = 1 << 20

    /// - Parameter address: Such as "http://127.0.0.1:9099"; anything after the port is ignored.
    /// - Returns: `nil` for another machine, another protocol, or an invalid address.
    package init?(_ address: String) {
        guard address.hasPrefix("http://") else { return nil }
        let authority = address.dropFirst("http://".count).prefix { $0 != "/" && $0 != "?" }
        guard let colon = authority.lastIndex(of: ":"), let port = UInt16(authority[authority.index(after: colon)...]),
            port > 0
        else { return nil }
        let host = authority[..<colon].filter { $0 != "[" && $0 != "]" }
        do throws(ServerError) {
            self.address = host == "localhost" ? .ipv4 : try LoopbackAddress(validating: host)
        } catch {
            return nil
        }
        self.port = port
    }

    /// The body of a successful answer; `nil` for any other, and if there is no answer.
    package func get(_ path: String) async -> [UInt8]? {
        await withCheckedContinuation { continuation in
            do throws(LoopThread.Refusal) {
                try LoopThread.start { continuation.resume(returning: exchange(path)) }
            } catch {
                continuation.resume(returning: nil)
            }
        }
    }

    private func exchange(_ path: String) -> [UInt8]? {
        guard let descriptor = try? Socket.connect(to: address, port: port) else { return nil }
        defer { Socket.close(descriptor) }
        let request = Array("GET \(path) HTTP/1.1\r\nHost: \(address):\(port)\r\nConnection: close\r\n\r\n".utf8)
        guard case .bytes(request.count) = request.withUnsafeBytes({ Socket.send(descriptor, $0) }) else { return nil }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while answer.count < Self.limit {
            switch buffer.withUnsafeMutableBytes({ Socket.receive(descriptor, into: $0) }) {
            case .bytes(let count): answer += buffer[..<count]
            case .end: return Self.body(of: answer)
            case .broken: return nil
            case .wouldBlock:
                var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&wait, 1, Self.patience) > 0 else { return nil }
            }
        }
        return nil
    }

    private static func body(of answer: [UInt8]) -> [UInt8]? {
        guard answer.starts(with: Array("HTTP/1.1 200".utf8)) else { return nil }
        let end: [UInt8] = [13, 10, 13, 10]
        guard let start = answer.indices.first(where: { answer[$0...].starts(with: end) }) else { return nil }
        return Array(answer[(start + 4)...])
    }
}
