import Foundation
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// The variables by which programs on libcurl find their proxy. They belong to a process, so each case has its own.
@Suite struct ProxyEnvironmentTests {
    private static let variables = [
        "http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    ]

    /// What a fresh process with these variables says of `address`.
    private func outcome(_ address: String, _ environment: [String: String]) async throws -> String {
        let cleared = Dictionary(uniqueKeysWithValues: Self.variables.map { ($0, "") })
        let program = try ToolProcess(
            OneRequestProgram.path, [address], environment: cleared.merging(environment) { $1 })
        return try await onOwnThread { program.firstLine() }
    }

    @Test(arguments: ["http_proxy", "all_proxy", "ALL_PROXY"]) func `A plain request goes to the proxy that is named`(
        variable: String
    ) async throws {
        let proxy = try TestProxy()
        #expect(try await outcome("http://somewhere.invalid/x", [variable: proxy.url]) == "200 by the proxy")
        #expect(proxy.requestLines == ["GET http://somewhere.invalid/x HTTP/1.1"])
    }

    @Test(arguments: ["https_proxy", "HTTPS_PROXY", "all_proxy"]) func `TLS goes through the proxy that is named`(
        variable: String
    ) async throws {
        let proxy = try TestProxy(tunnelAnswer: "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        #expect(try await outcome("https://somewhere.invalid/x", [variable: proxy.url]) == "cannotConnect")
        #expect(proxy.requestLines == ["CONNECT somewhere.invalid:443 HTTP/1.1"])
    }

    @Test func `The proxy of the scheme goes before the proxy of all`() async throws {
        let (proxy, other) = (try TestProxy(), try TestProxy())
        #expect(
            try await outcome("http://somewhere.invalid/", ["http_proxy": proxy.url, "all_proxy": other.url])
                == "200 by the proxy")
        #expect(proxy.requestLines.count == 1 && other.requestLines.isEmpty)
    }

    @Test func `In capitals the proxy of plain requests is not read, for a web server's client could set it`()
        async throws
    {
        let server = try LoopbackServer { _ in .text("direct") }
        let proxy = try TestProxy()
        #expect(try await outcome(server.url("/"), ["HTTP_PROXY": proxy.url]) == "200 direct")
        #expect(try await outcome(server.url("/"), ["https_proxy": proxy.url]) == "200 direct")
        #expect(proxy.requestLines.isEmpty)
        await server.stop()
    }

    @Test(arguments: ["127.0.0.1", "*", "elsewhere.invalid,127.0.0.1", "127.0.0.0/8"])
    func `Hosts that are excepted are asked directly`(exception: String) async throws {
        let server = try LoopbackServer { _ in .text("direct") }
        let proxy = try TestProxy()
        for variable in ["no_proxy", "NO_PROXY"] {
            let environment = ["http_proxy": proxy.url, variable: exception]
            #expect(try await outcome(server.url("/"), environment) == "200 direct")
        }
        #expect(proxy.requestLines.isEmpty)
        await server.stop()
    }

    @Test func `An exception for a domain holds for what is below it, and for nothing that only ends alike`()
        async throws
    {
        let proxy = try TestProxy()
        let environment = ["http_proxy": proxy.url, "no_proxy": "here.invalid"]
        #expect(try await outcome("http://here.invalid/", environment) == "hostNotFound")
        #expect(try await outcome("http://deep.here.invalid/", environment) == "hostNotFound")
        #expect(try await outcome("http://nowhere.invalid/", environment) == "200 by the proxy")
        #expect(proxy.requestLines == ["GET http://nowhere.invalid/ HTTP/1.1"])
    }
}

/// The program of the target of that name, which is built beside the tests.
private enum OneRequestProgram {
    static let path: String = {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("SwitchyardOneRequest")
            .path
    }()
}
