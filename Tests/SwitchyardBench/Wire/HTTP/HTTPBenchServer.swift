import Foundation
import SwitchyardServerKit
import SwitchyardWire
import Synchronization

/// The server for the HTTP figures, in a separate process.
final class HTTPBenchServer: Sendable {
    /// 190 bytes, like a document with a few fields.
    static let smallBody = Array(
        (#"{"name":"projects/p/databases/(default)/documents/users/alice","fields":{"name":{"stringValue":"Alice"},"#
            + #""age":{"integerValue":"42"}},"updateTime":"2024-05-01T12:00:00.000000Z","#
            + #""size":10}"#).utf8)

    let url: String
    private let process: ChildServer

    /// Starts this program again, as a server.
    init(section: String) throws {
        process = try ChildServer(section: section)
        url = "http://127.0.0.1:\(process.port)"
    }

    func stop() {
        process.stop()
    }

    /// The server process: prints its port, and serves until standard input ends.
    static func serve() async throws {
        let server = try LoopbackServer(
            immediately: { request in
                request.target == "/small"
                    ? ServerResponse(headers: ["Content-Type": "application/json"], body: smallBody) : nil
            },
            handler: { request in
                if request.method == .put {
                    var count = 0
                    do {
                        for try await bytes in request.body { count += bytes.count }
                    } catch {
                        return .text("broken", status: 400)
                    }
                    return .text("\(count)")
                }
                return large(Int(request.target.dropFirst(7)) ?? 0)
            })
        print(server.port)
        fflush(nil)
        while let data = try FileHandle.standardInput.read(upToCount: 1), !data.isEmpty {}
        await server.stop()
    }

    /// `/large/<bytes>`
    private static func large(_ count: Int) -> ServerResponse {
        .stream(length: count) { writer in
            let block = [UInt8](repeating: 0x5A, count: 256 * 1024)
            var left = count
            while left > 0 {
                let size = min(left, block.count)
                try await writer.write(size == block.count ? block : Array(block[..<size]))
                left -= size
            }
        }
    }
}
