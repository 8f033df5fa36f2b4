import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// Requests that must not leave the house.
@Suite struct RequestFaultTests {
    static let injections = [
        HTTPRequest(.get, "http://127.0.0.1:1/", headers: ["X": "a\r\nEvil: 1"]),
        HTTPRequest(.get, "http://127.0.0.1:1/", headers: ["X": "a\nEvil: 1"]),
        HTTPRequest(.get, "http://127.0.0.1:1/", headers: ["X": "a\rEvil: 1"]),
        HTTPRequest(.get, "http://127.0.0.1:1/", headers: ["X": "a\0"]),
        HTTPRequest(.get, "http://127.0.0.1:1/", headers: ["X\r\nEvil": "a"]),
        HTTPRequest(.get, "http://127.0.0.1:1/", headers: ["X Y": "a"]),
        HTTPRequest(.get, "http://127.0.0.1:1/", headers: ["": "a"]),
        HTTPRequest(.get, "http://127.0.0.1:1/", headers: ["Content-Length": "5"]),
        HTTPRequest(.get, "http://127.0.0.1:1/", headers: ["transfer-encoding": "chunked"]),
        HTTPRequest(.get, "http://127.0.0.1:1/", headers: ["Host": "elsewhere"]),
        HTTPRequest(HTTPMethod(rawValue: "GET / HTTP/1.1\r\nEvil: 1\r\n\r\nGET"), "http://127.0.0.1:1/"),
        HTTPRequest(HTTPMethod(rawValue: ""), "http://127.0.0.1:1/"),
        HTTPRequest(.get, "http://127.0.0.1:1/ HTTP/1.1\r\nEvil: 1"),
        HTTPRequest(.get, "http://127.0.0.1:1/ä"),
        HTTPRequest(.get, "http://user:tiger@127.0.0.1:1/"),
        HTTPRequest(.get, "http://127.0.0.1:99999/"),
        HTTPRequest(.get, "http:///path"),
        HTTPRequest(.get, "//127.0.0.1/"),
        HTTPRequest(.get, "file:///etc/passwd"),
        HTTPRequest(.get, "ftp://127.0.0.1/"),
        HTTPRequest(.get, ""),
    ]

    @Test(arguments: injections.indices) func `A malformed request is refused before anything is sent`(index: Int)
        async throws
    {
        let request = Self.injections[index]
        let transport = CurlTransport()
        let scripted = ScriptedTransport()
        for transport in [transport, scripted] as [any Transport] {
            let error = try await failure { try await transport.send(request) }
            #expect(error.code == .invalidRequest)
            #expect(!error.mayHaveBeenSent)
            #expect(!error.message.contains("Evil") && !error.message.contains("tiger"))
        }
    }
}
