import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardMock
import SwitchyardReporting
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

/// What a page gets to see of an app.
@Suite struct AppReportTests {
    /// A page that keeps what it was sent last.
    private final class FakePage: Sendable {
        private struct Kept {
            var state: JSON?
            var name: String?
            var keys: Set<String> = []
            var count = 0
        }

        private let kept: SharedBox<Kept>
        let server: LoopbackServer

        private final class SharedBox<Value: Sendable>: Sendable {
            let value: Mutex<Value>
            init(_ value: Value) { self.value = Mutex(value) }
        }

        init(port: UInt16 = 0) throws {
            let kept = SharedBox(Kept())
            self.kept = kept
            var configuration = ServerConfiguration()
            configuration.port = port
            server = try LoopbackServer(configuration) { request in
                guard request.rawPath == "/api/apps", let body = try? await request.body.collect(upTo: 1 << 20),
                    let json = try? JSON(parsing: body)
                else { return ServerResponse(status: 400) }
                kept.value.withLock { kept in
                    kept.state = json["state"]
                    kept.name = json["name"]?.string
                    kept.count += 1
                    if let key = request.headers["X-Page-Key"] { kept.keys.insert(key) }
                }
                return ServerResponse(status: 204)
            }
        }

        var state: JSON? { kept.value.withLock { $0.state } }
        var name: String? { kept.value.withLock { $0.name } }
        var keys: Set<String> { kept.value.withLock { $0.keys } }
        var count: Int { kept.value.withLock { $0.count } }
        var url: URL { URL(string: server.url)! }

        /// One of a list, by a member.
        func entry(_ list: String, _ member: String, _ value: String) -> JSON? {
            state?[list]?.array?.first { $0[member]?.string == value }
        }
    }

    @Test func `Services, live queries, writes, transfers and errors are shown as they come and go`() async throws {
        let page = try FakePage()
        let network = MockNetwork()
        let backend = try await MockBackend().infrastructure(signedInAs: "ada", network: network)
        try backend.report(to: page.url, as: "Notes")
        try await eventually("the services are there") { page.entry("services", "service", "storage") != nil }
        #expect(page.name == "Notes")
        #expect(page.entry("services", "service", "storage")?["provider"]?.string == "mock")

        try await backend.storage.setDocument("notes/a", ["n": 1]).acknowledged()
        let reading = Task { for try await _ in backend.storage.snapshots(of: Query(in: "notes")) {} }
        try await eventually("the query is live") { page.entry("live", "target", "notes")?["state"]?.string == "live" }
        try await eventually("it has a document") { page.entry("live", "target", "notes")?["documents"]?.int == 1 }

        try await backend.storage.disableNetwork()
        _ = try await backend.storage.setDocument("notes/b", ["n": 2])
        try await eventually("the write waits") {
            page.entry("writes", "path", "notes/b")?["state"]?.string == "waiting"
        }
        #expect(page.entry("writes", "path", "notes/b")?["kind"]?.string == "set")
        try await eventually("the query is of the cache") {
            page.entry("live", "target", "notes")?["state"]?.string == "cached"
        }
        try await backend.storage.enableNetwork()
        try await eventually("the write is through") { page.entry("writes", "path", "notes/b") == nil }

        let upload = try await backend.files.upload(.data(Data(count: 100_000)), to: "photos/a.bin")
        _ = try await upload.result()
        try await eventually("the transfer has ended") {
            page.entry("transfers", "path", "photos/a.bin")?["state"]?.string == "finished"
        }
        #expect(page.entry("transfers", "path", "photos/a.bin")?["direction"]?.string == "upload")

        await #expect(throws: FileStorageError.self) { try await backend.files.metadata(of: "photos/none.bin") }
        try await eventually("the error is shown") {
            page.entry("errors", "operation", "files metadata")?["target"]?.string == "photos/none.bin"
        }
        reading.cancel()
        try await eventually("the query is closed") { page.entry("live", "target", "notes") == nil }
        await backend.shutDown()
        try await eventually("the app is gone") { page.state == .null }
        await page.server.stop()
    }

    @Test func `A refused write stays on the page until it is resolved`() async throws {
        let page = try FakePage()
        let mock = MockBackend(rules: MockRules { _ in false })
        let backend = try await mock.infrastructure(signedInAs: "ada")
        let report = try backend.report(to: page.url)
        let receipt = try await backend.storage.setDocument("notes/a", ["n": 1])
        await #expect(throws: StorageError.self) { try await receipt.acknowledged() }
        try await eventually("it is refused") { page.entry("writes", "path", "notes/a")?["state"]?.string == "refused" }
        #expect(page.entry("writes", "path", "notes/a")?["reason"]?.string?.isEmpty == false)
        report.stop()
        try await eventually("the app is gone") { page.state == .null }
        let count = page.count
        _ = try? await backend.storage.setDocument("notes/b", ["n": 1])
        await backend.shutDown()
        #expect(page.count == count, "nothing is sent after its end")
        await page.server.stop()
    }

    @Test func `A switch of providers is shown`() async throws {
        let page = try FakePage()
        var selection = InfrastructureSelection(default: .mock)
        let backend = try await InfrastructureFactory(MockModule()).make(selection)
        try backend.report(to: page.url)
        try await eventually("the first is there") {
            page.entry("services", "service", "files")?["provider"]?.string == "mock"
        }
        selection.omit(.files)
        try await backend.use(selection)
        try await eventually("it is gone") { page.entry("services", "service", "files") == nil }
        #expect(page.entry("moves", "name", "files")?["state"]?.string == "switched from mock to nothing")
        await backend.shutDown()
        await page.server.stop()
    }

    @Test func `While the page is not there the app goes on, its observer is told once, and then everything arrives`()
        async throws
    {
        let port = try freePort()
        let log = EventLog()
        var options = InfrastructureOptions()
        options.observer = log
        let backend = try await MockBackend().infrastructure(signedInAs: "ada", in: options)
        try backend.report(to: URL(string: "http://127.0.0.1:\(port)/#key=secret")!, as: "Notes")
        func notices() -> [String] {
            log.kinds.compactMap { if case .notice(let text) = $0 { text } else { nil } }
        }
        try await eventually("the observer is told") { !notices().isEmpty }
        #expect(
            notices().first?.contains("The page at http://127.0.0.1:\(port) does not take this app's report") == true)
        #expect(!notices().joined().contains("secret"))
        try await backend.storage.setDocument("notes/a", ["n": 1]).acknowledged()
        let page = try FakePage(port: UInt16(port))
        try await eventually("it arrives") { page.state?["services"]?.array?.isEmpty == false }
        #expect(page.keys == ["secret"] && notices().count == 1)
        await backend.shutDown()
        await page.server.stop()
    }

    @Test(arguments: [
        "https://example.com", "http://192.168.1.20:4400", "http://example.com/#key=secret", "file:///page",
    ])
    func `Nothing is reported to another machine`(_ address: String) async throws {
        let backend = try await MockBackend().infrastructure()
        let error = #expect(throws: InfrastructureError.self) { try backend.report(to: URL(string: address)!) }
        #expect(error?.code == .invalidConfiguration && error?.message.contains("secret") == false)
        await backend.shutDown()
    }
}
