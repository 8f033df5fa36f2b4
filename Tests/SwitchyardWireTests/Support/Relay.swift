import Foundation
import Glibc
import SwitchyardTestSupport

extension FaultConnection {
    /// Passes bytes on to a port of this machine and back, until both sides have ended.
    func relay(toPort port: Int) {
        guard let upstream = try? FaultServer.reach(port) else { return }
        defer { close(upstream) }
        let backIsDone = TurnGate()
        let client = descriptor
        Thread.detachNewThread {
            Self.pump(from: upstream, to: client)
            backIsDone.open()
        }
        Self.pump(from: client, to: upstream)
        backIsDone.wait()
    }

    private static func pump(from source: Int32, to destination: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            var sent = 0
            while sent < count {
                let piece = buffer.withUnsafeBytes {
                    send(destination, $0.baseAddress! + sent, count - sent, Int32(MSG_NOSIGNAL))
                }
                guard piece > 0 else { break }
                sent += piece
            }
            if sent < count { break }
        }
        shutdown(destination, Int32(SHUT_WR))
        shutdown(source, Int32(SHUT_RD))
    }
}

extension FaultServer {
    /// A connection to a port of this machine; the caller closes it.
    static func reach(_ port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw POSIXFailure("connect")
        }
        return descriptor
    }
}

/// Speaks TLS on a port of its own, in a process of its own, and hands what comes on to a port without TLS.
final class TLSRelay {
    let port: Int
    private let process: ToolProcess

    init(_ certificates: TestCertificates, _ name: String, toPort target: Int) throws {
        let script = """
            import asyncio, os, ssl, sys
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[1])
            async def pump(reader, writer):
                try:
                    while data := await reader.read(65536):
                        writer.write(data)
                        await writer.drain()
                except (ConnectionError, ssl.SSLError):
                    pass
                writer.close()
            async def serve(reader, writer):
                try:
                    upstream = await asyncio.open_connection("127.0.0.1", int(sys.argv[2]))
                except ConnectionError:
                    return writer.close()
                await asyncio.gather(pump(reader, upstream[1]), pump(upstream[0], writer))
            async def main():
                server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
                print(server.sockets[0].getsockname()[1], flush=True)
                await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
                os._exit(0)
            asyncio.run(main())
            """
        process = try ToolProcess("python3", ["-c", script, "\(certificates.folder)/\(name).pem", "\(target)"])
        guard let port = Int(process.firstLine()) else { throw ToolFailure(tool: "python3", status: -1) }
        self.port = port
    }
}
