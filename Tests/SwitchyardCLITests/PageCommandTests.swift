import Foundation
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardCLI

/// The page as the program starts it: its address, who may use it, and its end.
@Suite struct PageCommandTests {
    private func send(
        _ method: HTTPMethod, _ url: String, _ headers: HTTPHeaders = [:], _ body: JSON? = nil
    ) async throws -> (status: Int, json: JSON) {
        let transport = CurlTransport()
        let response: HTTPResponse
        do {
            response = try await transport.send(
                HTTPRequest(method, url, headers: headers, body: body?.bytes() ?? []))
        } catch {
            await transport.shutDown()
            throw error
        }
        await transport.shutDown()
        return (response.status, (try? JSON(parsing: response.body)) ?? .null)
    }

    /// The address that a program prints, without what is behind its `#`, and that.
    private func address(in program: ToolRun, after words: String) async throws -> (base: String, key: String) {
        var line = ""
        try await eventually("the program prints “\(words)”", within: .seconds(60)) {
            line = program.output.split(separator: "\n").first { $0.hasPrefix(words) }.map(String.init) ?? ""
            return !line.isEmpty
        }
        let url = line.dropFirst(words.count).filter { !$0.isWhitespace }
        let parts = url.split(separator: "#", maxSplits: 1)
        return (String(parts[0].dropLast()), parts.count > 1 ? String(parts[1].dropFirst("key=".count)) : "")
    }

    @Test func `A local server prints the address of its page, which shows its documents`() async throws {
        let program = try ToolRun(["emulator", "firebase", "--project", "demo-page"])
        let (page, key) = try await address(in: program, after: "The page that shows what happens: ")
        #expect(key.isEmpty)
        let site = try await send(.get, page + "/api/site").json
        #expect(site["backends"]?[0]?["name"] == "demo-page")
        let written = try await send(
            .post, page + "/api/b/firebase/write", [:], ["kind": "set", "path": "notes/a", "data": ["n": 1]])
        #expect(written.status == 200)
        #expect(try await send(.get, page + "/").status == 200)
        #expect(try await program.end() == 0)
        await #expect(throws: TransportError.self) { _ = try await send(.get, page + "/") }
    }

    @Test func `A local server without a page starts none, and a port that is taken is said`() async throws {
        let program = try ToolRun(["emulator", "firebase", "--no-page"])
        _ = try await program.variables(with: "GCLOUD_PROJECT")
        #expect(!program.output.contains("The page"))
        #expect(try await program.end() == 0)
        let first = try ToolRun(["emulator", "firebase"])
        let (page, _) = try await address(in: first, after: "The page that shows what happens: ")
        let port = page.split(separator: ":").last.map(String.init) ?? ""
        let second = try ToolRun(["emulator", "firebase", "--page-port", port])
        #expect(try await second.status() == 1)
        #expect(second.errors.contains("The page cannot listen on port \(port)"))
        #expect(try await first.end() == 0)
        let both = try ToolRun(["emulator", "firebase", "--page-port", "4000", "--no-page"])
        #expect(try await both.status() == 2)
    }

    @Test func `The page of a configured backend is for whoever has the key`() async throws {
        let folder = try ToolFolder()
        let program = try ToolRun(["page", "--config", folder.config])
        let (page, key) = try await address(in: program, after: "The page: ")
        #expect(key.count == 32)
        #expect(try await send(.get, page + "/api/site").status == 401)
        let mine: HTTPHeaders = ["X-Page-Key": key]
        let site = try await send(.get, page + "/api/site", mine)
        #expect(site.json["backends"]?[0]?["kind"] == "configured")
        let written = try await send(
            .post, page + "/api/b/configured/write", mine, ["kind": "set", "path": "notes/a", "data": ["n": 1]])
        #expect(written.status == 200)
        #expect(try await send(.get, page + "/api/b/configured/requests", mine).status == 501)
        #expect(try await program.end() == 0)
        #expect(try await folder.run("get", "--plain", "notes/a").output.contains(#""n":1"#))
    }

    @Test func `What is no option of the page is said`() {
        #expect(throws: UsageError.self) { try PageCommand(["extra"]) }
        #expect(throws: UsageError.self) { try PageCommand(["--port", "nonsense"]) }
    }
}
