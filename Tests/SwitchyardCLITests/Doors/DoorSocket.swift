import SwitchyardServerKit

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A connection that a worker's own thread uses; its calls wait, but never long.
final class DoorSocket {
    struct Answer {
        let status: Int
        /// With names in lowercase.
        let fields: [String: String]
        let body: [UInt8]
        /// Whether it came to its end, so that another request may follow on the connection.
        let isComplete: Bool
    }

    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)

    /// - Returns: `nil` if no one listens.
    init?(port: UInt16) {
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        descriptor = socket(AF_INET, stream, 0)
        guard descriptor >= 0, LoopbackAddress.ipv4.withSocketAddress(port: port, { connect(descriptor, $0, $1) }) == 0
        else {
            if descriptor >= 0 { Socket.close(descriptor) }
            return nil
        }
        var limit = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        // A reset instead of a thousand connections that wait for late segments.
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }

    deinit { Socket.close(descriptor) }

    /// - Returns: Whether everything has gone.
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            guard
                case .bytes(let count) = bytes.withUnsafeBytes({ Socket.send(descriptor, .init(rebasing: $0[sent...])) }
                )
            else { return false }
            sent += count
        }
        return true
    }

    /// What comes next.
    ///
    /// - Returns: `nil` if the connection is over; empty if nothing has come in time.
    func receive(within milliseconds: Int) -> [UInt8]? {
        var limit = timeval(tv_sec: milliseconds / 1000, tv_usec: .init(milliseconds % 1000 * 1000))
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        switch buffer.withUnsafeMutableBytes({ Socket.receive(descriptor, into: $0) }) {
        case .bytes(let count): return Array(buffer[..<count])
        case .wouldBlock: return []
        case .end, .broken: return nil
        }
    }

    /// Sends a request and waits for its answer.
    ///
    /// - Returns: `nil` if none came, or none that is HTTP.
    func exchange(_ request: [UInt8], within milliseconds: Int) -> Answer? {
        guard send(request) else { return nil }
        var all: [UInt8] = []
        while let more = receive(within: milliseconds) {
            all += more
            let answer = Self.answer(in: all)
            if answer?.isComplete == true || more.isEmpty || all.count > 4 << 20 { return answer }
        }
        return Self.answer(in: all)
    }

    private static func answer(in bytes: [UInt8]) -> Answer? {
        guard let end = bytes.firstRange(of: [13, 10, 13, 10]) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        guard let line = lines.first, line.hasPrefix("HTTP/1.1 "), let status = Int(line.dropFirst(9).prefix(3)) else {
            return nil
        }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { fields[parts[0].lowercased()] = parts[1].drop { $0 == " " }.description }
        }
        let body = Array(bytes[end.upperBound...])
        let isComplete =
            fields["content-length"].flatMap { Int($0) }.map { body.count >= $0 }
            ?? body.ends(with: Array("0\r\n\r\n".utf8))
        return Answer(status: status, fields: fields, body: body, isComplete: isComplete || status == 204)
    }
}

extension [UInt8] {
    fileprivate func ends(with suffix: [UInt8]) -> Bool {
        count >= suffix.count && self[(count - suffix.count)...].elementsEqual(suffix)
    }
}
