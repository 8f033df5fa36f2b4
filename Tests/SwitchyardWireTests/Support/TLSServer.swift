import Foundation
import Glibc
import SwitchyardTestSupport

/// Certificates made by the `openssl` tool when first needed, in a folder of their own.
struct TestCertificates: Sendable {
    let folder: String

    static func make() throws -> TestCertificates {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("certificates-\(UUID().uuidString)")
            .path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let script = """
            set -e
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 2 \
                -subj "/CN=Test Authority" -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=keyCertSign,cRLSign"
            make() {
                openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $1.key -out $1.csr -subj "/CN=$1"
                printf "subjectAltName=%s\\n" "$2" > $1.ext
                openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out $1.crt -extfile $1.ext $3
                cat $1.crt $1.key > $1.pem
            }
            make good "DNS:localhost,IP:127.0.0.1" "-days 2"
            make other "DNS:elsewhere.example" "-days 2"
            make old "DNS:localhost,IP:127.0.0.1" "-days -1"
            """
        _ = try ToolProcess.output("bash", "-c", script, in: folder)
        return TestCertificates(folder: folder)
    }

    var authority: String { folder + "/ca.pem" }

    func remove() {
        try? FileManager.default.removeItem(atPath: folder)
    }
}

/// A TLS server in a process of its own: HTTP/1.1 that answers each request with its method and path, and drops the
/// connection without TLS's goodbye for the path /abort. For the path /close it asks the client to end the connection, and
/// answers that end.
final class TLSServer {
    let port: Int
    private let process: ToolProcess

    /// - Parameter protocols: what it offers for TLS to choose from, most wanted first. Whatever is chosen, it speaks
    ///   HTTP/1.1.
    init(_ certificates: TestCertificates, _ name: String, protocols: [String] = []) throws {
        let script = """
            import ssl, socket, sys, threading, os, struct
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            if sys.argv[2:]: context.set_alpn_protocols(sys.argv[2:])
            context.load_cert_chain(sys.argv[1])
            listener = socket.create_server(("127.0.0.1", 0))
            print(listener.getsockname()[1], flush=True)
            threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
            def serve(plain):
                try:
                    connection = context.wrap_socket(plain, server_side=True)
                    stream = connection.makefile("rb")
                    while True:
                        line = stream.readline()
                        if not line: return
                        length = 0
                        while True:
                            header = stream.readline()
                            if header in (b"\\r\\n", b""): break
                            if header.lower().startswith(b"content-length:"): length = int(header[15:])
                        stream.read(length)
                        if b"/abort" in line:
                            raw = connection.detach()
                            plain = socket.socket(fileno=raw)
                            plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                            plain.close()
                            return
                        body = line.rsplit(b" ", 1)[0]
                        close = b"Connection: close\\r\\n" if b"/close" in line else b""
                        connection.sendall(b"HTTP/1.1 200 OK\\r\\n%sContent-Length: %d\\r\\n\\r\\n" % (close, len(body)) + body)
                except (ssl.SSLError, OSError):
                    pass
            while True:
                plain, _ = listener.accept()
                threading.Thread(target=serve, args=(plain,), daemon=True).start()
            """
        process = try ToolProcess("python3", ["-c", script, "\(certificates.folder)/\(name).pem"] + protocols)
        guard let port = Int(process.firstLine()) else { throw ToolFailure(tool: "python3", status: -1) }
        self.port = port
    }
}
