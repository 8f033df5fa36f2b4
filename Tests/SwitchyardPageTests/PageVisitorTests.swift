import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardMock
import SwitchyardPage
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// Who may use the page, and what it says of itself.
@Suite struct PageVisitorTests {
    private func bed(key: String? = nil) async throws -> PageBed {
        var options = Page.Options()
        options.key = key
        let infrastructure = try await Infrastructure(MockModule())
        return try PageBed(
            [try await .configured(infrastructure, name: "mock")], options, backend: "configured")
    }

    @Test func `Foreign hosts and origins are refused`() async throws {
        let bed = try await bed()
        let cases: [HTTPHeaders] = [
            ["Origin": "https://evil.example.com"], ["Origin": "null"],
            ["Sec-Fetch-Site": "cross-site"],
        ]
        for headers in cases {
            #expect(try await bed.send(.get, "/api/site", headers: headers).status == 403)
        }
        let neighbour: HTTPHeaders = ["Origin": "http://127.0.0.1:3000"]
        #expect(try await bed.send(.get, "/api/site", headers: neighbour).status == 403)
        let own: HTTPHeaders = ["Origin": "http://127.0.0.1:\(bed.page.port)"]
        #expect(try await bed.send(.get, "/api/site", headers: own).status == 200)
        await bed.stop()
    }

    @Test func `With a key, the data is for whoever has it`() async throws {
        let bed = try await bed(key: "secret")
        #expect(bed.page.url.hasSuffix("/#key=secret"))
        #expect(try await bed.send(.get, "/").status == 200)
        #expect(try await bed.send(.get, "/api/site").status == 200)
        #expect(try await bed.send(.get, "/api/site", headers: ["X-Page-Key": "other"]).status == 401)
        #expect(try await bed.send(.get, "/api/site?key=secret", headers: ["X-Page-Key": ""]).status == 401)
        await bed.stop()
    }

    @Test func `The page loads nothing from elsewhere, and no browser keeps data`() async throws {
        let bed = try await bed()
        let index = try await bed.send(.get, "/")
        let policy = index.headers["Content-Security-Policy"] ?? ""
        #expect(policy.contains("default-src 'self'"))
        #expect(policy.contains("frame-ancestors 'none'"))
        #expect(index.headers["X-Content-Type-Options"] == "nosniff")
        #expect(!String(decoding: index.body, as: UTF8.self).contains("https://"))
        let site = try await bed.send(.get, "/api/site")
        #expect(site.headers["Cache-Control"] == "no-store")
        #expect(try await bed.send(.get, "/assets/none.js").status == 404)
        #expect(try await bed.send(.get, "/assets/..%2f..%2fetc%2fpasswd").status == 404)
        await bed.stop()
    }

    @Test func `A stream goes on after the last event, or says that something is missing`() async throws {
        let bed = try await bed()
        let first = try await bed.events()
        try await eventually("the stream is ready") { first.all.first?.name == "ready" }
        try await bed.call(.post, "watch", ["watch": "w", "collection": "notes"])
        try await first.first("data", "the first state")
        first.stop()
        let last = first.all.last?.id ?? 0
        try await bed.call(.post, "write", ["kind": "set", "path": "notes/a", "data": ["n": 1]])
        let second = try await bed.events(after: last)
        try await second.first("data", "what was missed") { $0["changed"] == ["notes/a"] }
        let third = try await bed.events(after: last + 1_000_000)
        try await third.first("gap", "the gap")
        second.stop()
        third.stop()
        await bed.stop()
    }

    @Test func `What only a local server has is refused elsewhere, with words`() async throws {
        let bed = try await bed()
        for path in ["requests", "outbox", "faults", "messages"] {
            let response = try await bed.send(.get, "/api/b/configured/\(path)")
            #expect(response.status == 501)
            #expect(try JSON(parsing: response.body)["error"]?["message"]?.string?.isEmpty == false)
        }
        #expect(try await bed.send(.get, "/api/b/other/collections").status == 404)
        await bed.stop()
    }
}
