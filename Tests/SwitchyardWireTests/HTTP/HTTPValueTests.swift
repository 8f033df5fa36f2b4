import SwitchyardWire
import Testing

@Suite struct HTTPValueTests {
    @Test func `Header names know no case, order is kept, setting replaces every field of a name`() {
        var headers: HTTPHeaders = ["A": "1", "b": "2", "a": "3", "C": "4"]
        #expect(headers["a"] == "1" && headers.values(for: "A") == ["1", "3"])
        headers["a"] = "5"
        #expect(headers.map(\.name) == ["A", "b", "C"] && headers["A"] == "5")
        headers["d"] = "6"
        headers["B"] = nil
        #expect(headers == ["a": "5", "c": "4", "D": "6"])
        #expect(!headers.contains("[") && !(["@": "x"] as HTTPHeaders).contains("`"))
    }

    @Test func `Nothing printed or dumped holds a secret`() {
        let request = HTTPRequest(
            .post, "https://a.example/path?key=SECRET&alt=SECRET&SECRET",
            headers: ["Authorization": "SECRET", "apikey": "SECRET", "Cookie": "SECRET", "Content-Type": "text/plain"],
            body: Array("SECRET".utf8))
        let response = HTTPResponse(status: 200, headers: ["Set-Cookie": "SECRET"], body: Array("SECRET".utf8))
        let socket = WebSocketRequest("wss://a.example/?apikey=SECRET", headers: ["Authorization": "SECRET"])
        var dumped = ""
        dump(request, to: &dumped)
        dump(response, to: &dumped)
        dump(socket, to: &dumped)
        for text in [
            "\(request)", String(reflecting: request), "\(response)", "\(socket)", "\(request.headers)", dumped,
        ] {
            #expect(!text.contains("SECRET"), "\(text)")
        }
        #expect("\(request)".contains("POST https://a.example/path?key=…&alt=…&…"))
        #expect("\(request)".contains("Content-Type: text/plain"))
        #expect(URLParts.redacted("https://user:SECRET@a.example/") == "<invalid address>")
    }

    @Test(
        arguments: [
            ("http://a", "http://a:80", "", nil), ("HTTPS://A.Example/x?y#z", "https://a.example:443", "/x", "y"),
            ("https://a:8443?", "https://a:8443", "", ""), ("http://[::1]:81/", "http://[::1]:81", "/", nil),
            ("wss://a/", "wss://a:443", "/", nil), ("http://a:/p", "http://a:80", "/p", nil),
        ] as [(String, String, String, String?)])
    func `Addresses split as RFC 3986 says`(_ row: (url: String, origin: String, path: String, query: String?)) throws {
        let parts = try URLParts(validating: row.url)
        #expect(parts.origin == row.origin && parts.path == row.path && parts.query == row.query)
    }
}
