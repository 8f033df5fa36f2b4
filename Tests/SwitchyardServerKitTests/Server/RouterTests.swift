import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@Suite struct `A router` {
    private static func router() -> Router {
        var router = Router()
        func answer(_ name: String) -> Router.Handler {
            { request in
                let parameters = request.parameters.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
                return .text(name + parameters)
            }
        }
        router.on(.get, "/", answer("root"))
        router.on(.post, "/v1/{database}/documents:commit", answer("commit"))
        router.on(.post, "/v1/{database}/documents/{path...}:runQuery", answer("query"))
        router.on(.get, "/v1/{database}/documents/{path...}", answer("get"))
        router.on(.delete, "/v1/{database}/documents/{path...}", answer("delete"))
        router.on(nil, "/any/{one}", answer("any"))
        return router
    }

    @Test(arguments: [
        ("GET", "/", "root"), ("GET", "/?a=b", "root"), ("POST", "/v1/db/documents:commit", "commit database=db"),
        ("POST", "/v1/db/documents/a/b:runQuery", "query database=db path=a/b"),
        ("GET", "/v1/(default)/documents/people/al%20ice", "get database=(default) path=people/al ice"),
        ("GET", "/v1/db/documents/a/b:runQuery", "get database=db path=a/b:runQuery"),
        ("DELETE", "/v1/db/documents/x?force=1", "delete database=db path=x"), ("HEAD", "/", ""),
        ("PATCH", "/any/a%2Fb", "any one=a/b"),
    ])
    func `The first pattern that matches answers`(method: String, target: String, body: String) async throws {
        let answer = try await ask(method, target)
        #expect(answer.hasPrefix("HTTP/1.1 200 "))
        #expect(answer.hasSuffix("\r\n\r\n" + body))
    }

    @Test(arguments: [
        ("GET", "/none", 404), ("GET", "/v1/db/documents", 404), ("GET", "/any/a/b", 404), ("POST", "/", 405),
        ("PUT", "/v1/db/documents/x", 405),
    ])
    func `A request without a route is refused`(method: String, target: String, status: Int) async throws {
        let answer = try await ask(method, target)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        if status == 405 { #expect(answer.contains("Allow: GET")) }
    }

    private func ask(_ method: String, _ target: String) async throws -> String {
        let router = Self.router()
        let server = try LoopbackServer { await router.handle($0) }
        let client = try await PlainClient(server)
        try await client.send("\(method) \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        let answer = try await client.text()
        await server.stop()
        return answer
    }
}
