import SwitchyardTestSupport
import SwitchyardWire
import Testing

@Suite struct RedirectTests {
    static let secrets: HTTPHeaders = [
        "Authorization": "Bearer t", "apikey": "k", "Cookie": "c=1", "X-Goog-Api-Key": "g", "X-Client-Secret": "s",
        "Accept": "text/plain",
    ]

    private func follow(
        _ request: HTTPRequest, _ status: Int, _ location: String, isReplayable: Bool = true
    ) throws -> HTTPRequest? {
        var follower = RedirectFollower(request)
        let head = HTTPResponseHead(status: status, headers: ["Location": location])
        let goesOn = try follower.follow(head, hasBody: !request.body.isEmpty, isReplayable: isReplayable)
        return goesOn ? follower.request : nil
    }

    @Test(arguments: [
        // status, method, method then, body then
        (301, "GET", "GET", false), (302, "GET", "GET", false), (303, "GET", "GET", false), (308, "GET", "GET", false),
        (301, "POST", "GET", false), (302, "POST", "GET", false), (303, "POST", "GET", false),
        (307, "POST", "POST", true), (308, "POST", "POST", true), (302, "PUT", "PUT", true), (303, "PUT", "GET", false),
        (303, "HEAD", "HEAD", false), (303, "DELETE", "GET", false),
    ])
    func `Method and body change as in browsers`(_ row: (status: Int, from: String, to: String, body: Bool)) throws {
        let sends = ["POST", "PUT"].contains(row.from)
        let request = HTTPRequest(
            HTTPMethod(rawValue: row.from), "https://a.example/x",
            headers: ["Content-Type": "text/plain", "apikey": "k"],
            body: sends ? [1] : [])
        let next = try #require(try follow(request, row.status, "/y"))
        #expect(next.method.rawValue == row.to)
        #expect(next.body == (row.body ? [1] : []))
        #expect(next.url == "https://a.example/y")
        #expect(next.headers["apikey"] == "k")
        #expect((next.headers["Content-Type"] != nil) == (row.to == row.from))
    }

    @Test(arguments: [
        "https://b.example/", "//b.example/", "https://a.example:444/", "https://sub.a.example/",
        "HTTPS://A.EXAMPLE:8443/",
    ])
    func `Another origin sees nothing that identifies the caller`(location: String) throws {
        let request = HTTPRequest(.get, "https://a.example/x", headers: Self.secrets)
        let next = try #require(try follow(request, 302, location))
        #expect(next.headers == ["Accept": "text/plain"])
    }

    @Test(arguments: ["https://a.example/y", "https://A.Example:443/y", "y", "?q=1", "/y"])
    func `The same origin keeps everything`(location: String) throws {
        let request = HTTPRequest(.get, "https://a.example/x", headers: Self.secrets)
        #expect(try #require(try follow(request, 302, location)).headers == Self.secrets)
    }

    @Test(arguments: [
        "http://a.example/", "ftp://a.example/", "file:///etc/passwd", "https://u:p@a.example/", "https://", "\u{1}",
    ])
    func `Dangerous and broken targets are refused`(location: String) throws {
        #expect { try follow(HTTPRequest(.get, "https://a.example/x"), 302, location) } throws: { error in
            (error as? TransportError)?.code == .redirectRefused
        }
    }

    @Test func `A body goes neither to another origin nor twice if it cannot`() throws {
        let request = HTTPRequest(.post, "https://a.example/x", body: [1])
        for status in [307, 308] {
            #expect { try follow(request, status, "https://b.example/") } throws: {
                ($0 as? TransportError)?.code == .redirectRefused
            }
            #expect { try follow(request, status, "/y", isReplayable: false) } throws: {
                ($0 as? TransportError)?.code == .redirectRefused
            }
        }
    }

    @Test func `Answers that are no redirects stay answers`() throws {
        var request = HTTPRequest(.get, "https://a.example/x")
        #expect(try follow(request, 200, "/y") == nil)
        #expect(try follow(request, 304, "/y") == nil)
        // A resumable upload's "308 Resume Incomplete" has no Location.
        var follower = RedirectFollower(request)
        let goesOn = try follower.follow(HTTPResponseHead(status: 308), hasBody: false)
        #expect(!goesOn)
        request.redirects = .surface
        #expect(try follow(request, 302, "/y") == nil)
    }

    @Test(arguments: [
        // RFC 3986, section 5.4, base http://a/b/c/d;p?q
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
        ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
        ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g:h", "g:h"),
    ])
    func `References resolve as RFC 3986 shows`(reference: String, target: String) throws {
        #expect(try URLParts(validating: "http://a/b/c/d;p?q").resolving(reference) == target)
    }

    @Test func `The transport follows, counts, and does not go in circles`() async throws {
        let server = try FaultServer { connection in
            while let (head, body) = connection.readRequest() {
                let path = head.split(separator: " ")[1]
                switch path {
                case "/loop": connection.write(answer("", status: "302 Found", headers: ["Location: /loop"]))
                case "/once": connection.write(answer("", status: "307 Temporary Redirect", headers: ["Location: end"]))
                default: connection.write(answer("\(head.prefix { $0 != " " }) \(path) \(body.count)"))
                }
            }
        }
        let transport = CurlTransport()
        let error = try await failure { try await transport.send(HTTPRequest(.get, "\(server.url)/loop")) }
        #expect(error.code == .tooManyRedirects)
        let streamed = try await failure { try await transport.stream(HTTPRequest(.get, "\(server.url)/loop")) }
        #expect(streamed.code == .tooManyRedirects)

        let posted = try await transport.send(HTTPRequest(.post, "\(server.url)/once", body: [1, 2, 3]))
        #expect(posted.body == Array("POST /end 3".utf8))
        #expect(posted.head.url == "\(server.url)/end")
        let uploaded = try await transport.upload(HTTPRequest(.put, "\(server.url)/once"), body: .bytes([1, 2]))
        #expect(uploaded.body == Array("PUT /end 2".utf8))
        let stream = try await transport.stream(HTTPRequest(.get, "\(server.url)/once"))
        #expect(try await stream.body.collect(upTo: 100) == Array("GET /end 0".utf8))
        var surfaced = HTTPRequest(.get, "\(server.url)/once")
        surfaced.redirects = .surface
        #expect(try await transport.send(surfaced).status == 307)
    }
}
