import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

/// Whose requests a local server answers: no page that is not on this machine drives it.
@Suite struct ServerVisitorsTests {
    private static func server(
        _ origins: Set<String> = [], _ handler: @escaping LoopbackServer.Handler = { _ in .text("fine") }
    ) throws -> LoopbackServer {
        var configuration = ServerConfiguration()
        configuration.faultControlPath = "/_faults"
        configuration.visitors = ServerVisitors(origins: origins, controlPaths: ["/_"], remedy: "use --origin.")
        return try LoopbackServer(configuration, handler: handler)
    }

    @Test(arguments: [
        "localhost", "LOCALHOST:80", "localhost:8080", "127.0.0.1", "127.0.0.1:1", "127.8.9.1:65535", "[::1]",
        "[::1]:8080",
    ])
    func `A request for this machine is answered`(_ host: String) async throws {
        let server = try Self.server()
        #expect(try await PlainClient.ask(server, "GET / HTTP/1.1", "Host: \(host)").body == "fine")
        #expect(try await PlainClient.ask(server, "GET http://\(host)/ HTTP/1.1", "Host: \(host)").body == "fine")
        await server.stop()
    }

    @Test(arguments: [
        "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "localhost:",
        "0.0.0.0",
        "10.0.0.1", "[::]", "::1", "[127.0.0.1]", "localhost@evil.example", "localhost:8080@evil.example", "localhost.",
        "", "127.1", "2130706433", "localhost evil.example", "localhost:99999999999999999999",
    ])
    func `A name that leads to this machine is not this machine's, and the answer says so`(_ host: String) async throws
    {
        if host == "localhost:" { return }  // an empty port is the usual one
        let isAsked = Mutex(false)
        let server = try Self.server { _ in
            isAsked.withLock { $0 = true }
            return .text("fine")
        }
        for line in ["GET / HTTP/1.1", "POST /_faults HTTP/1.1", "OPTIONS / HTTP/1.1"] {
            let answer = try await PlainClient.ask(
                server, line, "Host: \(host)", body: line.hasPrefix("POST") ? #"{"fault":"drop","times":null}"# : "")
            #expect(answer.status == 403, "\(line)")
            #expect(answer.body.contains("only requests whose Host is localhost, 127.0.0.1 or [::1]"))
        }
        let target = try await PlainClient.ask(server, "GET http://\(host)/ HTTP/1.1", "Host: localhost")
        #expect(target.status == 403 || target.status == 400)
        #expect(!isAsked.withLock { $0 })
        #expect(
            try await PlainClient.ask(server, "GET / HTTP/1.1", "Host: localhost").body == "fine", "no rule was set")
        await server.stop()
    }

    @Test(arguments: [
        "http://localhost", "https://localhost:8080", "http://127.0.0.1:3000", "http://[::1]:3000",
        "capacitor://localhost",
        "https://app.example.com",
    ])
    func `Pages on this machine are answered, and those that were named`(_ origin: String) async throws {
        let server = try Self.server(["https://app.example.com"])
        for line in ["GET / HTTP/1.1", "OPTIONS / HTTP/1.1", "GET /_faults HTTP/1.1"] {
            let answer = try await PlainClient.ask(
                server, line, "Host: localhost", "Origin: \(origin)", "Sec-Fetch-Site: cross-site")
            #expect(answer.status == 200, "\(line)")
        }
        await server.stop()
    }

    @Test(arguments: [
        "https://evil.example", "http://localhost.evil.example", "null", "", "http://app.example.com",
        "https://app.example.com:8443", "https://app.example.com.evil.example", "http://localhost@evil.example",
        "localhost",
        "http://", "://localhost", "file://", "http://localhost/x", "http://evil.example:80#http://localhost",
    ])
    func `A page elsewhere is refused at every path, in preflights and with bodies`(_ origin: String) async throws {
        let isAsked = Mutex(false)
        let server = try Self.server(["https://app.example.com"]) { _ in
            isAsked.withLock { $0 = true }
            return .text("fine")
        }
        for (line, body) in [
            ("GET / HTTP/1.1", ""), ("OPTIONS / HTTP/1.1", ""), ("POST / HTTP/1.1", "a"), ("GET /_faults HTTP/1.1", ""),
            ("POST /_faults HTTP/1.1", #"{"fault":"drop","times":null}"#),
            ("POST /_faults/disconnect HTTP/1.1", " "),
        ] {
            let answer = try await PlainClient.ask(
                server, line, "Host: localhost", "Origin: \(origin)", "Content-Type: text/plain", body: body)
            #expect(answer.status == 403, "\(line)")
            #expect(!answer.head.lowercased().contains("access-control-"), "no page elsewhere may read the answer")
            #expect(answer.body.contains("If it is yours, use --origin."))
        }
        #expect(!isAsked.withLock { $0 })
        #expect(
            try await PlainClient.ask(server, "GET / HTTP/1.1", "Host: localhost").body == "fine", "no rule was set")
        await server.stop()
    }

    @Test func `Of two origins or hosts, all have to be welcome`() async throws {
        let server = try Self.server()
        let origins = try await PlainClient.ask(
            server, "GET / HTTP/1.1", "Host: localhost", "Origin: http://localhost", "Origin: https://evil.example")
        #expect(origins.status == 403)
        let hosts = try await PlainClient.ask(server, "GET / HTTP/1.0", "Host: localhost", "Host: evil.example")
        #expect(hosts.status == 403)
        await server.stop()
    }

    @Test func `A browser that follows a link of another site does not reach what controls the server`() async throws {
        let server = try Self.server()
        for (path, status) in [("/", 200), ("/_faults", 403), ("/_sent", 403)] {
            let answer = try await PlainClient.ask(
                server, "GET \(path) HTTP/1.1", "Host: localhost", "Sec-Fetch-Site: cross-site")
            #expect(answer.status == status, "\(path)")
        }
        let own = try await PlainClient.ask(server, "GET /_faults HTTP/1.1", "Host: localhost", "Sec-Fetch-Site: none")
        #expect(own.status == 200)
        await server.stop()
    }

    @Test(arguments: [
        ("https://app.example.com", true), ("http://10.0.2.2:8080", true), ("null", true),
        ("chrome-extension://abc", true),
        ("https://app.example.com/", false), ("https://app.example.com/x", false), ("app.example.com", false),
        ("*", false),
        ("", false), ("https://", false), ("https://a b", false), ("https://app.example.com:port", false),
    ])
    func `An origin is written as browsers send it`(_ text: String, _ isOne: Bool) {
        #expect(ServerVisitors.isOrigin(text) == isOne)
    }
}
