import SwitchyardTestSupport
import SwitchyardWire
import Testing

@Suite struct MultipartBodyTests {
    @Test func `A form has the bytes RFC 7578 asks for`() async throws {
        let file = try TemporaryFile(Array("file content".utf8))
        let form = MultipartBody(
            boundary: "XX",
            parts: [
                .field("plain", "text"),
                .field("fi\"le\r\n", .file(path: file.path, range: nil), fileName: "ä \"1\".txt", type: "text/plain"),
                .field("part", .file(path: file.path, range: 5..<12)),
            ])
        #expect(form.contentType == "multipart/form-data; boundary=XX")
        let transport = ScriptedTransport([.on(.post, "https://a.example/", .status(200))])
        _ = try await transport.upload(HTTPRequest(.post, "https://a.example/"), body: try form.body())
        try transport.verify()
        let expected = """
            --XX
            Content-Disposition: form-data; name="plain"

            text
            --XX
            Content-Disposition: form-data; name="fi%22le%0D%0A"; filename="ä %221%22.txt"
            Content-Type: text/plain

            file content
            --XX
            Content-Disposition: form-data; name="part"

            content
            --XX--

            """
        #expect(
            transport.requests[0].text
                == expected.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n"))
    }

    @Test func `Its length is known, so that it goes without chunks, and large files stream`() async throws {
        let bytes = [UInt8](repeating: 7, count: 5_000_000)
        let file = try TemporaryFile(bytes)
        let server = try FaultServer { connection in
            guard let (head, body) = connection.readRequest() else { return }
            let isDeclared = head.contains("\r\nContent-Length: \(body.count)")
            let type = head.contains("\r\nContent-Type: multipart/related; boundary=")
            connection.write(answer("\(isDeclared) \(type) \(body.count > bytes.count)"))
        }
        let body = MultipartBody(
            "related",
            parts: [
                .init(headers: ["Content-Type": "application/json"], .bytes(Array("{}".utf8))),
                .init(headers: ["Content-Type": "image/png"], .file(path: file.path, range: nil)),
            ])
        let request = HTTPRequest(.post, server.url, headers: ["Content-Type": body.contentType])
        let response = try await CurlTransport().upload(request, body: try body.body())
        #expect(response.body == Array("true true true".utf8))
    }

    @Test func `What cannot be sent is told before anything is`() throws {
        #expect { try MultipartBody(parts: [.field("a", .file(path: "/nonexistent", range: nil))]).body() } throws: {
            ($0 as? TransportError)?.code == .requestBodyFailed
        }
        #expect { try MultipartBody(parts: [.init(headers: ["A": "b\r\nC: d"], .bytes([]))]).body() } throws: {
            ($0 as? TransportError)?.code == .invalidRequest
        }
        #expect(MultipartBody(parts: []).boundary != MultipartBody(parts: []).boundary)
    }
}
