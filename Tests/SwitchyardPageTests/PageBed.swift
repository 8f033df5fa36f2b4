import SwitchyardBytes
import SwitchyardPage
import SwitchyardProviderHTTP
import SwitchyardTestSupport
import SwitchyardWire

/// A page on backends, and calls as its script makes them.
struct PageBed: Sendable {
    let page: Page
    let transport: any Transport
    let backend: String
    var key: String?

    init(_ backends: [PageBackend], _ options: Page.Options = Page.Options(), backend: String) throws {
        page = try Page(backends, options)
        transport = PlatformTransport.make()
        self.backend = backend
        key = options.key
    }

    var base: String { "http://127.0.0.1:\(page.port)" }

    func stop() async {
        await transport.shutDown()
        await page.stop()
    }

    func send(
        _ method: HTTPMethod, _ path: String, _ body: JSON? = nil, headers: HTTPHeaders = [:]
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(method, base + path)
        request.headers = headers
        if let key, headers["X-Page-Key"] == nil { request.headers["X-Page-Key"] = key }
        if let body {
            request.headers["Content-Type"] = "application/json"
            request.body = body.bytes()
        }
        return try await transport.send(request)
    }

    /// A call on the backend that has to be answered.
    @discardableResult
    func call(_ method: HTTPMethod, _ path: String, _ body: JSON? = nil) async throws -> JSON {
        let response = try await send(method, "/api/b/\(backend)/\(path)", body)
        guard response.status == 200 else {
            throw Refusal(status: response.status, text: String(decoding: response.body, as: UTF8.self))
        }
        return try JSON(parsing: response.body)
    }

    /// The newest request to the server in words of its own, with its details.
    func lastRequest() async throws -> JSON {
        var found: JSON?
        try await eventually("the request is done", within: .seconds(20)) {
            let newest = try await call(.get, "requests?limit=1")["requests"]?[0]
            guard newest?["phase"] == "done", let number = newest?["n"]?.int else { return false }
            found = try await call(.get, "requests/\(number)")
            return true
        }
        return found ?? .null
    }

    struct Refusal: Error, CustomStringConvertible {
        let status: Int
        let text: String
        var description: String { "\(status) \(text)" }
    }

    /// The events so far, as they arrive.
    func events(after last: Int? = nil) async throws -> PageEvents {
        var request = HTTPRequest(.get, base + "/api/events" + (last.map { "?last=\($0)" } ?? ""))
        if let key { request.headers["X-Page-Key"] = key }
        return PageEvents(try await transport.stream(request))
    }
}
